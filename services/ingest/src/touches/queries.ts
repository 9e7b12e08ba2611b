// The touches of leads, for attribution. A lead's records are a range of ids, so reading them costs as much as the lead has events.
import { routeDeclarations } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery, type QueryResult } from '@lead-scoring/service';
import type { DeletedTypes } from '../event-deletions/deleted-types-model.js';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { eventRecords, payloadOf } from '../events/documents.js';
import { readRecordOffset, recordIdsOf } from '../events/keys.js';
import { touchOf } from './touch-model.js';

type Touches = QueryResult<typeof routeDeclarations.listTouches>;

/** Leads whose records are read at the same time. */
const readersAtOnce = 4;

export function touchQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routeDeclarations.listTouches, async ({ body, context: { ouId } }) => {
      const found: Touches = { touches: [], events: 0, complete: true };
      const deleted = await readDeletedTypes(readModel, ouId);
      const leads = [...new Set(body.leads.map((lead) => lead.toLowerCase()))];
      const readNext = async (): Promise<void> => {
        for (let lead = leads.pop(); lead !== undefined && found.complete; lead = leads.pop())
          await readTouches(readModel, { ouId, lead, deleted }, body, found);
      };
      await withClassifiedErrors(() => Promise.all(Array.from({ length: readersAtOnce }, readNext)));
      return found;
    }),
  ];
}

/** Adds the touches of a lead; stops where the maximum of events is reached. */
async function readTouches(
  readModel: ReadModel,
  { ouId, lead, deleted }: { ouId: string; lead: string; deleted: DeletedTypes },
  { before, maximum_events }: { before: string; maximum_events: number },
  found: Touches,
): Promise<void> {
  const recorded = readModel
    .collection(eventRecords)
    .find({ _id: recordIdsOf(lead), ou: uuidToBinary(ouId) });
  for await (const document of recorded) {
    const payload = payloadOf(document);
    const { lead_id } = payload;
    const place = { partition: document.partition, offset: readRecordOffset(document._id) };
    const events = deleted.visibleIn(payload, place);
    found.events += events.length;
    if (found.events > maximum_events) found.complete = false;
    if (!found.complete) return;
    for (const { event } of events) {
      const touch = event.timestamp < before ? touchOf(event) : null;
      if (touch) found.touches.push({ lead_id, ...touch });
    }
  }
}
