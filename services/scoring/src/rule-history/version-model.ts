// The versions that a rule has had, from the events that concern it: pure.
import { shownActor, type routeDeclarations } from '@lead-scoring/contracts';
import {
  conditionRuleOf,
  type ConditionRule,
  type ConfigurationEvent,
  emptyConfiguration,
  evolveConfiguration,
} from '@lead-scoring/scoring-domain';
import { contentOf } from '../configuration/content-model.js';
import type { Rule } from '../configuration/state.js';

/** A version without the leads that the rule has moved since. */
export type RuleChange = Omit<routeDeclarations.RuleVersion, 'leads_moved' | 'leads_moved_is_estimate'>;
type RuleFieldValue = routeDeclarations.RuleFieldValue;

/** The ids of the rules that an event creates, changes or deletes. */
export function rulesOf(event: ConfigurationEvent): string[] {
  switch (event.type) {
    case 'RuleCreated':
    case 'RuleUpdated':
    case 'RuleDeleted':
    case 'ProfileRuleCreated':
    case 'ProfileRuleUpdated':
    case 'DealRuleCreated':
    case 'DealRuleUpdated':
    case 'AccountRuleCreated':
    case 'AccountRuleUpdated':
      return [event.payload.rule_id];
    case 'RulesActivationChanged':
    case 'ProfileRulesActivationChanged':
    case 'AccountRulesActivationChanged':
      return event.payload.rules.map(({ rule_id }) => rule_id);
    default:
      return [];
  }
}

/** The event without other rules that it concerns. */
export function aboutRule(event: ConfigurationEvent, ruleId: string): ConfigurationEvent {
  switch (event.type) {
    case 'RulesActivationChanged':
    case 'ProfileRulesActivationChanged':
    case 'AccountRulesActivationChanged': {
      const rules = event.payload.rules.filter(({ rule_id }) => rule_id === ruleId);
      return { ...event, payload: { ...event.payload, rules } };
    }
    default:
      return event;
  }
}

/**
 * The versions of a rule, the oldest first.
 * @param events the events that concern the rule, in the order of the log
 */
export function versionsOf(events: readonly ConfigurationEvent[], ruleId: string): RuleChange[] {
  const versions: RuleChange[] = [];
  let configuration = emptyConfiguration('');
  let before: Rule | ConditionRule | null = null;
  for (const event of events) {
    configuration = evolveConfiguration(configuration, event);
    const after: Rule | ConditionRule | null =
      configuration.rules.get(ruleId) ?? conditionRuleOf(configuration, ruleId) ?? null;
    const version = after?.version ?? (event.type === 'RuleDeleted' ? event.payload.version : null);
    if (version !== null)
      versions.push({
        version,
        change: before === null ? 'created' : after === null ? 'deleted' : 'changed',
        changed_at: event.payload.at,
        ...(event.payload.actor && { changed_by: shownActor(event.payload.actor) }),
        fields: changedFields(before, after),
      });
    before = after;
  }
  return versions;
}

function changedFields(before: object | null, after: object | null): RuleChange['fields'] {
  const valuesOf = (rule: object | null) => new Map(contentOf(rule ?? {}) as [string, RuleFieldValue][]);
  const [old, changed] = [valuesOf(before), valuesOf(after)];
  return [...new Set([...old.keys(), ...changed.keys()])].flatMap((field) => {
    const values = { before: old.get(field) ?? null, after: changed.get(field) ?? null };
    return JSON.stringify(values.before) === JSON.stringify(values.after) ? [] : [{ field, ...values }];
  });
}
