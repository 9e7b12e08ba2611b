// The records of scoring and ingest that may concern triggers, each with the function that decides on it.
import type { Alias, records } from '@lead-scoring/contracts';
import { takenOf, type IncomingRecord } from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import type { FilteredLead, ScoreDecision } from '@lead-scoring/scoring-domain';
import {
  asksFilters,
  concernsIngested,
  concernsScored,
  decideDeletion,
  decideIngested,
  decideScored,
  type Deletion,
  type FiringDecision,
  type LeadState,
  type Source,
} from '@lead-scoring/scoring-domain/triggers';
import type { LeadIdentity } from './accounts.js';
import { firingReads } from './messages.js';
import type { TriggerReader, TriggersOf } from './trigger-reader.js';

/** A record that may make triggers of its OU fire, re-arm or forget. */
export interface LeadRecord extends LeadIdentity {
  readonly source: Source;
  readonly aliases: readonly Alias[];
  readonly fields?: records.LeadScored['fields'];
  /** Whether `decide` needs the lead, because a trigger with a filter may fire. */
  readonly asksFilters: boolean;
  /** @param lead the lead after the record, where `asksFilters` */
  decide(state: LeadState, lead: FilteredLead | null): FiringDecision;
}

type TakenRecord = NonNullable<ReturnType<typeof takenByFiring>>;

function takenByFiring(record: IncomingRecord) {
  return (
    takenOf('scoring.events', firingReads['scoring.events'], record) ??
    takenOf('ingest.events', firingReads['ingest.events'], record)
  );
}

/** Finds the records that concern triggers; only the states of their leads are loaded. */
export async function findLeadRecords(
  incoming: readonly IncomingRecord[],
  triggers: TriggerReader,
): Promise<ReadonlyMap<IncomingRecord, LeadRecord>> {
  const found = new Map<IncomingRecord, LeadRecord>();
  const taken = incoming.flatMap((record) => takenByFiring(record) ?? []);
  if (taken.length === 0) return found;
  const triggersOf = await triggers.load(versionsIn(taken));
  for (const record of taken) {
    const leadRecord = leadRecordOf(record, triggersOf);
    if (leadRecord) found.set(record, leadRecord);
  }
  return found;
}

/** The versions of scoring's configuration in these records, by OU. */
function versionsIn(taken: readonly TakenRecord[]): ReadonlyMap<string, ReadonlySet<number>> {
  const byOu = new Map<string, Set<number>>();
  for (const { type, payload } of taken) {
    const versions = byOu.get(payload.ou_id) ?? new Set<number>();
    byOu.set(payload.ou_id, versions);
    if (type === 'LeadScored' || type === 'ScoreAdjusted') versions.add(payload.configuration_version);
  }
  return byOu;
}

function leadRecordOf(record: TakenRecord, triggersOf: TriggersOf): LeadRecord | null {
  switch (record.type) {
    case 'ScoreAdjusted':
      return scoredRecord(record.payload, sourceOf('scoring.events', record), triggersOf);
    case 'LeadScored':
      return scoredRecord(record.payload, sourceOf('scoring.events', record), triggersOf);
    case 'EventsIngested':
      return ingestedRecord(record.payload, sourceOf('ingest.events', record), triggersOf);
    case 'LeadRemoved': {
      const deletion = { ...record.payload, at: record.payload.removed_at };
      return deletionRecord(deletion, sourceOf('scoring.events', record), triggersOf);
    }
    case 'LeadDeleted': {
      const deletion = { ...record.payload, at: record.payload.deleted_at };
      return deletionRecord(deletion, sourceOf('ingest.events', record), triggersOf);
    }
  }
}

function scoredRecord(payload: ScoreDecision, source: Source, triggersOf: TriggersOf): LeadRecord | null {
  const triggers = triggersOf(payload.ou_id, payload.configuration_version);
  if (!concernsScored(payload, triggers)) return null;
  return {
    ...leadIn(payload),
    source,
    asksFilters: asksFilters(payload, triggers),
    decide: (state, lead) => decideScored(payload, source, state, triggers, lead),
  };
}

function ingestedRecord(
  payload: records.EventsIngested,
  source: Source,
  triggersOf: TriggersOf,
): LeadRecord | null {
  const triggers = triggersOf(payload.ou_id);
  if (!concernsIngested(payload, triggers)) return null;
  return {
    ...leadIn(payload),
    source,
    asksFilters: false,
    decide: (state) => decideIngested(payload, source, state, triggers),
  };
}

function deletionRecord(deletion: Deletion, source: Source, triggersOf: TriggersOf): LeadRecord {
  const { ou_id, lead_id } = deletion;
  const isWatched = triggersOf(ou_id).version > 0;
  return {
    ou_id,
    lead_id,
    aliases: [],
    source,
    asksFilters: false,
    decide: (state) => decideDeletion(deletion, source, state, isWatched),
  };
}

function leadIn(payload: ScoreDecision | records.EventsIngested) {
  const { ou_id, lead_id } = payload;
  // A decision that no event caused says nothing of the lead's names.
  const { aliases, fields } = 'aliases' in payload ? payload : { aliases: [], fields: undefined };
  return { ou_id, lead_id, aliases, fields };
}

function sourceOf(topic: Source['topic'], { partition, offset }: IncomingRecord): Source {
  return { topic, partition, offset: offsetToNumber(offset) };
}
