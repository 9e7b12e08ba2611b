// What a header says of the inputs, and what the group's offsets say.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { committedOffsets, formatInputPositions, parseInputPositions } from './input-positions.js';

describe('how far the inputs are read, as text', () => {
  test('is a list of topics and offsets', () => {
    const positions = new Map([
      ['ingest.commands', 42n],
      ['scoring.events', 9_007_199_254_740_993n],
    ]);
    expect(formatInputPositions(positions)).toBe('ingest.commands:42,scoring.events:9007199254740993');
  });

  test('is read as it was written', () => {
    const topic = fc.stringMatching(/^[a-z.-]{1,20}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(topic, fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })), {
          selector: ([name]) => name,
        }),
        (entries) => {
          const positions = new Map(entries);
          expect(parseInputPositions(formatInputPositions(positions))).toEqual(positions);
        },
      ),
    );
  });

  test('what somebody else wrote is passed over', () => {
    expect(parseInputPositions('')).toEqual(new Map());
    expect(parseInputPositions('a:-1,b,c:x,:5,d:1.5,e:7')).toEqual(new Map([['e', 7n]]));
  });
});

test('a group’s offsets say where in the output later positions are', () => {
  expect(committedOffsets([['in', 5n]], 2, 100n)).toEqual([
    { topic: 'in', partition: 2, offset: 5n, metadata: '100' },
  ]);
});
