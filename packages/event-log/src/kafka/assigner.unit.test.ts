// The assignment of partition numbers in a group.
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

describe('the assignment', () => {
  test('gives every partition to exactly one member, and shares differ by at most one', () => {
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

  test('does not depend on the order of the members', () => {
    fc.assert(
      fc.property(group, ({ count, members }) => {
        expect(assignPartitions(count, [...members].reverse())).toEqual(assignPartitions(count, members));
      }),
    );
  });

  test('moves nothing when it is repeated for the same members', () => {
    fc.assert(
      fc.property(group, ({ count, members }) => {
        const first = assignPartitions(count, members);
        const again = members.map(({ id }): Member => ({ id, owned: first.get(id) ?? [] }));
        expect(assignPartitions(count, again)).toEqual(first);
      }),
    );
  });

  test('moves only the partitions of a new member', () => {
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
