// Which event types an organizational unit hides, and what protects them.
import { expect, test } from '@jest/globals';
import { routeDeclarations, type records } from '@lead-scoring/contracts';
import { ouId, receivedAt } from '../testing/builders.js';
import { settingsOf } from '../event-types/settings-list.js';
import { useOfRule, useOfTrigger, type EventTypeUse } from '../event-type-uses/use-model.js';
import { decideSettings, evolveSettings, noSettings, type EventTypeSettings } from './settings-model.js';

const actor = { kind: 'token', id: 't' } as const;
const put = (event_type: string, hidden: boolean) => ({
  type: 'SetEventTypeHidden' as const,
  payload: { ou_id: ouId, event_type, hidden, requested_at: receivedAt, actor },
});

function after(commands: readonly ReturnType<typeof put>[], from = noSettings(ouId)): EventTypeSettings {
  return commands.reduce((settings, command) => {
    const decision = decideSettings(command, settings);
    return decision.outcome === 'done' ? decision.events.reduce(evolveSettings, settings) : settings;
  }, from);
}

test('hiding a type records who hid it, and hiding it again in either spelling records nothing', () => {
  expect(decideSettings(put('Page View', true), noSettings(ouId))).toEqual({
    outcome: 'done',
    events: [
      {
        type: 'EventTypeVisibilityChanged',
        payload: { ou_id: ouId, event_type: 'Page View', hidden: true, at: receivedAt, actor },
      },
    ],
  });
  const hidden = after([put('Page View', true)]);
  expect(decideSettings(put('page_view', true), hidden)).toEqual({ outcome: 'done', events: [] });
  expect(after([put('page_view', false)], hidden)).toEqual(noSettings(ouId));
  expect(decideSettings(put('page_view', false), noSettings(ouId))).toEqual({ outcome: 'done', events: [] });
});

test('an organizational unit hides a limited number of types, and may always show one', () => {
  const { maximumHiddenTypes } = routeDeclarations;
  const full = after(
    Array.from({ length: maximumHiddenTypes }, (_, index) => put(`Garbage ${String(index)}`, true)),
  );
  expect(decideSettings(put('One More', true), full)).toMatchObject({
    outcome: 'rejected',
    code: 'limit_reached',
  });
  expect(after([put('Garbage 0', false), put('One More', true)], full).hidden.size).toBe(maximumHiddenTypes);
});

const rule = (event_type: string, more: Partial<records.RuleCreated> = {}): records.RuleCreated => ({
  ou_id: ouId,
  rule_id: 'r1',
  ruleset_id: 's1',
  event_type,
  weight: 5,
  attribute_filters: [],
  active: true,
  version: 1,
  at: receivedAt,
  ...more,
});

const common = { name: 'Hot', channel_ids: [], active: false };
const milestone: records.TriggerDefinition = {
  kind: 'milestone',
  ...common,
  score_type: 'engagement',
  score_threshold: 50,
  direction: 'up',
  rearm: { cooldown_seconds: 0 },
};
const surge = {
  kind: 'surge',
  ...common,
  score_type: 'engagement',
  threshold: 5,
  window_seconds: 60,
  cooldown_seconds: 60,
} as const;
const sequence: records.TriggerDefinition = {
  kind: 'sequence',
  ...common,
  steps: ['Page View', 'Trial Started', 'page_view'].map((event_type) => ({
    event_type,
    attribute_filters: [],
  })),
  ordered: true,
  window_seconds: 60,
  cooldown_seconds: 0,
};

test('triggers protect the types that they name, each once; a trigger for all types protects none', () => {
  const typesOf = (definition: records.TriggerDefinition) =>
    useOfTrigger({ trigger_id: 't1', definition })?.types;
  expect(typesOf(sequence)).toEqual(['page_view', 'trial_started']);
  expect(typesOf({ ...milestone, event_type: 'Page View' })).toEqual(['page_view']);
  expect(typesOf(milestone)).toBeUndefined();
  expect(typesOf({ ...surge, event_type: 'page-view' })).toEqual(['page_view']);
  expect(typesOf({ ...surge, event_type: null })).toBeUndefined();
});

test('a rule protects its type in every spelling, also while it is inactive', () => {
  expect(useOfRule(rule('page_view', { active: false, label: 'Views' }))).toEqual({
    user: { kind: 'rule', id: 'r1', ruleset_id: 's1', label: 'Views' },
    types: ['page_view'],
  });
  expect(useOfRule(rule('Page View')).types).toEqual(['page_view']);
});

test('the settings list types with events and hidden types, with what protects each, and names so many uses and counts the others', () => {
  const { namedUses } = routeDeclarations.eventTypeLimits;
  const type = (key: string, name: string, count: number) =>
    [key, { key, name, count, first_seen: receivedAt, last_seen: receivedAt }] as const;
  const rules = Array.from({ length: namedUses + 2 }, (_, index): EventTypeUse['user'] => ({
    kind: 'rule',
    id: `r${String(index)}`,
    ruleset_id: 's1',
  }));
  const trigger = { kind: 'surge', id: 't1', name: 'Rush' } as const;
  const settings = settingsOf(
    new Map([type('page_view', 'Page View', 3), type('email_open', 'Email Open', 1)]),
    new Map([
      ['email_open', 'email_open'],
      ['old_thing', 'Old Thing'],
    ]),
    new Map([
      ['page_view', [...rules, trigger]],
      ['never_seen', [trigger]],
    ]),
  );
  const free = { protected: false, deletable: true, protected_by: { rules: [], triggers: [], further: 0 } };
  expect(settings).toEqual([
    {
      name: 'Page View',
      hidden: false,
      ou_event_count: 3,
      protected: true,
      deletable: false,
      protected_by: {
        rules: rules.slice(0, namedUses).map(({ id }) => ({ id, ruleset_id: 's1' })),
        triggers: [trigger],
        further: 2,
      },
    },
    { name: 'Email Open', hidden: true, ou_event_count: 1, ...free },
    { name: 'Old Thing', hidden: true, ou_event_count: 0, ...free },
  ]);
});
