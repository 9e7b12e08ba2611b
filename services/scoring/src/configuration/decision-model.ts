// The outcomes of decisions on a configuration, and the limits that every decision keeps: pure.
import type { records, Warning } from '@lead-scoring/contracts';
import {
  conditionRulesOf,
  isDeletedRule,
  noAccounts,
  noDeals,
  noProfile,
  type ConditionRule,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import type { ConfigurationDecision, Refusal } from './messages.js';
import type { Rule } from './state.js';

export const configurationLimits = {
  /** Active rules. */
  rules: 1_000,
  /** Rules that exist, also inactive ones. */
  keptRules: 5_000,
  /** Active rulesets. */
  rulesets: 200,
  /** Rulesets that exist, also inactive ones. */
  keptRulesets: 1_000,
  /** The size of all rules as JSON, so that a configuration fits into one document. */
  bytes: 8_000_000,
};

export function done(...events: ConfigurationEvent[]): ConfigurationDecision {
  return { outcome: 'done', events };
}

export function limitReached(message: string): Refusal {
  return { outcome: 'rejected', code: 'limit_reached', message };
}

/** The refusal of a name that another of the resources has, whatever the case; null if the name is free. */
export function nameTaken(
  kind: 'ruleset' | 'filter' | 'decay rule',
  name: string,
  others: Iterable<{ name: string }>,
): Refusal | null {
  if (!hasName(others, name)) return null;
  return {
    outcome: 'rejected',
    code: 'duplicate_name',
    message: `There is a ${kind} named "${name}" already. Choose another name.`,
    errors: [{ path: 'body.name', message: `must not be the name of another ${kind}` }],
  };
}

export function hasName(resources: Iterable<{ name: string }>, name: string): boolean {
  const wanted = name.toLowerCase();
  for (const resource of resources) if (resource.name.toLowerCase() === wanted) return true;
  return false;
}

export const filterNotFoundMessage =
  'No filter of this organizational unit has this id. GET /filters lists them.';

export const decayNotFoundMessage =
  'No decay rule of this organizational unit has this id. GET /decays lists them.';

export const rulesetNotFoundMessage =
  'No ruleset of this organizational unit has this id. GET /rulesets lists them.';

export function rulesetNotFound(): Refusal {
  return { outcome: 'rejected', code: 'ruleset_not_found', message: rulesetNotFoundMessage };
}

export function ruleNotFound(configuration: ScoringConfiguration, ruleId: string): ConfigurationDecision {
  return { outcome: 'rejected', code: 'rule_not_found', message: ruleNotFoundMessage(configuration, ruleId) };
}

export function ruleNotFoundMessage(configuration: ScoringConfiguration, ruleId: string): string {
  return isDeletedRule(configuration, ruleId)
    ? 'The rule was deleted. GET /rules/{id}/history still shows its versions.'
    : 'No rule of this organizational unit has this id. GET /engagement-scoring/rules lists them.';
}

/** The refusal of a repeated creation: an id that was deleted does not come back. */
export function alreadyDeleted(what: 'rule' | 'ruleset' | 'decay rule' | 'challenger'): Refusal {
  return {
    outcome: 'rejected',
    code: 'already_deleted',
    message: `This request made a ${what} that has been deleted since. Send it with another Idempotency-Key to make it anew.`,
  };
}

/** @param more how many rules become active */
export function tooManyActiveRules(
  configuration: ScoringConfiguration,
  more: number,
): ConfigurationDecision | null {
  if (more === 0 || activeOf(allRulesOf(configuration)) + more <= configurationLimits.rules) return null;
  return limitReached(
    `An organizational unit holds at most ${String(configurationLimits.rules)} active rules. Deactivate or delete rules that are no longer needed, use fewer rules with the operator "in", or use another organizational unit.`,
  );
}

export function tooManyActiveRulesets({ rulesets }: ScoringConfiguration): ConfigurationDecision | null {
  if (activeOf(rulesets.values()) < configurationLimits.rulesets) return null;
  return limitReached(
    `An organizational unit holds at most ${String(configurationLimits.rulesets)} active rulesets. Deactivate or delete one that is no longer needed, or put the rules into one that exists.`,
  );
}

/** The limits of a further rule or ruleset, whether it is active or not. */
export function tooManyKept(
  configuration: ScoringConfiguration,
  what: 'rules' | 'rulesets',
): ConfigurationDecision | null {
  const [count, limit] =
    what === 'rules'
      ? [allRulesOf(configuration).length, configurationLimits.keptRules]
      : [configuration.rulesets.size, configurationLimits.keptRulesets];
  return count < limit ? null : keptLimitReached(what);
}

export function keptLimitReached(what: 'rules' | 'rulesets'): Refusal {
  const limit = what === 'rules' ? configurationLimits.keptRules : configurationLimits.keptRulesets;
  return limitReached(
    `An organizational unit holds at most ${String(limit)} ${what}, active and inactive. Delete ${what} that are no longer needed.`,
  );
}

/** The refusal of rules that would not fit into one document. */
export function tooLarge(
  configuration: ScoringConfiguration,
  changed: { rule_id: string },
): ConfigurationDecision | null {
  const others = allRulesOf(configuration).filter(({ id }) => id !== changed.rule_id);
  if (Buffer.byteLength(JSON.stringify([...others, changed])) <= configurationLimits.bytes) return null;
  return limitReached(
    `The rules of an organizational unit may take ${String(configurationLimits.bytes / 1_000_000)} MB in all. Use shorter lists of values in their conditions, or delete rules that are no longer needed.`,
  );
}

/** The refusal of a configuration that holds more than it may, whatever it held before. */
export function beyondLimits(configuration: ScoringConfiguration): ConfigurationDecision | null {
  const rules = allRulesOf(configuration);
  const { rulesets } = configuration;
  const none = {
    ...configuration,
    rules: new Map<never, never>(),
    profile: noProfile,
    accounts: noAccounts,
    deals: noDeals,
  };
  return (
    tooManyActiveRules(none, activeOf(rules)) ??
    (activeOf(rulesets.values()) > configurationLimits.rulesets
      ? tooManyActiveRulesets(configuration)
      : null) ??
    (rulesets.size > configurationLimits.keptRulesets ? tooManyKept(configuration, 'rulesets') : null) ??
    (rules.length > configurationLimits.keptRules ? tooManyKept(configuration, 'rules') : null) ??
    tooLarge(configuration, { rule_id: '' })
  );
}

/** The refusal of a rule that gives no points at any time. */
export function neverCounts({
  starts_at,
  ends_at,
}: Pick<records.RuleCreated, 'starts_at' | 'ends_at'>): Refusal | null {
  if (starts_at === undefined || ends_at === undefined || ends_at > starts_at) return null;
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: 'ends_at must be after starts_at: the rule would never give points.',
    errors: [{ path: 'body.ends_at', message: 'must be after starts_at' }],
  };
}

/** Of every kind. */
export function allRulesOf(configuration: ScoringConfiguration): (Rule | ConditionRule)[] {
  return [...configuration.rules.values(), ...conditionRulesOf(configuration)];
}

function activeOf(resources: Iterable<{ active: boolean }>): number {
  let active = 0;
  for (const one of resources) if (one.active) active += 1;
  return active;
}

/** The warning that two active rules give the same points, since both count. */
export function identicalRule(
  same: Pick<Rule, 'id' | 'label'>,
  to: 'events' | 'profiles' | 'accounts' | 'deals',
): Warning {
  return {
    code: 'identical_rule',
    message: `The rule ${same.id}${same.label === undefined ? '' : ` ("${same.label}")`} gives the same points for the same ${to}: both count. If this is not intended, deactivate one of them.`,
  };
}

/** The warning that another active rule has the same conditions and weight, whatever their order, the ruleset and the label are. */
export function identicalConditionRule(
  ruleId: string,
  rules: ReadonlyMap<string, ConditionRule>,
  to: 'profiles' | 'accounts' | 'deals',
): Warning[] {
  const rule = rules.get(ruleId);
  if (!rule?.active) return [];
  const contentOf = ({ conditions, weight }: ConditionRule) =>
    JSON.stringify([conditions.map((condition) => JSON.stringify(condition)).sort(), weight]);
  const content = contentOf(rule);
  const same = [...rules.values()].find(
    (other) => other.id !== ruleId && other.active && contentOf(other) === content,
  );
  return same ? [identicalRule(same, to)] : [];
}
