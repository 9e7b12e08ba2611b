// What explains scores, as stored: leads, the decisions that gave them points, and the OUs' rules.
import type { JsonValue, records, routeDeclarations, ScoringConfiguration } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  Binary,
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { SharedLead } from './state.js';

/** `_id` is leadKey. */
export interface SharedLeadDocument extends GuardedDocument {
  _id: Binary;
  lead: Binary;
  ou: Binary;
  given_name: { value: string; at: string } | null;
  first_alias: string | null;
  score: number;
}

/** A decision that gave points; `_id` is decisionKey. */
export interface DecisionDocument {
  _id: Binary;
  decided_at: string;
  configuration_version: number;
  /** JSON text of the decision's scored_events. */
  scored_events: string;
  partition: number;
}

/** `_id` is the OU. */
export interface ConfigurationDocument extends GuardedDocument {
  _id: Binary;
  version: number;
  /** JSON text of rulesets and rules, in the order in which they were made. */
  content: string;
}

export const sharedLeads = defineCollection<SharedLeadDocument>({ name: 'leads', indexes: [] });
export const decisions = defineCollection<DecisionDocument>({ name: 'decisions', indexes: [] });
export const configurations = defineCollection<ConfigurationDocument>({
  name: 'configurations',
  indexes: [],
});

/** A lead within its OU. */
export function leadKey(ouId: string, leadId: string): Binary {
  return new Binary(Buffer.concat([bytesOf(ouId), bytesOf(leadId)]), 0);
}

/** The decisions on a lead, in the order of the log. */
function decisionKey(ouId: string, leadId: string, offset: number): Binary {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(offset));
  return new Binary(Buffer.concat([bytesOf(ouId), bytesOf(leadId), place]), 0);
}

/** The keys of the decisions on a lead up to an offset. */
export function decisionKeysUpTo(ouId: string, leadId: string, offset: number) {
  return { $gte: decisionKey(ouId, leadId, 0), $lte: decisionKey(ouId, leadId, offset) };
}

export function toLeadDocument(lead: SharedLead, partition: number): SharedLeadDocument {
  const { given_name, first_alias, score, offset } = lead;
  return {
    _id: leadKey(lead.ou_id, lead.id),
    lead: uuidToBinary(lead.id),
    ou: uuidToBinary(lead.ou_id),
    given_name,
    first_alias,
    score,
    offset,
    partition,
  };
}

export function toLead({ lead, ou, given_name, first_alias, score, offset }: SharedLeadDocument): SharedLead {
  return { id: binaryToUuid(lead), ou_id: binaryToUuid(ou), given_name, first_alias, score, offset };
}

export function toDecisionDocument(
  { ou_id, lead_id, decided_at, configuration_version, scored_events }: records.LeadScored,
  at: { partition: number; offset: number },
): DecisionDocument {
  return {
    _id: decisionKey(ou_id, lead_id, at.offset),
    decided_at,
    configuration_version,
    scored_events: packJson(scored_events),
    partition: at.partition,
  };
}

export function toDecision({ decided_at, configuration_version, scored_events }: DecisionDocument) {
  return {
    decided_at,
    configuration_version,
    scored_events: unpackJson(scored_events) as unknown as records.ScoredEvent[],
  };
}

export function toConfigurationDocument(
  configuration: ScoringConfiguration,
  at: { partition: number; offset: number },
): ConfigurationDocument {
  return {
    _id: uuidToBinary(configuration.ou_id),
    version: configuration.version,
    content: packJson({
      rulesets: [...configuration.rulesets.values()],
      rules: [...configuration.rules.values()],
    } as unknown as JsonValue),
    ...at,
  };
}

export function toConfiguration({ _id, version, content }: ConfigurationDocument): ScoringConfiguration {
  const { rulesets, rules } = unpackJson(content) as unknown as {
    rulesets: routeDeclarations.Ruleset[];
    rules: routeDeclarations.Rule[];
  };
  return {
    ou_id: binaryToUuid(_id),
    version,
    rulesets: new Map(rulesets.map((ruleset) => [ruleset.id, ruleset])),
    rules: new Map(rules.map((rule) => [rule.id, rule])),
  };
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}
