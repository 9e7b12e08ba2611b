// An OU's scoring configuration, folded from its events. Scoring decides with it; share and notification explain with their own
// folds of it. Pure.
import {
  filterLabel,
  shownActor,
  type Grid,
  type records,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { conditionRuleOf, type ConditionRule } from './condition-rules.js';
import {
  accountEventType,
  evolveAccounts,
  noAccounts,
  type AccountConfiguration,
  type AccountConfigurationEvent,
} from './account-configuration.js';
import type { ConfigurationEvent } from './configuration-events.js';
import {
  evolveDecays,
  noDecays,
  type DecayConfiguration,
  type DecayEvent,
} from './decays/decay-configuration.js';
import {
  dealEventType,
  evolveDealRules,
  noDeals,
  type DealConfiguration,
  type DealConfigurationEvent,
} from './deal-configuration.js';
import { shortenLabel } from './filter-label.js';
import { ruleLimitsOf, rulesetLimitsOf } from './limits.js';
import {
  evolveProfile,
  noProfile,
  profileEventType,
  type ProfileConfiguration,
  type ProfileConfigurationEvent,
} from './profile-configuration.js';
import { type FormerRules, hasSameWords, withFormerWords } from './rule-words.js';
import { evolveFilters, type SavedFilter } from './filters/saved-filter.js';

type EngagementLevel = routeDeclarations.EngagementLevel;
type Rule = routeDeclarations.Rule;
type Ruleset = routeDeclarations.Ruleset;

/** Rulesets, rules and filters are in the order of their creation, levels in the order in which they were set. */
export interface ScoringConfiguration {
  readonly ou_id: string;
  /** Increases by 1 with every change; 0 before the first change. */
  readonly version: number;
  readonly rulesets: ReadonlyMap<string, Ruleset>;
  readonly rules: ReadonlyMap<string, Rule>;
  readonly levels: readonly EngagementLevel[];
  /** Saved filters of leads. They give no points. */
  readonly filters: ReadonlyMap<string, SavedFilter>;
  /** Earlier wordings of rules, and the last wordings of deleted rules. */
  readonly former: FormerRules;
  /** The deleted rulesets by their ids, the latest deleted last: leads with points of theirs name them. */
  readonly former_rulesets: ReadonlyMap<string, FormerRuleset>;
  /** Absent until profile scoring is configured for the first time. */
  readonly profile?: ProfileConfiguration;
  /** Absent until the first deal rule is created. */
  readonly deals?: DealConfiguration;
  /** Absent until account scoring is configured for the first time. */
  readonly accounts?: AccountConfiguration;
  /** Absent until they are set for the first time. */
  readonly profile_levels?: readonly EngagementLevel[];
  /** Absent where there is none. */
  readonly grid?: Grid;
  /** Absent until there is a decay rule for the first time. */
  readonly decays?: DecayConfiguration;
}

export type FormerRuleset = Pick<Ruleset, 'name' | 'score_type'>;

export function emptyConfiguration(ouId: string): ScoringConfiguration {
  return {
    ou_id: ouId,
    version: 0,
    rulesets: new Map(),
    rules: new Map(),
    levels: [],
    filters: new Map(),
    former: new Map(),
    former_rulesets: new Map(),
  };
}

/** Folds a configuration event. Pure: the state before is not changed. */
export function evolveConfiguration(
  configuration: ScoringConfiguration,
  event: ConfigurationEvent,
): ScoringConfiguration {
  const version = configuration.version + 1;
  switch (event.type) {
    case 'RulesetCreated':
      return { ...withRuleset(configuration, newRuleset(event.payload)), version };
    case 'RulesetUpdated': {
      const known = configuration.rulesets.get(event.payload.ruleset_id);
      if (!known) return { ...configuration, version };
      return { ...withRuleset(configuration, updatedRuleset(known, event.payload)), version };
    }
    case 'RuleCreated':
      return { ...withRules(configuration, [newRule(event.payload)]), version };
    case 'RuleUpdated': {
      const known = configuration.rules.get(event.payload.rule_id);
      if (!known) return { ...configuration, version };
      const changed = { ...newRule(event.payload), created_at: known.created_at };
      return { ...withRules(configuration, [changed]), version };
    }
    case 'RuleDeleted':
      return { ...withoutRule(configuration, event.payload.rule_id), version };
    case 'RulesetDeleted':
      return { ...withoutRuleset(configuration, event.payload.ruleset_id), version };
    case 'RulesActivationChanged':
      return { ...withActivation(configuration, event.payload), version };
    case 'EngagementLevelsSet':
      return { ...configuration, version, levels: event.payload.levels };
    case 'ProfileLevelsSet':
      return { ...configuration, version, profile_levels: event.payload.levels };
    case 'ScoringGridSet':
      return { ...withGrid(configuration, event.payload.grid), version };
    case 'ProfileRuleCreated':
    case 'ProfileRuleUpdated':
    case 'ProfileRulesActivationChanged':
    case 'ProfileMappingAdded':
    case 'ProfileMappingRemoved':
      return { ...withProfileEvent(configuration, event), version };
    case 'DealRuleCreated':
    case 'DealRuleUpdated':
      return { ...withDealEvent(configuration, event), version };
    case 'AccountRuleCreated':
    case 'AccountRuleUpdated':
    case 'AccountRulesActivationChanged':
    case 'AccountRollUpSet':
    case 'AccountLevelsSet':
    case 'AccountsMerged':
      return { ...withAccountEvent(configuration, event), version };
    case 'FilterCreated':
    case 'FilterUpdated':
    case 'FilterDeleted':
      return { ...configuration, version, filters: evolveFilters(configuration.filters, event) };
    case 'DecayCreated':
    case 'DecayUpdated':
    case 'DecayDeleted':
      return { ...withDecayEvent(configuration, event, version), version };
  }
}

/** @param grid null: there is none any more */
function withGrid(configuration: ScoringConfiguration, grid: Grid | null): ScoringConfiguration {
  const changed: { -readonly [Key in keyof ScoringConfiguration]: ScoringConfiguration[Key] } = {
    ...configuration,
  };
  if (grid) changed.grid = grid;
  else delete changed.grid;
  return changed;
}

function withActivation(
  configuration: ScoringConfiguration,
  { active, rules, at: updated_at, actor }: records.RulesActivationChanged,
): ScoringConfiguration {
  const changed_by = shownActor(actor);
  const changed = rules.flatMap(({ rule_id, version }) => {
    const known = configuration.rules.get(rule_id);
    return known ? [{ ...known, active, version, updated_at, changed_by }] : [];
  });
  return withRules(configuration, changed);
}

/** Adds or replaces rules. When the wording of a rule changes, its earlier wording is kept. */
export function withRules(
  configuration: ScoringConfiguration,
  changed: readonly Rule[],
): ScoringConfiguration {
  const rules = new Map(configuration.rules);
  const reworded: Rule[] = [];
  for (const rule of changed) {
    const known = rules.get(rule.id);
    if (known && !hasSameWords(known, rule)) reworded.push(known);
    rules.set(rule.id, rule);
  }
  return { ...configuration, rules, former: withFormerWords(configuration.former, reworded) };
}

function withProfileEvent(
  configuration: ScoringConfiguration,
  event: ProfileConfigurationEvent,
): ScoringConfiguration {
  const { profile: before = noProfile } = configuration;
  const profile = evolveProfile(before, event);
  if (event.type !== 'ProfileRuleUpdated') return { ...configuration, profile };
  const { rule_id } = event.payload;
  return withFormerConditions(
    { ...configuration, profile },
    [before.rules.get(rule_id), profile.rules.get(rule_id)],
    profileEventType,
  );
}

function withDealEvent(
  configuration: ScoringConfiguration,
  event: DealConfigurationEvent,
): ScoringConfiguration {
  const { deals: before = noDeals } = configuration;
  const deals = evolveDealRules(before, event);
  const { rule_id } = event.payload;
  return withFormerConditions(
    { ...configuration, deals },
    [before.rules.get(rule_id), deals.rules.get(rule_id)],
    dealEventType,
  );
}

/** When the wording of a rule over conditions changes, its earlier wording is kept. */
function withFormerConditions(
  configuration: ScoringConfiguration,
  [before, after]: [ConditionRule | undefined, ConditionRule | undefined],
  event_type: string,
): ScoringConfiguration {
  if (!before || !after || hasSameWords({ ...before, event_type }, { ...after, event_type }))
    return configuration;
  return { ...configuration, former: withFormerWords(configuration.former, [{ ...before, event_type }]) };
}

/** Removes a rule. Its wording is kept for the explanations of points that it gave. */
function withoutRule(configuration: ScoringConfiguration, ruleId: string): ScoringConfiguration {
  const known = configuration.rules.get(ruleId);
  if (!known) return withoutConditionRule(configuration, ruleId);
  const rules = new Map(configuration.rules);
  rules.delete(ruleId);
  return { ...configuration, rules, former: withFormerWords(configuration.former, [known]) };
}

/** Removes a rule over conditions. Its wording is kept for explanations, and its id is not used again. */
function withoutConditionRule(configuration: ScoringConfiguration, ruleId: string): ScoringConfiguration {
  const { profile, accounts, deals, former } = configuration;
  const known = conditionRuleOf(configuration, ruleId);
  if (!known) return configuration;
  const isOfProfiles = profile?.rules.has(ruleId) === true;
  const isOfAccounts = accounts?.rules.has(ruleId) === true;
  const event_type = isOfProfiles ? profileEventType : isOfAccounts ? accountEventType : dealEventType;
  return {
    ...configuration,
    ...(profile && { profile: { ...profile, rules: without(profile.rules, ruleId) } }),
    ...(accounts && { accounts: { ...accounts, rules: without(accounts.rules, ruleId) } }),
    ...(deals && { deals: { ...deals, rules: without(deals.rules, ruleId) } }),
    former: withFormerWords(former, [{ ...known, event_type }]),
  };
}

function withAccountEvent(
  configuration: ScoringConfiguration,
  event: AccountConfigurationEvent,
): ScoringConfiguration {
  return { ...configuration, accounts: evolveAccounts(configuration.accounts ?? noAccounts, event) };
}

function withDecayEvent(
  configuration: ScoringConfiguration,
  event: DecayEvent,
  version: number,
): ScoringConfiguration {
  return { ...configuration, decays: evolveDecays(configuration.decays ?? noDecays, event, version) };
}

function without<Value>(values: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  const kept = new Map(values);
  kept.delete(key);
  return kept;
}

/** Number of deleted rulesets that are kept, the latest deleted. */
const maximumFormerRulesets = 1_000;

function withoutRuleset(configuration: ScoringConfiguration, rulesetId: string): ScoringConfiguration {
  const known = configuration.rulesets.get(rulesetId);
  if (!known) return configuration;
  const rulesets = new Map(configuration.rulesets);
  rulesets.delete(rulesetId);
  const { name, score_type } = known;
  const former = [...configuration.former_rulesets, [rulesetId, { name, score_type }] as const];
  return { ...configuration, rulesets, former_rulesets: new Map(former.slice(-maximumFormerRulesets)) };
}

function withRuleset(configuration: ScoringConfiguration, ruleset: Ruleset): ScoringConfiguration {
  return { ...configuration, rulesets: new Map(configuration.rulesets).set(ruleset.id, ruleset) };
}

function newRuleset(payload: records.RulesetCreated): Ruleset {
  const { ruleset_id, name, score_type, active, is_default, version, at, actor } = payload;
  return {
    id: ruleset_id,
    name,
    score_type,
    active,
    is_default,
    ...rulesetLimitsOf(payload),
    version,
    created_at: at,
    updated_at: at,
    changed_by: shownActor(actor),
  };
}

/** A limit that the event does not have is a limit no more. */
function updatedRuleset(
  { id, score_type, is_default, created_at }: Ruleset,
  payload: records.RulesetUpdated,
): Ruleset {
  const { name, active, version, at, actor } = payload;
  return {
    id,
    name,
    score_type,
    active,
    is_default,
    ...rulesetLimitsOf(payload),
    version,
    created_at,
    updated_at: at,
    changed_by: shownActor(actor),
  };
}

function newRule(payload: records.RuleCreated): Rule {
  const { rule_id, ruleset_id, event_type, weight, label, icon, starts_at, ends_at } = payload;
  const words = filterLabel(payload.attribute_filters);
  const filter_label = words === undefined ? undefined : shortenLabel(words);
  return {
    id: rule_id,
    ruleset_id,
    event_type,
    weight,
    ...(label !== undefined && { label }),
    ...(icon !== undefined && { icon }),
    attribute_filters: payload.attribute_filters,
    ...(filter_label !== undefined && { filter_label }),
    active: payload.active,
    ...(starts_at !== undefined && { starts_at }),
    ...(ends_at !== undefined && { ends_at }),
    ...ruleLimitsOf(payload),
    version: payload.version,
    created_at: payload.at,
    updated_at: payload.at,
    changed_by: shownActor(payload.actor),
  };
}
