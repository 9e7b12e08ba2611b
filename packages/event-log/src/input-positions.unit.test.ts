// The input positions in the position header and in the group's offsets.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TopicName } from '@lead-scoring/contracts';
import {
  committedOffsets,
  formatInputPositions,
  furthestPositions,
  isMeaningless,
  parseInputPositions,
  type GroupOffset,
} from './input-positions.js';

describe('the text of input positions', () => {
  test('is a list of topics and offsets', () => {
    const positions = new Map([
      ['ingest.commands', 42n],
      ['scoring.events', 9_007_199_254_740_993n],
    ]);
    expect(formatInputPositions(positions)).toBe('ingest.commands:42,scoring.events:9007199254740993');
  });

  test('is parsed to the positions that it was formatted from', () => {
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

  test('entries of another form are skipped', () => {
    expect(parseInputPositions('')).toEqual(new Map());
    expect(parseInputPositions('a:-1,b,c:x,:5,d:1.5,e:7')).toEqual(new Map([['e', 7n]]));
  });
});

test('committed offsets carry the output’s end as metadata', () => {
  expect(committedOffsets([['in', 5n]], 2, 100n)).toEqual([
    { topic: 'in', partition: 2, offset: 5n, metadata: '100' },
  ]);
});

describe('the next offset of each input', () => {
  const group = (offset?: GroupOffset) => new Map<TopicName, GroupOffset>([['ingest.events', offset ?? {}]]);
  const stated = (position: bigint) => new Map([['ingest.events', position]]);

  test('is the stated position when the group has no offset', () => {
    expect(furthestPositions(group(), stated(7n))).toEqual(stated(7n));
  });

  test('is the higher of both, so that no record is decided twice', () => {
    expect(furthestPositions(group({ position: 5n }), stated(7n))).toEqual(stated(7n));
    expect(furthestPositions(group({ position: 9n, outputEndAtCommit: 3n }), stated(7n))).toEqual(stated(9n));
  });

  test('is absent when neither is known, and positions of other topics are ignored', () => {
    expect(furthestPositions(group(), new Map([['ingest.commands', 4n]]))).toEqual(new Map());
  });
});

test('InputsRead and RecordErased are recognised by their type header, as text or bytes', () => {
  expect(isMeaningless({ headers: { type: 'RecordErased' } })).toBe(true);
  expect(isMeaningless({ headers: { type: 'InputsRead' } })).toBe(true);
  expect(isMeaningless({ headers: { type: Buffer.from('InputsRead') } })).toBe(true);
  expect(isMeaningless({ headers: { type: 'LeadScored' } })).toBe(false);
  expect(isMeaningless({ headers: {} })).toBe(false);
});
