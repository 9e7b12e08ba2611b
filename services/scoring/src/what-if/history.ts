// Reads the recorded history of a group of an OU's leads in one partition: ingest's records, with the resets of scores where they came.
// ingest.events is the source, because it alone holds the metadata that rules look at; only the leads' own records are decoded.
import { eventTypeKey, records } from '@lead-scoring/contracts';
import { readHistory, type EventLog, type IncomingRecord, type StoredRecord } from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import { resetsScore } from '@lead-scoring/scoring-domain';
import type { DeletedType } from '../event-deletions/documents.js';
import type { LevelNews } from '../levels/backfill-model.js';
import { Resets, type PlacedCause, type PlacedDecision } from './resets-model.js';
import type { Happening } from './track-model.js';

/** Leads whose ids begin between two numbers of 32 bits, the second exclusive. Ids are hashes, so groups are of equal size. */
export interface LeadGroup {
  readonly from: number;
  readonly to: number;
}

const idRange = 2 ** 32;

/** One of so many groups of all leads. */
export function leadGroup(index: number, groups: number): LeadGroup {
  const edge = (number: number) => Math.round((number * idRange) / groups);
  return { from: edge(index), to: edge(index + 1) };
}

export interface HistoryPart {
  readonly ouId: string;
  readonly partition: number;
  readonly ends: Pick<records.WhatIfWork['partitions'][number], 'ingest_end' | 'scoring_end'>;
  /** Where to begin; absent: at the beginning of the log. */
  readonly from?: { readonly ingest: number; readonly scoring: number };
  /** Types of which the events before an offset of ingest.events are deleted; absent: none. */
  readonly deleted?: readonly DeletedType[] | undefined;
  /** Which leads: those of a group, or these. */
  readonly leads: LeadGroup | ReadonlySet<string>;
  /** Which of them; absent: all. */
  readonly chosen?: ((leadId: string) => boolean) | undefined;
  readonly signal: AbortSignal;
}

/** The size of one fetch: two of them are in memory at a time. */
const bytesPerFetch = 1024 * 1024;
const ingestTypes: ReadonlySet<string> = new Set([
  records.eventsIngested.type,
  records.leadMetadataPatched.type,
  records.leadDeleted.type,
]);

/** What happened to the leads, in the order in which it was decided, a fetch at a time. */
export async function* readHappenings(log: EventLog, part: HistoryPart): AsyncGenerator<Happening[], void> {
  const resets = await readResets(log, part);
  for await (const causes of readCauses(log, part)) yield resets.among(causes);
  yield resets.rest();
}

/** The same without resets: what ingest recorded. */
export async function* readCauses(log: EventLog, part: HistoryPart): AsyncGenerator<PlacedCause[], void> {
  const isOfType = ({ type }: StoredRecord) => ingestTypes.has(type);
  for await (const found of read(log, part, 'ingest.events', isOfType))
    yield found.map((record) => causeOf(record, part.deleted));
}

function causeOf({ type, payload, offset }: IncomingRecord, deleted: HistoryPart['deleted']): PlacedCause {
  const source = { offset: offsetToNumber(offset) };
  if (type === records.leadDeleted.type)
    return { type: 'LeadDeleted', payload: payload as records.LeadDeleted, source };
  if (type === records.leadMetadataPatched.type)
    return { type: 'LeadMetadataPatched', payload: payload as records.LeadMetadataPatched, source };
  const ingested = payload as records.EventsIngested;
  return { type: 'EventsIngested', payload: withoutDeleted(ingested, source.offset, deleted), source };
}

/** The record without its deleted events. Where none is left it stays: it has made the lead known, which stays. */
function withoutDeleted(
  ingested: records.EventsIngested,
  offset: number,
  deleted: HistoryPart['deleted'] = [],
): records.EventsIngested {
  const keys = deleted.flatMap(({ key, before }) => (offset < before ? [key] : []));
  if (keys.length === 0) return ingested;
  const events = ingested.events.filter(({ event_type }) => !keys.includes(eventTypeKey(event_type)));
  return events.length === ingested.events.length ? ingested : { ...ingested, events };
}

/** Decisions are decoded of the leads alone that were reset. */
async function readResets(log: EventLog, part: HistoryPart): Promise<Resets> {
  const reset = new Set<string>();
  const adjusted = ({ type }: StoredRecord) => type === records.scoreAdjusted.type;
  for await (const found of read(log, part, 'scoring.events', adjusted))
    for (const { payload } of found) {
      const decision = payload as records.ScoreAdjusted;
      if (resetsScore(decision)) reset.add(decision.lead_id);
    }
  const resets = new Resets();
  if (reset.size === 0) return resets;
  for await (const decisions of readDecisions(log, { ...part, leads: reset }))
    for (const decision of decisions) resets.take(decision);
  return resets;
}

/** The decisions on the leads, in their order, a fetch at a time. */
export async function* readDecisions(
  log: EventLog,
  part: HistoryPart,
): AsyncGenerator<PlacedDecision[], void> {
  for await (const found of read(log, part, 'scoring.events', isOfScores))
    yield found.map(
      ({ type, payload, offset }) =>
        ({ type, payload, offset: offsetToNumber(offset) }) as unknown as PlacedDecision,
    );
}

const scoreTypes: ReadonlySet<string> = new Set([
  records.leadScored.type,
  records.leadRemoved.type,
  records.scoreAdjusted.type,
]);

function isOfScores({ type }: StoredRecord): boolean {
  return scoreTypes.has(type);
}

const newsTypes: ReadonlySet<string> = new Set([records.leadLevelChanged.type, records.leadRemoved.type]);

/** What tells of the levels of the leads, in its order, a fetch at a time. */
export async function* readLevelNews(log: EventLog, part: HistoryPart): AsyncGenerator<LevelNews[], void> {
  for await (const found of read(log, part, 'scoring.events', ({ type }) => newsTypes.has(type)))
    yield found.map(
      ({ type, payload, offset }) =>
        ({ type, payload, offset: offsetToNumber(offset) }) as unknown as LevelNews,
    );
}

const noOffsets = { ingest: 0, scoring: 0 };

function read(
  log: EventLog,
  { ouId, partition, from = noOffsets, ends, leads, chosen, signal }: HistoryPart,
  topic: 'ingest.events' | 'scoring.events',
  isOfType: (record: StoredRecord) => boolean,
): AsyncGenerator<IncomingRecord[], void> {
  const isOfGroup = isWithin(leads);
  const isOfLead = chosen ? (leadId: string) => isOfGroup(leadId) && chosen(leadId) : isOfGroup;
  const [first, end] =
    topic === 'ingest.events' ? [from.ingest, ends.ingest_end] : [from.scoring, ends.scoring_end];
  return readHistory(
    log,
    { topic, partition, from: BigInt(first), to: BigInt(end) },
    {
      // The OU's id is in each of its records: a look for it costs a fraction of decoding those of others.
      wants: (record) => isOfType(record) && isOfLead(record.key) && record.value.includes(ouId),
      maxBytes: bytesPerFetch,
      signal,
    },
  );
}

function isWithin(leads: HistoryPart['leads']): (leadId: string) => boolean {
  if (!('from' in leads)) return (leadId) => leads.has(leadId);
  return (leadId) => {
    const beginning = Number.parseInt(leadId.slice(0, 8), 16);
    return beginning >= leads.from && beginning < leads.to;
  };
}
