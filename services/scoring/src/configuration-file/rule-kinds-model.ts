// The kinds of rules that a document holds: how a rule of each kind is written in a document, found again, and made. Pure.
import { eventTypeKey, filterLabel, records } from '@lead-scoring/contracts';
import {
  noAccounts,
  noDeals,
  noProfile,
  type ConditionRule,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { conditionRuleKinds, type ConditionRuleKind } from '../condition-rules/kinds-model.js';
import { senselessRuleLimits } from '../configuration/decide-limits.js';
import { neverCounts } from '../configuration/decision-model.js';
import type { Refusal } from '../configuration/messages.js';
import type { Rule, Ruleset } from '../configuration/state.js';
import { canonicalText } from './canonical-text-model.js';

/** A rule of any kind as the configuration holds it. */
export interface KeptRule {
  readonly id: string;
  readonly ruleset_id: string;
  readonly active: boolean;
  readonly version: number;
}

/** The fields that each event of an applied document has. */
export interface Stamp {
  ou_id: string;
  at: string;
}

export interface RuleKind<FileRule extends object, Kept extends KeptRule> {
  section: `${Ruleset['score_type']}_rulesets`;
  scoreType: Ruleset['score_type'];
  rulesOf: (configuration: ScoringConfiguration) => Iterable<Kept>;
  /** The fields of a rule in a document. */
  fields: readonly (keyof FileRule & string)[];
  /** What makes two rules the same, the surest first; undefined where a rule has nothing of the kind. */
  signs: readonly ((rule: FileRule) => string | undefined)[];
  /** What the rule matches, in words. */
  matches: (rule: FileRule) => string;
  labelOf: (rule: FileRule) => string | undefined;
  /** Why the rule is refused, whatever else there is; null: it is not. */
  refusalOf: (rule: FileRule) => Refusal | null;
  created: (rule: FileRule, ids: Stamp & { rule_id: string; ruleset_id: string }) => ConfigurationEvent;
  changed: (known: Kept, wanted: FileRule, stamp: Stamp) => ConfigurationEvent;
}

export const engagementRules: RuleKind<records.FileRule, Rule> = {
  section: 'engagement_rulesets',
  scoreType: 'engagement',
  rulesOf: ({ rules }) => rules.values(),
  fields: Object.keys(records.ruleFields) as (keyof typeof records.ruleFields)[],
  signs: [
    canonicalText,
    ({ label }) => label,
    ({ event_type, attribute_filters }) => canonicalText([eventTypeKey(event_type), attribute_filters ?? []]),
  ],
  matches: ({ event_type, attribute_filters }) => {
    const filters = filterLabel(attribute_filters ?? []);
    return filters === undefined ? event_type : `${event_type}: ${filters}`;
  },
  labelOf: ({ label }) => label,
  refusalOf: (rule) => neverCounts(rule) ?? senselessRuleLimits(rule),
  created: (rule, ids) => ({
    type: 'RuleCreated',
    payload: { ...ids, ...engagementContent(rule), version: 1 },
  }),
  changed: ({ id, ruleset_id, version }, wanted, stamp) => ({
    type: 'RuleUpdated',
    payload: { ...stamp, rule_id: id, ruleset_id, ...engagementContent(wanted), version: version + 1 },
  }),
};

function engagementContent(rule: records.FileRule) {
  return { ...rule, attribute_filters: rule.attribute_filters ?? [], active: rule.active ?? true };
}

/** Rules with conditions on fields, of profiles, accounts or deals. */
function conditionRules({
  scoreType,
  ...kind
}: Pick<RuleKind<records.FileConditionRule, ConditionRule>, 'section' | 'rulesOf'> & {
  scoreType: ConditionRuleKind;
}): RuleKind<records.FileConditionRule, ConditionRule> {
  const { created, updated, refusalOf } = conditionRuleKinds[scoreType];
  return {
    ...kind,
    scoreType,
    fields: [
      'conditions',
      ...(Object.keys(records.profileRuleFields) as (keyof typeof records.profileRuleFields)[]),
    ],
    signs: [canonicalText, ({ label }) => label, ({ conditions }) => canonicalText(conditions)],
    matches: ({ conditions }) => filterLabel(conditions) ?? '',
    labelOf: ({ label }) => label,
    refusalOf: ({ conditions }) => refusalOf(conditions),
    created: (rule, ids) => ({
      type: created,
      payload: { ...ids, ...rule, active: rule.active ?? true, version: 1 },
    }),
    changed: ({ id, ruleset_id, version }, wanted, stamp) => ({
      type: updated,
      payload: {
        ...stamp,
        rule_id: id,
        ruleset_id,
        ...wanted,
        active: wanted.active ?? true,
        version: version + 1,
      },
    }),
  };
}

export const profileRules = conditionRules({
  section: 'profile_rulesets',
  scoreType: 'profile',
  rulesOf: ({ profile = noProfile }) => profile.rules.values(),
});

export const accountRules = conditionRules({
  section: 'account_rulesets',
  scoreType: 'account',
  rulesOf: ({ accounts = noAccounts }) => accounts.rules.values(),
});

export const dealRules = conditionRules({
  section: 'deal_rulesets',
  scoreType: 'deal',
  rulesOf: ({ deals = noDeals }) => deals.rules.values(),
});

/** The rule as it is in a document: without its id, version and author, which belong to this organizational unit alone. */
export function fileRuleOf<FileRule extends object, Kept extends KeptRule>(
  { fields }: RuleKind<FileRule, Kept>,
  rule: Kept,
): FileRule {
  const kept = rule as unknown as FileRule;
  return withoutDefaults(
    Object.fromEntries(fields.map((field) => [field, kept[field]])) as unknown as FileRule,
  );
}

/** The rule without fields that say what is so without them. */
export function withoutDefaults<FileRule extends object>(rule: FileRule): FileRule {
  return Object.fromEntries(
    Object.entries(rule).filter(
      ([field, value]) =>
        value !== undefined &&
        !(field === 'active' && value === true) &&
        !(Array.isArray(value) && value.length === 0),
    ),
  ) as FileRule;
}

export function byRuleset<Kept extends KeptRule>(rules: Iterable<Kept>): Map<string, Kept[]> {
  const found = new Map<string, Kept[]>();
  for (const rule of rules) {
    const others = found.get(rule.ruleset_id);
    if (others) others.push(rule);
    else found.set(rule.ruleset_id, [rule]);
  }
  return found;
}
