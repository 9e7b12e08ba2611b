// Statistics of event types are the same for any division of events into batches and partitions.
import { describe, expect, test } from '@jest/globals';
import { eventTypeKey, type JsonObject, type JsonValue } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { aliasOf, ouId } from '../testing/builders.js';
import { EventTypeFold, eventTypeOf, eventTypesOf, type EventTypeShare } from './fold.js';
import { examplesOf, propertiesOf } from './property-model.js';
import { UnitFold, type UnitShare } from './unit-fold.js';

interface Event {
  event_type: string;
  timestamp: string;
  metadata: JsonObject;
}

function fold(events: readonly Event[], before: readonly EventTypeShare[] = []): EventTypeShare[] {
  const folds = new Map(before.map((share) => [share.key, new EventTypeFold(ouId, share.key, share)]));
  for (const event of events) {
    const key = eventTypeKey(event.event_type);
    const open = folds.get(key) ?? new EventTypeFold(ouId, key, null);
    folds.set(key, open);
    open.add({ id: ouId, ...event });
  }
  return [...folds.values()].map((open) => open.share());
}

const typesOf = (shares: readonly EventTypeShare[]) =>
  eventTypesOf(shares.flatMap((share) => eventTypeOf(share) ?? []));
const propertiesIn = (shares: readonly EventTypeShare[], key: string) =>
  propertiesOf(shares.flatMap((share) => (share.key === key ? [share.properties] : [])));

const event = fc.record({
  event_type: fc.constantFrom(
    'Page View',
    'page_view',
    'page view',
    'email_open',
    'Email Open',
    'trial_started',
  ),
  timestamp: fc.constantFrom(
    '2026-01-01T00:00:00.000Z',
    '2026-01-02T00:00:00.000Z',
    '2026-01-03T00:00:00.000Z',
  ),
  metadata: fc.dictionary(
    fc.constantFrom('path', '__proto__', '$where', 'a.b', 'constructor'),
    fc.constantFrom<JsonValue>(1, 'x', null, true, [1], { a: 1 }),
  ),
});
const sorted = (shares: EventTypeShare[]) => [...shares].sort((a, b) => (a.key < b.key ? -1 : 1));

describe('event types', () => {
  test('folding in two batches gives the same as folding in one', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), fc.nat(30), (events, at) => {
        expect(sorted(fold(events.slice(at), fold(events.slice(0, at))))).toEqual(sorted(fold(events)));
      }),
    );
  });

  test('combining the shares of partitions gives the same in any order, and the same as one partition', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), fc.nat(30), (events, at) => {
        const [one, two] = [fold(events.slice(0, at)), fold(events.slice(at))];
        const whole = typesOf(fold(events));
        for (const parts of [
          [...two, ...one],
          [...one, ...two],
        ]) {
          expect(new Map([...typesOf(parts)].sort())).toEqual(new Map([...whole].sort()));
          for (const key of whole.keys())
            expect(propertiesIn(parts, key)).toEqual(propertiesIn(fold(events), key));
        }
      }),
    );
  });

  test('of the spellings of a type, a Title Case name is preferred to a snake_case one', () => {
    const shares = fold([
      { event_type: 'page_view', timestamp: '2026-01-01T00:00:00.000Z', metadata: {} },
      { event_type: 'Page View', timestamp: '2026-01-02T00:00:00.000Z', metadata: { path: '/' } },
    ]);
    expect([...typesOf(shares).values()]).toMatchObject([{ name: 'Page View', count: 2 }]);
    expect(propertiesIn(shares, 'page_view')).toMatchObject([{ name: 'path', events: 1 }]);
  });

  test('at most 2,000 metadata keys of a type are kept', () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 2_500 }, (_, index) => [`k${String(index)}`, 1]),
    );
    const [share] = fold([{ event_type: 'Page View', timestamp: '2026-01-01T00:00:00.000Z', metadata }]);
    expect(share?.properties).toHaveLength(2_000);
  });

  test('a metadata key as long as the metadata of an event is not kept, so that the statistics always fit into a document', () => {
    const [share] = fold([
      {
        event_type: 'Page View',
        timestamp: '2026-01-01T00:00:00.000Z',
        metadata: { ['x'.repeat(201)]: 1, ['y'.repeat(200)]: 1 },
      },
    ]);
    expect(share?.properties).toEqual([[`n${'y'.repeat(200)}`, 1]]);
  });

  test('deleted events leave the names, counts and properties of those that stay', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), fc.array(event, { maxLength: 20 }), (kept, deleted) => {
        const open = new Map(
          fold([...kept, ...deleted]).map((share) => [share.key, new EventTypeFold(ouId, share.key, share)]),
        );
        for (const share of fold(deleted)) open.get(share.key)?.subtract(share);
        const left = [...open.values()].map((one) => one.share());
        const [found, expected] = [typesOf(left), typesOf(fold(kept))];
        expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
        for (const [key, { name, count }] of expected) {
          expect(found.get(key)).toMatchObject({ name, count });
          expect(propertiesIn(left, key)).toEqual(propertiesIn(fold(kept), key));
        }
      }),
    );
  });
});

describe('properties', () => {
  test('a property has the number of its events and the types of its values, the most frequent first', () => {
    const metadata: JsonObject[] = [
      { plan: 'pro' },
      { plan: 'free' },
      { plan: null },
      { plan: { a: 1 }, n: 1 },
    ];
    const shares = fold(
      metadata.map((one) => ({
        event_type: 'Trial Started',
        timestamp: '2026-01-01T00:00:00.000Z',
        metadata: one,
      })),
    );
    expect(propertiesIn(shares, 'trial_started')).toEqual([
      { name: 'n', events: 1, types: ['number'] },
      { name: 'plan', events: 4, types: ['string', 'null', 'object'] },
    ]);
  });

  test('examples are different, at most three of a property, and cut where they are long', () => {
    const long = `${'x'.repeat(99)}\u{1f600}`;
    const examples = examplesOf([
      { plan: 'pro', n: 1, ['__proto__']: 'kept' },
      { plan: 'pro', n: [1, null] },
      { plan: 'free' },
      { plan: long },
      { plan: 'fourth' },
    ]);
    expect(Object.fromEntries(examples)).toEqual(
      Object.fromEntries([
        ['plan', ['pro', 'free', `${'x'.repeat(99)}\ufffd…`]],
        ['n', ['1', '[1,null]']],
        ['__proto__', ['kept']],
      ]),
    );
  });
});

describe('the types that lists show', () => {
  const add = (share: UnitShare | null, keys: readonly string[], listed = 3) => {
    const unit = new UnitFold(ouId, share, listed);
    for (const key of keys) unit.add(key, [aliasOf('a')]);
    return unit;
  };

  test('garbage types beyond the limit are counted and not listed', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `garbage ${String(index)}`);
    expect(add(null, ['page_view', ...keys, 'page_view']).share()).toEqual({
      ou_id: ouId,
      events: 1_002,
      alias_kinds: [['email', 1_002]],
      types: ['page_view', 'garbage 0', 'garbage 1'],
      has_more: true,
    });
  });

  test('a listed type whose last event is deleted makes room for another', () => {
    const unit = add(null, ['a', 'b', 'c', 'd']);
    unit.subtract({ events: 1, alias_kinds: [['email', 1]] }, ['b']);
    const after = add(unit.share(), ['e', 'f']).share();
    expect(after).toMatchObject({ events: 5, types: ['a', 'c', 'e'], has_more: true });
    const empty = add(after, []);
    empty.subtract({ events: 5, alias_kinds: [['email', 5]] }, ['a', 'c', 'e']);
    expect(empty.share()).toEqual({ ou_id: ouId, events: 0, alias_kinds: [], types: [], has_more: false });
  });

  test('folding in two batches gives the same as folding in one', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e')), fc.nat(30), (keys, at) => {
        expect(add(add(null, keys.slice(0, at)).share(), keys.slice(at)).share()).toEqual(
          add(null, keys).share(),
        );
      }),
    );
  });
});

test('after a recount, types that lists had left out take the place of those that are gone', () => {
  const unit = new UnitFold(ouId, null, 1);
  const aliases = [aliasOf('ada')];
  unit.add('first', aliases);
  unit.add('second', aliases);
  unit.subtract({ events: 1, alias_kinds: [['email', 1]] }, ['first']);
  expect(unit.share()).toMatchObject({ events: 1, types: [], has_more: true });
  unit.beginRecount('a recount', 7);
  unit.add('second', aliases);
  const counted = {
    events: 1,
    alias_kinds: [['email', 1] as [string, number]],
    types: ['second'],
    has_more: false,
  };
  unit.endRecount(counted, new Map([['second', 2]]));
  expect(unit.share()).toEqual({
    ...{ ou_id: ouId, events: 2, types: ['second'], has_more: false },
    alias_kinds: [['email', 2]],
  });
});
