// Rules with conditions on fields, which give their weight as long as the conditions hold: folded from their events. Pure.
import { filterLabel, shownActor, type records, type routeDeclarations } from '@lead-scoring/contracts';
import { shortenLabel } from './filter-label.js';

/** A rule over fields, in the form of answers; what has the fields follows from the rule's ruleset. */
export type ConditionRule = routeDeclarations.ProfileRule;

/** The rule that an event creates. */
function newConditionRule(payload: records.ProfileRuleCreated): ConditionRule {
  const { rule_id: id, ruleset_id, conditions, weight, label, active, version, at, actor } = payload;
  return {
    id,
    ruleset_id,
    conditions,
    filter_label: shortenLabel(filterLabel(conditions) ?? ''),
    weight,
    ...(label !== undefined && { label }),
    active,
    version,
    created_at: at,
    updated_at: at,
    changed_by: shownActor(actor),
  };
}

/** The rules with one that an event creates. */
export function withNewRule(
  rules: ReadonlyMap<string, ConditionRule>,
  payload: records.ProfileRuleCreated,
): ReadonlyMap<string, ConditionRule> {
  return new Map(rules).set(payload.rule_id, newConditionRule(payload));
}

/** The rules after an event that changes one; the same rules if that one is not among them. */
export function withChangedRule(
  rules: ReadonlyMap<string, ConditionRule>,
  payload: records.ProfileRuleUpdated,
): ReadonlyMap<string, ConditionRule> {
  const known = rules.get(payload.rule_id);
  if (!known) return rules;
  return new Map(rules).set(known.id, { ...newConditionRule(payload), created_at: known.created_at });
}

/** The rules after some of them were switched on or off. */
export function withRulesActive(
  rules: ReadonlyMap<string, ConditionRule>,
  { active, rules: switched, at, actor }: records.RulesActivationChanged,
): ReadonlyMap<string, ConditionRule> {
  const changed = new Map(rules);
  for (const { rule_id, version } of switched) {
    const known = changed.get(rule_id);
    if (known)
      changed.set(rule_id, { ...known, active, version, updated_at: at, changed_by: shownActor(actor) });
  }
  return changed;
}

/** The parts of a configuration that have rules over conditions. */
interface ConditionRules {
  readonly profile?: { readonly rules: ReadonlyMap<string, ConditionRule> } | undefined;
  readonly accounts?: { readonly rules: ReadonlyMap<string, ConditionRule> } | undefined;
  readonly deals?: { readonly rules: ReadonlyMap<string, ConditionRule> } | undefined;
}

/** All rules over conditions, whatever their kind. */
export function conditionRulesOf({ profile, accounts, deals }: ConditionRules): ConditionRule[] {
  return [profile, accounts, deals].flatMap((part) => [...(part?.rules.values() ?? [])]);
}

/** A rule over conditions, whatever its kind. */
export function conditionRuleOf(
  { profile, accounts, deals }: ConditionRules,
  ruleId: string,
): ConditionRule | undefined {
  return profile?.rules.get(ruleId) ?? accounts?.rules.get(ruleId) ?? deals?.rules.get(ruleId);
}
