// Folds configuration events, purely: the state before is left as it was.
import { filterLabel, type records } from '@lead-scoring/contracts';
import type { ConfigurationEvent } from './events.js';
import type { Configuration, Rule } from './state.js';

export function evolveConfiguration(configuration: Configuration, event: ConfigurationEvent): Configuration {
  const version = configuration.version + 1;
  switch (event.type) {
    case 'RulesetCreated': {
      const { ruleset_id: id, name, score_type, active, is_default, version: own, at } = event.payload;
      const created = {
        id,
        name,
        score_type,
        active,
        is_default,
        version: own,
        created_at: at,
        updated_at: at,
      };
      return { ...configuration, version, rulesets: new Map(configuration.rulesets).set(id, created) };
    }
    case 'RulesetUpdated': {
      const { ruleset_id: id, name, active, version: own, at } = event.payload;
      const known = configuration.rulesets.get(id);
      if (!known) return { ...configuration, version };
      const updated = { ...known, name, active, version: own, updated_at: at };
      return { ...configuration, version, rulesets: new Map(configuration.rulesets).set(id, updated) };
    }
    case 'RuleCreated': {
      const created = createdRule(event.payload);
      return { ...configuration, version, rules: new Map(configuration.rules).set(created.id, created) };
    }
    case 'RulesActivationChanged': {
      const rules = new Map(configuration.rules);
      for (const { rule_id, version: own } of event.payload.rules) {
        const known = rules.get(rule_id);
        if (known)
          rules.set(rule_id, {
            ...known,
            active: event.payload.active,
            version: own,
            updated_at: event.payload.at,
          });
      }
      return { ...configuration, version, rules };
    }
  }
}

function createdRule(payload: records.RuleCreated): Rule {
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
  };
}

/** Filters with lists of very many long values make sentences that nobody reads to the end. */
const maximumLabel = 50_000;

function shortened(label: string | undefined): string | undefined {
  if (label === undefined || label.length <= maximumLabel) return label;
  return `${label.slice(0, maximumLabel - 1).toWellFormed()}…`;
}
