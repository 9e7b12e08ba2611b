// How partition numbers are shared out in a group.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { assignPartitions, type Member } from './assigner.js';

const group = fc.record({
  count: fc.integer({ min: 1, max: 40 }),
  members: fc.uniqueArray(
    fc.record({ id: fc.uuid(), owned: fc.array(fc.integer({ min: -2, max: 45 }), { maxLength: 20 }) }),
    { selector: ({ id }) => id, minLength: 1, maxLength: 12 },
  ),
});

describe('sharing out', () => {
  test('every partition goes to exactly one member, and no member has two more than another', () => {
    fc.assert(
      fc.property(group, ({ count, members }) => {
        const shares = [...assignPartitions(count, members).values()];
        expect(shares.flat().sort((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, number) => number),
        );
        const sizes = shares.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(shares.length).toBe(members.length);
      }),
    );
  });

  test('does not depend on the order in which members are named', () => {
    fc.assert(
      fc.property(group, ({ count, members }) => {
        expect(assignPartitions(count, [...members].reverse())).toEqual(assignPartitions(count, members));
      }),
    );
  });

  test('sharing out again among the same members moves nothing', () => {
    fc.assert(
      fc.property(group, ({ count, members }) => {
        const first = assignPartitions(count, members);
        const again = members.map(({ id }): Member => ({ id, owned: first.get(id) ?? [] }));
        expect(assignPartitions(count, again)).toEqual(first);
      }),
    );
  });

  test('when one joins, the others only give up what it gets', () => {
    fc.assert(
      fc.property(group, fc.uuid(), ({ count, members }, newcomer) => {
        fc.pre(!members.some(({ id }) => id === newcomer));
        const before = assignPartitions(count, members);
        const after = assignPartitions(count, [
          ...members.map(({ id }) => ({ id, owned: before.get(id) ?? [] })),
          { id: newcomer, owned: [] },
        ]);
        for (const { id } of members) {
          expect((after.get(id) ?? []).every((number) => before.get(id)?.includes(number))).toBe(true);
        }
      }),
    );
  });
});
