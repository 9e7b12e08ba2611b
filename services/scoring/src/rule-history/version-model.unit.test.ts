// The versions of a rule, computed from random changes of a configuration.
import { describe, expect, test } from '@jest/globals';
import { routeDeclarations } from '@lead-scoring/contracts';
import {
  type ConfigurationEvent,
  emptyConfiguration,
  evolveConfiguration,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import {
  at,
  createRule,
  createRuleset,
  deleteRule,
  idOf,
  ouId,
  setRulesActive,
  updateRule,
} from '../testing/builders.js';
import { aboutRule, rulesOf, versionsOf } from './version-model.js';

const later = '2026-02-01T00:00:00.000Z';
const actor = { kind: 'token', id: idOf('token'), name: 'Ada' } as const;

function eventsOf(commands: readonly ConfigurationCommand[]): ConfigurationEvent[] {
  let state = emptyConfiguration(ouId);
  return commands.flatMap((command) => {
    const decision = decideConfiguration(command, state);
    if (decision.outcome === 'rejected') return [];
    state = decision.events.reduce(evolveConfiguration, state);
    return decision.events;
  });
}

/** The events about a rule, as the history keeps them. */
const about = (events: readonly ConfigurationEvent[], id: string) =>
  events.filter((event) => rulesOf(event).includes(id)).map((event) => aboutRule(event, id));

const historyOf = (name: string, ...commands: ConfigurationCommand[]) =>
  versionsOf(about(eventsOf(commands), idOf(name)), idOf(name));

describe('each version says who changed the rule, when, and what', () => {
  const history = historyOf(
    'a',
    createRuleset('Intent'),
    createRule('a', { ruleset_id: idOf('Intent'), label: 'One' }),
    createRule('b'),
    updateRule('a', { weight: 3, label: null, requested_at: later, actor }),
    updateRule('b', { weight: 5 }),
    setRulesActive(['a', 'b'], false),
    deleteRule('a', { requested_at: later }),
  );

  test('from creation to deletion, in the form that the route declares', () => {
    expect(history).toEqual([
      {
        version: 1,
        change: 'created',
        changed_at: at,
        fields: [
          { field: 'ruleset_id', before: null, after: idOf('Intent') },
          { field: 'event_type', before: null, after: 'Page View' },
          { field: 'weight', before: null, after: 10 },
          { field: 'label', before: null, after: 'One' },
          { field: 'attribute_filters', before: null, after: [] },
          { field: 'active', before: null, after: true },
        ],
      },
      {
        version: 2,
        change: 'changed',
        changed_at: later,
        changed_by: actor,
        fields: [
          { field: 'weight', before: 10, after: 3 },
          { field: 'label', before: 'One', after: null },
        ],
      },
      {
        version: 3,
        change: 'changed',
        changed_at: at,
        fields: [{ field: 'active', before: true, after: false }],
      },
      {
        version: 4,
        change: 'deleted',
        changed_at: later,
        fields: [
          { field: 'ruleset_id', before: idOf('Intent'), after: null },
          { field: 'event_type', before: 'Page View', after: null },
          { field: 'weight', before: 3, after: null },
          { field: 'attribute_filters', before: [], after: null },
          { field: 'active', before: false, after: null },
        ],
      },
    ]);
    // What the rule has moved since is added when the history is read.
    const change = routeDeclarations.ruleVersion.omit({ leads_moved: true, leads_moved_is_estimate: true });
    for (const version of history) expect(change.safeParse(version).error).toBeUndefined();
  });

  test('a rule that never was has no version', () => {
    expect(historyOf('other', createRule('a'))).toEqual([]);
  });
});

const names = fc.constantFrom('a', 'b');
const command = fc.oneof(
  names.map((name) => createRule(name)),
  fc
    .record({ name: names, weight: fc.integer({ min: 1, max: 3 }) })
    .map(({ name, weight }) => updateRule(name, { weight })),
  fc
    .record({ name: names, label: fc.constantFrom(null, 'One', 'Two') })
    .map(({ name, label }) => updateRule(name, { label })),
  fc
    .record({ active: fc.boolean(), which: fc.subarray(['a', 'b']) })
    .map(({ active, which }) => setRulesActive(which, active)),
  names.map((name) => deleteRule(name)),
);

test('versions are numbered without a gap, and their changes add up to the rule', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      const events = eventsOf(commands);
      const rule = events.reduce(evolveConfiguration, emptyConfiguration(ouId)).rules.get(idOf('a'));
      const kept = about(events, idOf('a'));
      for (const event of kept) expect(rulesOf(event)).toEqual([idOf('a')]);
      const versions = versionsOf(kept, idOf('a'));
      expect(versions.map(({ version }) => version)).toEqual(versions.map((_, index) => index + 1));
      const content = new Map<string, unknown>();
      for (const { fields } of versions) {
        expect(fields.length).toBeGreaterThan(0);
        for (const { field, before, after } of fields) {
          expect(content.get(field) ?? null).toEqual(before);
          content.set(field, after);
        }
      }
      const left = [...content].filter(([, value]) => value !== null);
      expect(rule ? expect.objectContaining(Object.fromEntries(left)) : left).toEqual(rule ?? []);
      expect(rule?.version ?? versions.length).toBe(versions.length);
    }),
    { numRuns: 500 },
  );
});
