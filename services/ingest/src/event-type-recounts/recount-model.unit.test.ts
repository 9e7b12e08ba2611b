// A recount of the log up to a mark, with the changes of counts since the mark, equals a fresh count of everything: on random histories.
import { expect, test } from '@jest/globals';
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { EventTypeFold, recounted, type EventTypeShare } from '../event-types/fold.js';
import { ouId } from '../testing/builders.js';
import { DeletedHistory, difference, FreshCount, isInGroup, noEvents } from './recount-model.js';

type Happening =
  | {
      readonly is: 'event';
      readonly lead: string;
      readonly type: string;
      readonly hour: number;
      readonly key: string;
    }
  | { readonly is: 'lead deleted'; readonly lead: string }
  | { readonly is: 'type deleted'; readonly type: string };

const lead = fc.constantFrom('ada', 'bob', 'cyd');
const type = fc.constantFrom('Page View', 'page_view', 'Form Submit');
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constant('event' as const),
      lead,
      type,
      hour: fc.nat(9),
      key: fc.constantFrom('path', 'note', 'x'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('lead deleted' as const), lead }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('type deleted' as const), type }) },
);

type Event = Extract<Happening, { is: 'event' }>;
const eventOf = ({ type: event_type, hour, key }: Event) => ({
  id: ouId,
  event_type,
  timestamp: `2026-01-01T0${String(hour)}:00:00.000Z`,
  metadata: { [key]: hour % 2 === 0 ? hour : 'text' },
});

/** The shares of a partition as live folds keep them. */
class Live {
  readonly shares = new Map<string, EventTypeShare>();
  from: number | null = null;
  readonly #events: Event[] = [];

  private change(key: string, change: (fold: EventTypeFold) => void): void {
    const fold = new EventTypeFold(ouId, key, this.shares.get(key) ?? null);
    fold.countSince(this.from);
    change(fold);
    this.shares.set(key, fold.share());
  }

  take(one: Happening): void {
    if (one.is === 'event') {
      this.#events.push(one);
      this.change(eventTypeKey(one.type), (fold) => {
        fold.add(eventOf(one));
      });
    } else if (one.is === 'type deleted') {
      const key = eventTypeKey(one.type);
      this.remove((event) => eventTypeKey(event.type) === key);
      this.change(key, (fold) => {
        fold.clear();
      });
    } else {
      const gone = this.remove((event) => event.lead === one.lead);
      for (const key of new Set(gone.map((event) => eventTypeKey(event.type)))) {
        const ofType = new EventTypeFold(ouId, key, null);
        for (const event of gone) if (eventTypeKey(event.type) === key) ofType.add(eventOf(event));
        this.change(key, (fold) => {
          fold.subtract(ofType.share());
        });
      }
    }
  }

  /** Takes events out of those that are there. */
  private remove(isGone: (event: Event) => boolean): Event[] {
    const gone = this.#events.filter(isGone);
    for (const event of gone) this.#events.splice(this.#events.indexOf(event), 1);
    return gone;
  }
}

const ingested = (event: Event) =>
  ({ lead_id: event.lead, events: [eventOf(event)], aliases: [] }) as unknown as records.EventsIngested;

function freshCount(history: readonly Happening[]): Map<string, records.RecountedType> {
  const deleted = new DeletedHistory();
  for (const [offset, one] of history.entries())
    if (one.is === 'lead deleted') deleted.deleteLead(one.lead, offset);
    else if (one.is === 'type deleted') deleted.deleteType(one.type, offset);
  const fresh = new FreshCount(ouId, deleted, { group: 0, groups: 1 }, 10, eventTypeKey);
  for (const [offset, one] of history.entries()) if (one.is === 'event') fresh.take(ingested(one), offset);
  return fresh.types();
}

const inAnyOrder = (share: Pick<EventTypeShare, 'count' | 'names' | 'properties'> | undefined) => ({
  count: share?.count ?? 0,
  names: new Map(share?.names ?? []),
  properties: new Map(share?.properties ?? []),
});

const wrong = (key: string): EventTypeShare => ({
  ...{ ou_id: ouId, key, count: 3, names: [['Wrong', 2]], properties: [['nwrong', 7]] },
  ...{ first_seen: '2020-01-01T00:00:00.000Z', last_seen: '2030-01-01T00:00:00.000Z' },
});
const keys = ['page_view', 'form_submit'].map(eventTypeKey);

test('law: whatever was stored, and whatever comes and goes during the recount and after it', () => {
  const part = fc.array(happening, { maxLength: 12 });
  fc.assert(
    fc.property(part, part, part, fc.boolean(), (before, meanwhile, after, isDamaged) => {
      const live = new Live();
      for (const one of before) live.take(one);
      if (isDamaged) for (const key of keys) live.shares.set(key, wrong(key));
      live.from = before.length;
      for (const one of meanwhile) live.take(one);
      const counted = freshCount(before);
      for (const key of keys) {
        const stored = live.shares.get(key) ?? { ou_id: ouId, ...noEvents(key) };
        const fresh = recounted(stored, counted.get(key) ?? noEvents(key), before.length);
        // The same again, as after a step that is taken twice.
        expect(recounted(fresh, counted.get(key) ?? noEvents(key), before.length)).toEqual(fresh);
        expect(difference(fresh, counted.get(key) ?? noEvents(key), before.length)).toBeNull();
        live.shares.set(key, fresh);
      }
      live.from = null;
      for (const one of after) live.take(one);
      const expected = freshCount([...before, ...meanwhile, ...after]);
      for (const key of keys) {
        expect(inAnyOrder(live.shares.get(key))).toEqual(inAnyOrder(expected.get(key)));
        const isOnlyAdded = [...meanwhile, ...after].every(({ is }) => is === 'event');
        if (isOnlyAdded)
          expect(live.shares.get(key)).toMatchObject({
            first_seen: expected.get(key)?.first_seen ?? '',
            last_seen: expected.get(key)?.last_seen ?? '',
          });
      }
    }),
  );
});

test('law: every type is in one group', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 50 }), (key, groups) => {
      const found = Array.from({ length: groups }, (_, group) => isInGroup(key, { group, groups }));
      expect(found.filter(Boolean)).toHaveLength(1);
    }),
  );
});
