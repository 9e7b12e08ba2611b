// An OU's scoring configuration, as its events make it: scoring decides with it, share explains with it.
import { eventOf, type RecordDeclaration, type RecordedEvent } from '../records/record.js';
import {
  engagementLevelsSet,
  ruleCreated,
  rulesActivationChanged,
  rulesetCreated,
  rulesetUpdated,
  type EngagementLevelsSet,
  type RuleCreated,
  type RulesActivationChanged,
  type RulesetCreated,
  type RulesetUpdated,
} from '../records/scoring.js';
import type { EngagementLevel, Rule, Ruleset } from '../routes/scoring-configuration.js';
import { filterLabel } from './filters.js';

export type ConfigurationEvent =
  | { type: 'RulesetCreated'; payload: RulesetCreated }
  | { type: 'RulesetUpdated'; payload: RulesetUpdated }
  | { type: 'RuleCreated'; payload: RuleCreated }
  | { type: 'RulesActivationChanged'; payload: RulesActivationChanged }
  | { type: 'EngagementLevelsSet'; payload: EngagementLevelsSet };

/** How each configuration event is declared on the log. */
export const configurationRecords: {
  readonly [Type in ConfigurationEvent['type']]: RecordDeclaration<Type>;
} = {
  RulesetCreated: rulesetCreated,
  RulesetUpdated: rulesetUpdated,
  RuleCreated: ruleCreated,
  RulesActivationChanged: rulesActivationChanged,
  EngagementLevelsSet: engagementLevelsSet,
};

/** The configuration event that a record is; null for any other record. */
export function configurationEventOf(record: RecordedEvent): ConfigurationEvent | null {
  return eventOf<ConfigurationEvent>(configurationRecords, record);
}

/** Rulesets and rules in the order in which they were made, levels in that in which they were set. */
export interface ScoringConfiguration {
  readonly ou_id: string;
  /** Grows with every change; 0 before the first. */
  readonly version: number;
  readonly rulesets: ReadonlyMap<string, Ruleset>;
  readonly rules: ReadonlyMap<string, Rule>;
  readonly levels: readonly EngagementLevel[];
  /** By rule, the oldest first: what its versions were called before it was called what it is now. */
  readonly former: ReadonlyMap<string, readonly FormerRule[]>;
}

/** What a rule is called: the words that an explanation has for it. */
export type RuleWords = Pick<Rule, 'event_type' | 'label' | 'filter_label'>;

/** The words of a rule's versions up to this one, inclusive. */
export interface FormerRule extends RuleWords {
  up_to: number;
}

export function emptyConfiguration(ouId: string): ScoringConfiguration {
  return { ou_id: ouId, version: 0, rulesets: new Map(), rules: new Map(), levels: [], former: new Map() };
}

/** What a configuration holds, as one JSON text to store. Comes back from `unpackConfiguration`. */
export function packConfiguration({ rulesets, rules, levels, former }: ScoringConfiguration): string {
  return JSON.stringify({
    rulesets: [...rulesets.values()],
    rules: [...rules.values()],
    levels,
    ...(former.size > 0 && { former: [...former] }),
  });
}

/** The configuration that `packConfiguration` made a text of. */
export function unpackConfiguration(
  identity: Pick<ScoringConfiguration, 'ou_id' | 'version'>,
  text: string,
): ScoringConfiguration {
  // What was stored before there were levels has none.
  const {
    rulesets,
    rules,
    levels = [],
    former = [],
  } = JSON.parse(text) as {
    rulesets: Ruleset[];
    rules: Rule[];
    levels?: EngagementLevel[];
    former?: [string, FormerRule[]][];
  };
  return {
    ...identity,
    rulesets: new Map(rulesets.map((ruleset) => [ruleset.id, ruleset])),
    rules: new Map(rules.map((rule) => [rule.id, rule])),
    levels,
    former: new Map(former),
  };
}

/** Folds a configuration event, purely: the state before is left as it was. */
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
      return { ...withRules(configuration, [createdRule(event.payload)]), version };
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
  }
}

/** Former words of a rule that are kept; versions before the oldest of them are called what that one was. */
const maximumFormer = 20;

/** The configuration with rules that are new, or as they are from now on; what they were called before is kept. */
export function withRules(
  configuration: ScoringConfiguration,
  changed: readonly Rule[],
): ScoringConfiguration {
  const rules = new Map(configuration.rules);
  let { former } = configuration;
  for (const rule of changed) {
    const known = rules.get(rule.id);
    if (known && !isCalledTheSame(known, rule)) {
      const added = { up_to: known.version, ...wordsOf(known) };
      former = new Map(former).set(rule.id, [...(former.get(rule.id) ?? []), added].slice(-maximumFormer));
    }
    rules.set(rule.id, rule);
  }
  return { ...configuration, rules, former };
}

/** What a rule was called in a version of it; undefined where nothing is known of the rule. */
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

function isCalledTheSame(one: Rule, other: Rule): boolean {
  return (
    one.event_type === other.event_type &&
    one.label === other.label &&
    one.filter_label === other.filter_label
  );
}

function createdRule(payload: RuleCreated): Rule {
  const { rule_id, ruleset_id, event_type, weight, label, icon, starts_at, ends_at } = payload;
  const filter_label = shortened(filterLabel(payload.attribute_filters));
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

/** Filters with lists of very many long values make sentences that nobody reads to the end. */
const maximumLabel = 50_000;
/** Of a rule that is called otherwise now. */
const maximumFormerLabel = 1_000;

function shortened(label: string | undefined): string | undefined {
  if (label === undefined || label.length <= maximumLabel) return label;
  return `${label.slice(0, maximumLabel - 1).toWellFormed()}…`;
}
