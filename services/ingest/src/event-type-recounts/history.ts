// Reads what the log of a partition has of an OU, up to an offset: its events, and what deletes them.
import { records, type RecordDeclaration } from '@lead-scoring/contracts';
import { isRecord, readHistory, type EventLog, type IncomingRecord } from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import { DeletedHistory } from './recount-model.js';

export interface HistoryUpTo {
  readonly log: EventLog;
  readonly ouId: string;
  readonly partition: number;
  /** The first offset that is not read. */
  readonly end: number;
  readonly signal: AbortSignal;
}

/** The size of one fetch: two of them are in memory at a time. */
const maxBytes = 1024 * 1024;

export async function readDeletedHistory(history: HistoryUpTo): Promise<DeletedHistory> {
  const deleted = new DeletedHistory();
  for await (const record of read(history, [records.leadDeleted, records.eventsOfTypeDeleted])) {
    const offset = offsetToNumber(record.offset);
    if (isRecord(record, records.leadDeleted)) {
      if (record.payload.ou_id === history.ouId) deleted.deleteLead(record.payload.lead_id, offset);
    } else if (isRecord(record, records.eventsOfTypeDeleted) && record.payload.ou_id === history.ouId)
      deleted.deleteType(record.payload.event_type, offset);
  }
  return deleted;
}

export async function* readIngested(
  history: HistoryUpTo,
): AsyncGenerator<{ payload: records.EventsIngested; offset: number }, void> {
  for await (const record of read(history, [records.eventsIngested]))
    if (isRecord(record, records.eventsIngested) && record.payload.ou_id === history.ouId)
      yield { payload: record.payload, offset: offsetToNumber(record.offset) };
}

/** Records of these types that name the OU somewhere: others are not decoded. */
async function* read(
  { log, ouId, partition, end, signal }: HistoryUpTo,
  declarations: readonly RecordDeclaration[],
): AsyncGenerator<IncomingRecord, void> {
  const types = new Set<string>(declarations.map(({ type }) => type));
  const wants = ({ type, value }: { type: string; value: Buffer }) => types.has(type) && value.includes(ouId);
  const range = { topic: 'ingest.events', partition, from: 0n, to: BigInt(end) } as const;
  for await (const slice of readHistory(log, range, { wants, maxBytes, signal })) yield* slice;
}
