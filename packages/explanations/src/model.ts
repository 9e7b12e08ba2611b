// The stored documents: leads, the decisions on their scores, the accounts of leads, and the rules and levels of OUs.
import {
  eventTypeKey,
  type LeadField,
  type LeadFields,
  type records,
  type RollUp,
} from '@lead-scoring/contracts';
import {
  binaryToUuid,
  Binary,
  bytesOf,
  defineCollection,
  orderedKey,
  readJson,
  readOffset,
  readUuid,
  storedJson,
  uuidBytes,
  uuidToBinary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import {
  type AccountPoints,
  type ExplainedDecision,
  type GivenPoints,
  type HeldPoints,
  type LevelHistory,
  packConfiguration,
  type ScoreDecision,
  scoredEventsOf,
  type ScoringConfiguration,
  unpackConfiguration,
} from '@lead-scoring/scoring-domain';
import type { SharedLead } from './state.js';

/** `_id` is the lead key of `leadKey`. */
export interface SharedLeadDocument extends GuardedDocument {
  _id: Binary;
  given_name: { value: string; at: string } | null;
  /** Absent without such fields, and in documents stored before these fields existed. */
  given?: LeadFields;
  /** Absent where callers have set no fields. */
  overrides?: LeadField[];
  first_alias: string | null;
  /** The id of the lead's account. Absent without one, and where no accounts are kept. */
  account?: Binary;
  first_offset: number;
}

/** An account; `_id` is the key of `leadKey` for OU and account. It has nothing of any lead. */
export interface SharedAccountDocument extends GuardedDocument {
  _id: Binary;
  name: string;
  score: number;
  leads: number;
  leads_points: number;
  roll_up: RollUp;
  given: GivenPoints[];
  held: HeldPoints[];
}

/** A stored decision (`isStored`); `_id` is the key of `decisionKey`. */
export interface DecisionDocument {
  _id: Binary;
  /** The record as JSON, packed by `storedJson`. */
  json: Binary;
  partition: number;
}

/** `_id` is the id of the OU. */
export interface ConfigurationDocument extends GuardedDocument {
  _id: Binary;
  version: number;
  /** The text of `packConfiguration`. */
  content: string;
  /** The lists of levels as JSON. Absent in documents stored before level histories existed. */
  level_lists?: string;
}

/** Events of a type in records of ingest.events before an offset are deleted; `_id`: OU, deletion, partition. */
export interface DeletedTypeDocument {
  _id: Binary;
  /** The eventTypeKey. */
  key: string;
  before: number;
  partition: number;
}

export const deletedTypes = defineCollection<DeletedTypeDocument>({ name: 'deleted_types', indexes: [] });

export function toDeletedType({
  ou_id,
  deletion_id,
  event_type,
  before,
  partition,
}: records.EventScoresDeleted): DeletedTypeDocument {
  return {
    _id: orderedKey([ou_id, deletion_id], partition),
    key: eventTypeKey(event_type),
    before,
    partition,
  };
}

export const sharedLeads = defineCollection<SharedLeadDocument>({ name: 'leads', indexes: [] });
export const sharedAccounts = defineCollection<SharedAccountDocument>({ name: 'accounts', indexes: [] });
export const decisions = defineCollection<DecisionDocument>({ name: 'decisions', indexes: [] });
export const configurations = defineCollection<ConfigurationDocument>({
  name: 'configurations',
  indexes: [],
});

const leadIdAt = uuidBytes;
const offsetAt = 2 * uuidBytes;

/** A lead, or an account, within its OU. */
export function leadKey(ouId: string, leadId: string): Binary {
  return orderedKey([ouId, leadId]);
}

/** The lead's id in its document key. */
export function leadIdOf({ _id }: Pick<SharedLeadDocument, '_id'>): string {
  return readUuid(bytesOf(_id), leadIdAt);
}

/** The key of a decision. The keys of a lead's decisions sort in the order of the log. */
function decisionKey(ouId: string, leadId: string, offset: number): Binary {
  return orderedKey([ouId, leadId], offset);
}

/** Filter for the decisions on a lead between two offsets, both inclusive. */
export function decisionKeysBetween(ouId: string, leadId: string, from: number, to: number) {
  return { $gte: decisionKey(ouId, leadId, from), $lte: decisionKey(ouId, leadId, to) };
}

/** Offset of a decision on the log. */
export function offsetOf({ _id }: Pick<DecisionDocument, '_id'>): number {
  return readOffset(bytesOf(_id), offsetAt);
}

export function toLeadDocument(lead: SharedLead, partition: number): SharedLeadDocument {
  const { given_name, given, overrides, first_alias, account_id, first_offset, offset } = lead;
  return {
    _id: leadKey(lead.ou_id, lead.id),
    given_name,
    ...(Object.keys(given).length > 0 && { given }),
    ...(overrides && { overrides: [...overrides] }),
    first_alias,
    ...(account_id !== undefined && { account: uuidToBinary(account_id) }),
    first_offset,
    offset,
    partition,
  };
}

/** The stored lead. The caller knows the ids of the document key already, so they are not read from it. */
export function toLead(
  { given_name, given = {}, overrides, first_alias, account, first_offset, offset }: SharedLeadDocument,
  { ou_id, lead_id }: { ou_id: string; lead_id: string },
): SharedLead {
  return {
    id: lead_id,
    ou_id,
    given_name,
    given,
    ...(overrides && { overrides }),
    first_alias,
    ...(account && { account_id: binaryToUuid(account) }),
    first_offset,
    offset,
  };
}

/** The name and the points of an account. */
export interface SharedAccount extends AccountPoints {
  readonly name: string;
}

export function toAccountDocument(
  { name, score, leads, leads_points, roll_up, given, held }: SharedAccount,
  at: Pick<SharedAccountDocument, '_id' | 'partition' | 'offset'>,
): SharedAccountDocument {
  return { ...at, name, score, leads, leads_points, roll_up, given: [...given], held: [...held] };
}

/** @param json the JSON text of the decision */
export function toDecisionDocument(
  { ou_id, lead_id }: ScoreDecision,
  json: Buffer,
  at: { partition: number; offset: number },
): DecisionDocument {
  return { _id: decisionKey(ou_id, lead_id, at.offset), json: storedJson(json), partition: at.partition };
}

/** The recorded decision. */
export function toScoreDecision({ json }: Pick<DecisionDocument, 'json'>): ScoreDecision {
  return readJson(json) as unknown as ScoreDecision;
}

export interface StoredDecision extends ExplainedDecision {
  /** The lead's score after this decision. */
  score: number;
  offset: number;
}

/** The part of a decision that an explanation needs. */
export function toDecision(document: DecisionDocument, decision = toScoreDecision(document)): StoredDecision {
  const { decided_at, configuration_version, adjustments, score } = decision;
  return {
    decided_at,
    ...('as_of' in decision && { as_of: decision.as_of }),
    configuration_version,
    scored_events: scoredEventsOf(decision),
    ...(adjustments && { adjustments }),
    ...('rescored' in decision && { rescored: decision.rescored }),
    ...('deleted' in decision && { deleted: decision.deleted }),
    ...('source' in decision && { source: decision.source }),
    score,
    offset: offsetOf(document),
  };
}

export function toConfigurationDocument(
  configuration: ScoringConfiguration,
  { lists }: LevelHistory,
  at: { partition: number; offset: number },
): ConfigurationDocument {
  return {
    _id: uuidToBinary(configuration.ou_id),
    version: configuration.version,
    content: packConfiguration(configuration),
    level_lists: JSON.stringify(lists),
    ...at,
  };
}

export function toConfiguration({ _id, version, content }: ConfigurationDocument): ScoringConfiguration {
  return unpackConfiguration({ ou_id: binaryToUuid(_id), version }, content);
}

export function toLevelHistory(document: ConfigurationDocument): LevelHistory {
  const { ou_id, version, levels, profile_levels } = toConfiguration(document);
  const { level_lists } = document;
  if (level_lists === undefined)
    return { ou_id, version, lists: [{ since: 0, levels, ...(profile_levels && { profile_levels }) }] };
  return { ou_id, version, lists: JSON.parse(level_lists) as LevelHistory['lists'] };
}
