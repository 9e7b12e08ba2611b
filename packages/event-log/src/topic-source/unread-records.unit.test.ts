// Counts of unread events: what is read counts no more, in any order of looks.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UnreadRecords } from './unread-records.js';

test('what is before the reader’s next offset is read', () => {
  const unread = new UnreadRecords();
  unread.add(0, 10n, 5);
  unread.add(0, 11n, 7);
  unread.add(3, 10n, 1);
  unread.readUpTo(0, 11n);
  expect(unread.events).toBe(8);
  unread.readUpTo(3, -1n);
  unread.readUpTo(9, 100n);
  expect(unread.events).toBe(8);
  unread.readUpTo(0, 12n);
  unread.readUpTo(3, 11n);
  expect(unread.events).toBe(0);
});

test('the count is the sum of what no look has passed', () => {
  const step = fc.record({
    partition: fc.integer({ min: 0, max: 2 }),
    events: fc.integer({ min: 1, max: 9 }),
    isRead: fc.boolean(),
    offset: fc.integer({ min: -1, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const unread = new UnreadRecords();
      let model: { partition: number; offset: number; events: number }[] = [];
      steps.forEach(({ partition, events, isRead, offset }, written) => {
        if (isRead) {
          unread.readUpTo(partition, BigInt(offset));
          model = model.filter((one) => one.partition !== partition || one.offset >= offset);
        } else {
          unread.add(partition, BigInt(written), events);
          model.push({ partition, offset: written, events });
        }
        expect(unread.events).toBe(model.reduce((sum, one) => sum + one.events, 0));
      });
    }),
  );
});
