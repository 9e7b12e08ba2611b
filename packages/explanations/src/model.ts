// What explains scores, as stored: leads, the decisions that made their scores, and the OUs' rules and levels.
import {
  packConfiguration,
  unpackConfiguration,
  type ExplainedDecision,
  type LeadFields,
  type records,
  type ScoringConfiguration,
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
import type { LevelHistory } from './levels-model.js';
import type { SharedLead } from './state.js';

/** `_id` is leadKey. */
export interface SharedLeadDocument extends GuardedDocument {
  _id: Binary;
  given_name: { value: string; at: string } | null;
  /** Absent without any, and in what was stored before there were any. */
  given?: LeadFields;
  first_alias: string | null;
  first_offset: number;
}

/** A decision that isStored, as it is recorded; `_id` is decisionKey. */
export interface DecisionDocument {
  _id: Binary;
  /** The LeadScored as JSON: storedJson. */
  json: Binary;
  partition: number;
}

/** `_id` is the OU. */
export interface ConfigurationDocument extends GuardedDocument {
  _id: Binary;
  version: number;
  /** packConfiguration. */
  content: string;
  /** JSON text of the lists of levels. What was stored before there was one has none. */
  level_lists?: string;
}

export const sharedLeads = defineCollection<SharedLeadDocument>({ name: 'leads', indexes: [] });
export const decisions = defineCollection<DecisionDocument>({ name: 'decisions', indexes: [] });
export const configurations = defineCollection<ConfigurationDocument>({
  name: 'configurations',
  indexes: [],
});

const leadIdAt = uuidBytes;
const offsetAt = 2 * uuidBytes;

/** A lead within its OU. */
export function leadKey(ouId: string, leadId: string): Binary {
  return orderedKey([ouId, leadId]);
}

/** The lead's id in its key. */
export function leadIdOf({ _id }: Pick<SharedLeadDocument, '_id'>): string {
  return readUuid(bytesOf(_id), leadIdAt);
}

/** The decisions on a lead, in the order of the log. */
function decisionKey(ouId: string, leadId: string, offset: number): Binary {
  return orderedKey([ouId, leadId], offset);
}

/** The keys of the decisions on a lead from one offset up to another, both inclusive. */
export function decisionKeysBetween(ouId: string, leadId: string, from: number, to: number) {
  return { $gte: decisionKey(ouId, leadId, from), $lte: decisionKey(ouId, leadId, to) };
}

/** Where a decision is on the log. */
export function offsetOf({ _id }: Pick<DecisionDocument, '_id'>): number {
  return readOffset(bytesOf(_id), offsetAt);
}

export function toLeadDocument(lead: SharedLead, partition: number): SharedLeadDocument {
  const { given_name, given, first_alias, first_offset, offset } = lead;
  return {
    _id: leadKey(lead.ou_id, lead.id),
    given_name,
    ...(Object.keys(given).length > 0 && { given }),
    first_alias,
    first_offset,
    offset,
    partition,
  };
}

/** The ids are those that the document's key is made of, as the caller has them. */
export function toLead(
  { given_name, given = {}, first_alias, first_offset, offset }: SharedLeadDocument,
  { ou_id, lead_id }: { ou_id: string; lead_id: string },
): SharedLead {
  return { id: lead_id, ou_id, given_name, given, first_alias, first_offset, offset };
}

/** @param json the decision's own text */
export function toDecisionDocument(
  { ou_id, lead_id }: records.LeadScored,
  json: Buffer,
  at: { partition: number; offset: number },
): DecisionDocument {
  return { _id: decisionKey(ou_id, lead_id, at.offset), json: storedJson(json), partition: at.partition };
}

/** The decision as it is recorded. */
export function toLeadScored({ json }: Pick<DecisionDocument, 'json'>): records.LeadScored {
  return readJson(json) as unknown as records.LeadScored;
}

export interface StoredDecision extends ExplainedDecision {
  /** The lead's, with this decision. */
  score: number;
  offset: number;
}

/** What an explanation needs of a decision, and nothing else that the decision says of its lead. */
export function toDecision(document: DecisionDocument): StoredDecision {
  const { decided_at, configuration_version, scored_events, adjustments, score } = toLeadScored(document);
  return {
    decided_at,
    configuration_version,
    scored_events,
    ...(adjustments && { adjustments }),
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
  const { ou_id, version, levels } = toConfiguration(document);
  const { level_lists } = document;
  if (level_lists === undefined) return { ou_id, version, lists: [{ since: 0, levels }] };
  return { ou_id, version, lists: JSON.parse(level_lists) as LevelHistory['lists'] };
}
