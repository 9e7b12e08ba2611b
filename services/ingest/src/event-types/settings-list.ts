// The settings of event types: what lists, settings and uses say of each. Pure.
import { routeDeclarations } from '@lead-scoring/contracts';
import type { EventTypeSettings } from '../event-type-settings/settings-model.js';
import type { EventTypeUse, RuleUser } from '../event-type-uses/use-model.js';
import type { EventType } from './fold.js';

const { namedUses } = routeDeclarations.eventTypeLimits;

type Users = readonly EventTypeUse['user'][];

/** Types that have events, and hidden types. All arguments are by the keys of the types. */
export function settingsOf(
  types: ReadonlyMap<string, EventType>,
  hidden: EventTypeSettings['hidden'],
  uses: ReadonlyMap<string, Users>,
): routeDeclarations.EventTypeSettings[] {
  return [...new Set([...types.keys(), ...hidden.keys()])].map((key) => {
    const users = uses.get(key) ?? [];
    const seen = types.get(key);
    return {
      name: seen?.name ?? hidden.get(key) ?? key,
      hidden: hidden.has(key),
      ou_event_count: seen?.count ?? 0,
      protected: users.length > 0,
      deletable: users.length === 0,
      protected_by: usesIn(users),
    };
  });
}

function usesIn(users: Users): routeDeclarations.EventTypeUses {
  const rules = users.flatMap((user) => (user.kind === 'rule' ? [ruleOf(user)] : []));
  const triggers = users.flatMap((user) => (user.kind === 'rule' ? [] : [user]));
  const named = { rules: rules.slice(0, namedUses), triggers: triggers.slice(0, namedUses) };
  return { ...named, further: users.length - named.rules.length - named.triggers.length };
}

function ruleOf({ id, ruleset_id, label }: RuleUser): routeDeclarations.EventTypeUses['rules'][number] {
  return { id, ruleset_id, ...(label !== undefined && { label }) };
}
