// The changes of each rule, from which its versions are computed: a document for each change and rule, read as one range.
import type { JsonValue } from '@lead-scoring/contracts';
import {
  defineCollection,
  offsetBytes,
  keysWithin,
  orderedKey,
  packJson,
  unpackJson,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { ConfigurationEvent } from '@lead-scoring/scoring-domain';
import { aboutRule, rulesOf } from './version-model.js';

export interface RuleChangeDocument {
  /** Ordered key of OU, rule and offset. */
  _id: Binary;
  /** The event; of an event that concerns several rules, the part about this one. */
  event: string;
  partition: number;
}

export const ruleChanges = defineCollection<RuleChangeDocument>({ name: 'rule_changes', indexes: [] });

/** One document for each rule that the event concerns. */
export function toRuleChangeDocuments(
  event: ConfigurationEvent,
  { partition, offset }: { partition: number; offset: number },
): RuleChangeDocument[] {
  return rulesOf(event).map((ruleId) => ({
    _id: orderedKey([event.payload.ou_id, ruleId], offset),
    event: packJson(aboutRule(event, ruleId) as unknown as JsonValue),
    partition,
  }));
}

/** The events that concern a rule, in the order of the log. */
export async function changesOfRule(
  readModel: ReadModel,
  ouId: string,
  ruleId: string,
): Promise<ConfigurationEvent[]> {
  const documents = await withClassifiedErrors(() =>
    readModel
      .collection(ruleChanges)
      .find({ _id: keysWithin([ouId, ruleId], offsetBytes) })
      .sort({ _id: 1 })
      .toArray(),
  );
  return documents.map(({ event }) => unpackJson(event) as unknown as ConfigurationEvent);
}
