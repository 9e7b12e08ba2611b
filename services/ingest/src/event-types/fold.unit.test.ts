// Statistics of event types are the same for any division of events into batches and partitions.
import { describe, expect, test } from '@jest/globals';
import { eventTypeKey, type JsonObject } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { aliasOf, ouId } from '../testing/builders.js';
import { EventTypeFold, eventTypesOf, type EventTypeShare } from './fold.js';

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
    open.add({ id: ouId, ...event }, [aliasOf('a')]);
  }
  return [...folds.values()].map((open) => open.share());
}

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
    fc.constant(1),
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

  test('combining the shares of partitions gives the same in any order', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), fc.nat(30), (events, at) => {
        const [one, two] = [fold(events.slice(0, at)), fold(events.slice(at))];
        expect(eventTypesOf([...two, ...one])).toEqual(eventTypesOf([...one, ...two]));
        const whole = eventTypesOf(fold(events));
        for (const [key, { name, count, properties }] of eventTypesOf([...one, ...two]))
          expect({ name, count, properties }).toEqual({
            name: whole.get(key)?.name,
            count: whole.get(key)?.count,
            properties: whole.get(key)?.properties,
          });
      }),
    );
  });

  test('of the spellings of a type, a Title Case name is preferred to a snake_case one', () => {
    const types = eventTypesOf(
      fold([
        { event_type: 'page_view', timestamp: '2026-01-01T00:00:00.000Z', metadata: {} },
        { event_type: 'Page View', timestamp: '2026-01-02T00:00:00.000Z', metadata: { path: '/' } },
      ]),
    );
    expect([...types.values()]).toMatchObject([{ name: 'Page View', count: 2, properties: ['path'] }]);
  });

  test('at most 2,000 metadata keys of a type are kept', () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 2_500 }, (_, index) => [`k${String(index)}`, 1]),
    );
    const [share] = fold([{ event_type: 'Page View', timestamp: '2026-01-01T00:00:00.000Z', metadata }]);
    expect(share?.properties).toHaveLength(2_000);
  });
});
