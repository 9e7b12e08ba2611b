// What merges need to know of leads: their records, and the aliases from which they have their ids.
import { leadIdOf, type Alias, type records } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { eventRecords, payloadOf } from '../events/documents.js';
import { readRecordOffset, recordIdsOf } from '../events/keys.js';
import { aliasOf } from '../events/stored-event.js';

/** The alias from which the lead has its id; null where none of its events came under it. */
export async function ownAliasOf(readModel: ReadModel, ouId: string, leadId: string): Promise<Alias | null> {
  for await (const { payload } of recordsOf(readModel, ouId, leadId)) {
    const { alias_kind, alias } = aliasOf(payload);
    if (leadIdOf(ouId, alias_kind, alias) === leadId) return { alias_kind, alias };
  }
  return null;
}

/** The number of a lead's events, without those that were deleted with their type. */
export async function eventsOf(readModel: ReadModel, ouId: string, leadId: string): Promise<number> {
  const deleted = await readDeletedTypes(readModel, ouId);
  let events = 0;
  for await (const { payload, ...place } of recordsOf(readModel, ouId, leadId))
    events += deleted.visibleIn(payload, place).length;
  return events;
}

interface PlacedRecord {
  readonly payload: records.EventsIngested;
  readonly partition: number;
  readonly offset: number;
}

/** The records of a lead in their order. */
export async function* recordsOf(
  readModel: ReadModel,
  ouId: string,
  leadId: string,
): AsyncGenerator<PlacedRecord, void> {
  const stored = readModel
    .collection(eventRecords)
    .find({ _id: recordIdsOf(leadId), ou: uuidToBinary(ouId) });
  for (;;) {
    const document = await withClassifiedErrors(() => stored.next());
    if (!document) return;
    const { partition, _id } = document;
    yield { payload: payloadOf(document), partition, offset: readRecordOffset(_id) };
  }
}
