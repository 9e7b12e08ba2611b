// The answer of GET /usage is the counts that it is made of, and nothing is lost between its parts.
import { describe, expect, test } from '@jest/globals';
import { usagePeriodsOf, usageTimeOf } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { idOf } from '../testing/builders.js';
import { usageOf, type Counts } from './usage-model.js';

const hourMs = 3_600_000;
const start = Date.parse('2026-03-01T00:00:00.000Z');
const time = usageTimeOf('hour', start, start + 48 * hourMs);
const period = fc.nat(47).map((hour) => start + hour * hourMs);
const credential = fc.constantFrom('token:one', 'service_account:two', 'member:three');
const n = fc.nat(1_000);
const counts: fc.Arbitrary<Counts> = fc.record({
  calls: fc.array(
    fc.record({ period, credential, group: fc.constantFrom('Leads', 'Share links'), calls: n }),
  ),
  events: fc.array(
    fc.record({ period, ou_id: fc.constant(idOf('ou')), sent_by: credential, events: n, repeats: n }),
  ),
  notifications: fc.array(
    fc.record({
      period,
      ou_id: fc.constant(idOf('ou')),
      channel_id: fc.constant(idOf('channel')),
      delivered: n,
    }),
  ),
});
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

describe('usage', () => {
  test('totals, periods and rows say the same; the periods have no gaps', () => {
    fc.assert(
      fc.property(counts, (given) => {
        const usage = usageOf(time, given, new Map([['token:one', 'One']]));
        expect(usage.periods.map(({ starts_at }) => Date.parse(starts_at))).toEqual(usagePeriodsOf(time));
        const rows = {
          calls: sum(usage.calls.map(({ calls }) => calls)),
          events: sum(usage.events.map(({ events }) => events)),
          repeats: sum(usage.events.map(({ repeats }) => repeats)),
          notifications: sum(usage.notifications.map(({ delivered }) => delivered)),
        };
        expect(usage.totals).toEqual(rows);
        expect(sum(usage.periods.map(({ calls }) => calls))).toBe(rows.calls);
        expect(sum(usage.periods.map(({ events }) => events))).toBe(rows.events);
        expect(rows.calls).toBe(sum(given.calls.map(({ calls }) => calls)));
        expect(usage.calls).toHaveLength(given.calls.length);
        for (const { credential: of } of usage.calls)
          expect(of.name).toBe(of.kind === 'token' ? 'One' : null);
      }),
    );
  });
});
