// Counts the events of some leads from their records: a lead's records are a range of ids, so this costs as much as the leads have
// events, in any time.
import { placeIn } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { problem } from '@lead-scoring/service';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { eventRecords, payloadOf } from '../events/documents.js';
import { readRecordOffset, recordIdsOf } from '../events/keys.js';
import { createRecurringValues } from '../events/recurring-values.js';
import { metadataValue, shown, type AnalyticsLimits, type AskedSeries } from './read-events.js';
import type { SeriesTally } from './series-tally.js';

/** Leads whose records are read at the same time. */
const readersAtOnce = 8;

/**
 * Adds the events of the leads by the key of their type, or by the value of a metadata field.
 * @param groupBy `event_type`, or such as `metadata.path`
 * @throws ProblemError 422 `range_too_large`
 */
export async function tallyLeads(
  readModel: ReadModel,
  groupBy: string,
  { ouId, typeKey, spans }: AskedSeries,
  leads: readonly string[],
  limits: AnalyticsLimits,
  tally: SeriesTally,
): Promise<void> {
  const values = createRecurringValues();
  const valueOf = groupBy === 'event_type' ? null : metadataValue(groupBy);
  const deleted = await readDeletedTypes(readModel, ouId);
  const left = [...new Set(leads)];
  let events = 0;
  const readNext = async () => {
    for (let lead = left.pop(); lead !== undefined; lead = left.pop())
      for await (const document of readModel
        .collection(eventRecords)
        .find({ _id: recordIdsOf(lead), ou: uuidToBinary(ouId) })) {
        const payload = payloadOf(document);
        const place = { partition: document.partition, offset: readRecordOffset(document._id) };
        const visible = deleted.visibleIn(payload, place);
        events += visible.length;
        if (events > limits.eventsOfFilter) throw tooManyEvents(limits.eventsOfFilter);
        for (const {
          event: { event_type, timestamp, metadata },
        } of visible) {
          const type = values.typeKeyOf(event_type);
          const span = placeIn(spans, timestamp);
          if (span < 0 || span >= spans.length || (typeKey !== null && type !== typeKey)) continue;
          tally.add(valueOf ? valueOf(metadata ?? {}) : type, span, payload.lead_id);
        }
      }
  };
  await withClassifiedErrors(() => Promise.all(Array.from({ length: readersAtOnce }, readNext)));
}

function tooManyEvents(limit: number) {
  return problem(
    'range_too_large',
    `The leads that the filter matches have more than ${shown(limit)} events of all time, which is more than one answer takes into account. Ask with a filter that matches fewer leads.`,
  );
}
