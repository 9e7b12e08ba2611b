// Gains of leads: folded from decisions, packed into lists, and summed up.
import { expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import { UuidMap } from '@lead-scoring/read-model';
import { visitPoints, resetsScore, type ScoreDecision } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { idOf, ouId } from '../testing/builders.js';
import { openGainsOf, storedOpenGains } from './documents.js';
import {
  addGains,
  hourOf,
  openEntries,
  openGains,
  keptHours,
  removeGains,
  type GainList,
} from './gain-model.js';
import { GainTally, packGains, unpackGains, withoutLeads } from './packed-gains-model.js';

const timeAt = (hours: number, minutes = 0) =>
  new Date(Date.UTC(2026, 0, 10) + hours * 3_600_000 + minutes * 60_000).toISOString();

/** A decision on events of a lead, each with its time and its points. */
function scored(
  lead: string,
  decidedAt: string,
  events: readonly [timestamp: string, points: number][],
): records.LeadScored {
  return {
    ...{ ou_id: ouId, lead_id: idOf(lead), previous_score: 0, score: 0, configuration_version: 1 },
    ...{ event_count: events.length, fire_triggers: true, aliases: [], decided_at: decidedAt },
    ...{ first_activity_at: decidedAt, last_activity_at: decidedAt },
    scored_events: events.map(([timestamp, points]) => ({
      ...{ event_id: idOf('event'), event_type: 'Page View', timestamp },
      matches: [{ rule_id: idOf('rule'), rule_version: 1, ruleset_id: idOf('ruleset'), points }],
    })),
  };
}

function adjusted(
  lead: string,
  reason: 'reset' | 'decay' | 'profile_rule',
  { points, decided_at, as_of }: { points: number; decided_at: string; as_of?: string },
): records.ScoreAdjusted {
  return {
    ...{ ou_id: ouId, lead_id: idOf(lead), previous_score: 0, score: 0, configuration_version: 1 },
    score_type: reason === 'profile_rule' ? 'profile' : 'engagement',
    adjustments: [{ reason, points }],
    ...{ decided_at, fire_triggers: true, ...(as_of !== undefined && { as_of }) },
  };
}

/** Folds decisions, and restores the open list from what is stored after each. */
function folded(decisions: readonly ScoreDecision[], size?: number) {
  const lists: GainList[] = [];
  let open = openGains();
  for (const decision of decisions) {
    lists.push(...addGains(open, decision, size));
    open = openGainsOf(storedOpenGains(open));
  }
  return { open, lists };
}

function gainsSince(from: number, { open, lists }: ReturnType<typeof folded>) {
  const tally = new GainTally(from);
  tally.add(packGains(openEntries(open)));
  for (const { entries } of lists.toReversed()) tally.add(packGains(entries));
  return Object.fromEntries(tally.largest(1_000).map(({ lead_id, gain }) => [lead_id, gain]));
}

test('a gain is what events gave since the hour, less what faded, and begins anew with a reset: computed by hand', () => {
  const decisions: ScoreDecision[] = [
    // Ada: 10 the day before, then 5 + 20 - 3 = 22.
    scored('ada', timeAt(-23), [[timeAt(-23), 10]]),
    scored('ada', timeAt(1), [
      [timeAt(0, 59), 5],
      [timeAt(1), 20],
    ]),
    adjusted('ada', 'decay', { points: -3, decided_at: timeAt(3), as_of: timeAt(2) }),
    // Bob: 50 before a reset count no more; 7 after it.
    scored('bob', timeAt(2), [[timeAt(2), 50]]),
    adjusted('bob', 'reset', { points: -50, decided_at: timeAt(2, 30) }),
    scored('bob', timeAt(3), [[timeAt(3), 7]]),
    // Cy: an import of today about three days ago, and one event of today.
    scored('cy', timeAt(3), [
      [timeAt(-72), 90],
      [timeAt(2), 4],
    ]),
    // Dee: an event that its producer dates into the future counts when it was decided.
    scored('dee', timeAt(3), [[timeAt(9), 6]]),
    // Eve: lost more than she gained; a profile score is another score.
    scored('eve', timeAt(3), [[timeAt(3), -5]]),
    adjusted('eve', 'profile_rule', { points: 40, decided_at: timeAt(3) }),
    // Fay: a score that was computed anew is no gain.
    {
      ...adjusted('fay', 'decay', { points: 80, decided_at: timeAt(3) }),
      adjustments: [{ reason: 'rescored', points: 80 }],
      rescored: { job_id: idOf('job') },
    },
  ];
  expect(gainsSince(hourOf(timeAt(0)), folded(decisions))).toEqual({
    [idOf('ada')]: 22,
    [idOf('bob')]: 7,
    [idOf('cy')]: 4,
    [idOf('dee')]: 6,
  });
  expect(gainsSince(hourOf(timeAt(-72)), folded(decisions))).toMatchObject({
    [idOf('ada')]: 32,
    [idOf('cy')]: 94,
  });
});

test('the points of a lead in an hour are one entry, and an open list that is full becomes a list', () => {
  const twice = folded(
    [
      scored('ada', timeAt(1), [[timeAt(1, 5), 5]]),
      scored('ada', timeAt(1), [[timeAt(1, 55), 6]]),
      scored('bob', timeAt(1), [[timeAt(1), 1]]),
      scored('cy', timeAt(1), [[timeAt(1), 2]]),
    ],
    2,
  );
  const hour = hourOf(timeAt(1));
  expect(twice.lists).toEqual([
    {
      number: 0,
      hour,
      entries: [
        { lead_id: idOf('ada'), hour: hourOf(timeAt(1)), points: 11 },
        { lead_id: idOf('bob'), hour, points: 1 },
      ],
    },
  ]);
  expect(openEntries(twice.open)).toEqual([{ lead_id: idOf('cy'), hour, points: 2 }]);
  expect(twice.open.lists).toBe(1);
});

test('points from before the kept hours make no entry, and entries that are too old by then do not come into a list', () => {
  const old = folded([scored('ada', timeAt(0), [[timeAt(-keptHours - 1), 5]])]);
  expect(old.open.size).toBe(0);
  expect(storedOpenGains(old.open)).toEqual({});
  const later = folded(
    [
      scored('ada', timeAt(0), [[timeAt(0), 5]]),
      scored('bob', timeAt(keptHours + 1), [[timeAt(keptHours + 1), 5]]),
      scored('cy', timeAt(keptHours + 1), [[timeAt(keptHours + 1), 5]]),
    ],
    2,
  );
  expect(later.lists.map(({ entries }) => entries.map(({ lead_id }) => lead_id))).toEqual([[idOf('bob')]]);
});

test('of many leads the largest gains are found, and of one gain they are in the order of their ids', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -3, max: 12 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      (gains, count) => {
        const hour = hourOf(timeAt(0));
        const all = gains.map((points, index) => ({ lead_id: idOf(`lead ${String(index)}`), hour, points }));
        const tally = new GainTally(hour);
        tally.add(packGains(all));
        const positive = all.filter(({ points }) => points > 0);
        expect(tally.leads).toBe(positive.length);
        expect(tally.largest(count)).toEqual(
          positive
            .sort((a, b) => b.points - a.points || (a.lead_id < b.lead_id ? -1 : 1))
            .slice(0, count)
            .map(({ lead_id, points }) => ({ lead_id, gain: points })),
        );
      },
    ),
  );
});

const leadName = fc.constantFrom('ada', 'bob', 'cy', 'dee', 'eve');
/** A decision that comes some minutes after the one before; its events happened some hours earlier. */
const happening = fc.record({
  lead: leadName,
  minutes: fc.integer({ min: 0, max: 600 }),
  kind: fc.constantFrom('events', 'events', 'events', 'decay', 'reset', 'removal'),
  events: fc.array(fc.tuple(fc.integer({ min: -2, max: 200 }), fc.integer({ min: -9, max: 30 })), {
    minLength: 1,
    maxLength: 4,
  }),
});

type Happening = { readonly at: string; readonly lead: string; readonly decision: ScoreDecision | null };

function happeningsOf(
  all: readonly (typeof happening extends fc.Arbitrary<infer One> ? One : never)[],
): Happening[] {
  let minutes = 0;
  return all.map(({ lead, minutes: more, kind, events }): Happening => {
    minutes += more;
    const at = timeAt(0, minutes);
    const [[ago, points] = [0, 0]] = events;
    const before = (hours: number) => timeAt(-hours, minutes);
    switch (kind) {
      case 'events':
        return {
          at,
          lead,
          decision: scored(
            lead,
            at,
            events.map(([hours, given]) => [before(hours), given]),
          ),
        };
      case 'decay':
        return {
          ...{ at, lead },
          decision: adjusted(lead, 'decay', {
            points: -Math.abs(points),
            decided_at: at,
            as_of: before(Math.max(0, ago)),
          }),
        };
      case 'reset':
        return { at, lead, decision: adjusted(lead, 'reset', { points: 0, decided_at: at }) };
      default:
        return { at, lead, decision: null };
    }
  });
}

test('for any decisions, lists of any size and any range, gains are the sums of the points of the events since then', () => {
  fc.assert(
    fc.property(
      fc.array(happening, { maxLength: 60 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: keptHours }),
      (all, size, hours) => {
        const happenings = happeningsOf(all);
        const now = hourOf(happenings.at(-1)?.at ?? timeAt(0));
        const sums = new Map<string, number>();
        let open = openGains();
        let lists: GainList[] = [];
        for (const { lead, decision } of happenings) {
          const leadId = idOf(lead);
          if (decision === null) {
            removeGains(open, leadId);
            lists = lists.map((list) => ({
              ...list,
              entries: unpackGains(
                withoutLeads(packGains(list.entries), new UuidMap<true>([[leadId, true]])) ??
                  packGains(list.entries),
              ),
            }));
          } else lists.push(...addGains(open, decision, size));
          open = openGainsOf(storedOpenGains(open));
          // The sum without lists: points count unless a later reset or removal took them back.
          if (decision === null || resetsScore(decision)) sums.delete(leadId);
          else
            visitPoints(decision, (points, moment) => {
              if (hourOf(moment) >= now - hours) sums.set(leadId, (sums.get(leadId) ?? 0) + points);
            });
        }
        const gained = [...sums].filter(([, sum]) => sum > 0);
        // Lists are read by their hour, from the first hour on.
        const read = lists.filter(({ hour }) => hour >= now - hours);
        expect(gainsSince(now - hours, { open, lists: read })).toEqual(Object.fromEntries(gained));
        expect(open.size).toBeLessThanOrEqual(size);
        for (const [index, { number, hour, entries }] of lists.entries()) {
          expect(number).toBe(index);
          expect(hour).toBeGreaterThanOrEqual(Math.max(0, ...entries.map((entry) => entry.hour)));
          expect(hour).toBeGreaterThanOrEqual(lists[index - 1]?.hour ?? 0);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('a removed lead leaves no byte in a list', () => {
  const hour = hourOf(timeAt(0));
  const list = packGains([
    { lead_id: idOf('ada'), hour, points: 5 },
    { lead_id: idOf('bob'), hour, points: null },
  ]);
  expect(unpackGains(withoutLeads(list, new UuidMap<true>([[idOf('bob'), true]])) ?? list)).toEqual([
    { lead_id: idOf('ada'), hour, points: 5 },
  ]);
  expect(withoutLeads(list, new UuidMap<true>([[idOf('cy'), true]]))).toBeNull();
});
