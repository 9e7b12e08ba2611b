// An OU's scoring configuration, folded from its events. Scoring decides with it; share and notification explain with their own
// folds of it. Pure.
import { filterLabel, type records, type routeDeclarations } from '@lead-scoring/contracts';
import type { ConfigurationEvent } from './configuration-events.js';
import { shortenLabel } from './filter-label.js';
import { evolveProfile, noProfile, type ProfileConfiguration } from './profile-configuration.js';

type EngagementLevel = routeDeclarations.EngagementLevel;
type Rule = routeDeclarations.Rule;
type Ruleset = routeDeclarations.Ruleset;

/** Rulesets and rules are in the order of their creation, levels in the order in which they were set. */
export interface ScoringConfiguration {
  readonly ou_id: string;
  /** Increases by 1 with every change; 0 before the first change. */
  readonly version: number;
  readonly rulesets: ReadonlyMap<string, Ruleset>;
  readonly rules: ReadonlyMap<string, Rule>;
  readonly levels: readonly EngagementLevel[];
  /** Earlier wordings of each rule, by the rule's id, the oldest first. */
  readonly former: ReadonlyMap<string, readonly FormerRule[]>;
  /** Absent until profile scoring is configured for the first time. */
  readonly profile?: ProfileConfiguration;
}

/** The words that an explanation uses for a rule. */
export type RuleWords = Pick<Rule, 'event_type' | 'label' | 'filter_label'>;

/** The wording that a rule had up to version `up_to`, inclusive. */
export interface FormerRule extends RuleWords {
  up_to: number;
}

export function emptyConfiguration(ouId: string): ScoringConfiguration {
  return { ou_id: ouId, version: 0, rulesets: new Map(), rules: new Map(), levels: [], former: new Map() };
}

/** Folds a configuration event. Pure: the state before is not changed. */
export function evolveConfiguration(
  configuration: ScoringConfiguration,
  event: ConfigurationEvent,
): ScoringConfiguration {
  const version = configuration.version + 1;
  switch (event.type) {
    case 'RulesetCreated': {
      const { ruleset_id: id, name, score_type, active, is_default, version: own, at, actor } = event.payload;
      const created = {
        id,
        name,
        score_type,
        active,
        is_default,
        version: own,
        created_at: at,
        updated_at: at,
        changed_by: actor,
      };
      return { ...configuration, version, rulesets: new Map(configuration.rulesets).set(id, created) };
    }
    case 'RulesetUpdated': {
      const { ruleset_id: id, name, active, version: own, at, actor } = event.payload;
      const known = configuration.rulesets.get(id);
      if (!known) return { ...configuration, version };
      const updated = { ...known, name, active, version: own, updated_at: at, changed_by: actor };
      return { ...configuration, version, rulesets: new Map(configuration.rulesets).set(id, updated) };
    }
    case 'RuleCreated': {
      return { ...withRules(configuration, [newRule(event.payload)]), version };
    }
    case 'RulesActivationChanged': {
      const { active, at: updated_at, actor: changed_by } = event.payload;
      const changed = event.payload.rules.flatMap(({ rule_id, version: own }) => {
        const known = configuration.rules.get(rule_id);
        return known ? [{ ...known, active, version: own, updated_at, changed_by }] : [];
      });
      return { ...withRules(configuration, changed), version };
    }
    case 'EngagementLevelsSet':
      return { ...configuration, version, levels: event.payload.levels };
    case 'ProfileRuleCreated':
    case 'ProfileRulesActivationChanged':
    case 'ProfileMappingAdded':
    case 'ProfileMappingRemoved':
      return { ...configuration, version, profile: evolveProfile(configuration.profile ?? noProfile, event) };
  }
}

/** Number of earlier wordings kept of a rule. Versions older than these get the oldest wording. */
const maximumFormer = 20;

/** Adds or replaces rules. When the wording of a rule changes, its earlier wording is kept. */
export function withRules(
  configuration: ScoringConfiguration,
  changed: readonly Rule[],
): ScoringConfiguration {
  const rules = new Map(configuration.rules);
  let { former } = configuration;
  for (const rule of changed) {
    const known = rules.get(rule.id);
    if (known && !hasSameWords(known, rule)) {
      const added = { up_to: known.version, ...wordsOf(known) };
      former = new Map(former).set(rule.id, [...(former.get(rule.id) ?? []), added].slice(-maximumFormer));
    }
    rules.set(rule.id, rule);
  }
  return { ...configuration, rules, former };
}

/** The wording of a rule in one of its versions; undefined when the rule is not known. */
export function ruleWordsAsOf(
  { rules, former }: Pick<ScoringConfiguration, 'rules' | 'former'>,
  ruleId: string,
  version: number,
): RuleWords | undefined {
  return former.get(ruleId)?.find(({ up_to }) => version <= up_to) ?? rules.get(ruleId);
}

function wordsOf({ event_type, label, filter_label }: Rule): RuleWords {
  return {
    event_type,
    ...(label !== undefined && { label }),
    ...(filter_label !== undefined && {
      filter_label: filter_label.slice(0, maximumFormerLabel).toWellFormed(),
    }),
  };
}

function hasSameWords(one: Rule, other: Rule): boolean {
  return (
    one.event_type === other.event_type &&
    one.label === other.label &&
    one.filter_label === other.filter_label
  );
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
    version: payload.version,
    created_at: payload.at,
    updated_at: payload.at,
    changed_by: payload.actor,
  };
}

/** Maximum length of the filter label in an earlier wording, in UTF-16 code units. */
const maximumFormerLabel = 1_000;
