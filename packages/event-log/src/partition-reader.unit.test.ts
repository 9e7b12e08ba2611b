// What a fetch answers, as a reader of committed records may see it.
import { expect, test } from '@jest/globals';
import type { FetchedMessage } from './kafka-connection.js';
import { committedRecords } from './partition-reader.js';

function message(
  offset: number,
  options: { producer?: string; transactional?: boolean; marker?: 'commit' | 'abort' } = {},
): FetchedMessage {
  const { producer = '1', transactional = true, marker } = options;
  return {
    offset: String(offset),
    timestamp: '0',
    key: marker ? Buffer.from([0, 0, 0, marker === 'commit' ? 1 : 0]) : Buffer.from([0, 0, 0, 0]),
    value: Buffer.from('x'),
    headers: {},
    isControlRecord: marker !== undefined,
    batchContext: {
      firstOffset: String(offset),
      lastOffsetDelta: 0,
      producerId: producer,
      inTransaction: transactional,
    },
  };
}

const offsets = (fetched: ReturnType<typeof committedRecords>) =>
  fetched.records.map(({ offset }) => Number(offset));

test('markers are not seen, and reading goes on behind them', () => {
  const fetched = committedRecords(
    {
      messages: [message(4), message(5), message(6, { marker: 'commit' })],
      abortedTransactions: [],
      highWatermark: '7',
    },
    4n,
  );
  expect(offsets(fetched)).toEqual([4, 5]);
  expect(fetched.nextOffset).toBe(7n);
  expect(fetched.highWatermark).toBe(7n);
});

test('records of an aborted transaction are not seen, those of others between them are', () => {
  const fetched = committedRecords(
    {
      messages: [
        message(0, { producer: '1' }),
        message(1, { producer: '2' }),
        message(2, { producer: '3', transactional: false }),
        message(3, { producer: '1' }),
        message(4, { producer: '1', marker: 'abort' }),
        message(5, { producer: '2', marker: 'commit' }),
        message(6, { producer: '1' }),
        message(7, { producer: '1', marker: 'commit' }),
      ],
      abortedTransactions: [{ producerId: '1', firstOffset: '0' }],
      highWatermark: '8',
    },
    0n,
  );
  expect(offsets(fetched)).toEqual([1, 2, 6]);
  expect(fetched.nextOffset).toBe(8n);
});

test('two aborted transactions of two producers, named in any order, are both left out', () => {
  const messages = [
    message(0, { producer: '1' }),
    message(1, { producer: '2' }),
    message(2, { producer: '1', marker: 'abort' }),
    message(3, { producer: '2', marker: 'abort' }),
    message(4, { producer: '1' }),
    message(5, { producer: '1', marker: 'commit' }),
  ];
  const aborted = [
    { producerId: '1', firstOffset: '0' },
    { producerId: '2', firstOffset: '1' },
  ];
  for (const abortedTransactions of [aborted, [...aborted].reverse()]) {
    expect(offsets(committedRecords({ messages, abortedTransactions, highWatermark: '6' }, 0n))).toEqual([4]);
  }
});

test('records before the wanted offset, which come with their batch, are not seen', () => {
  expect(
    offsets(
      committedRecords(
        { messages: [message(0), message(1), message(2)], abortedTransactions: null, highWatermark: '3' },
        2n,
      ),
    ),
  ).toEqual([2]);
});

test('nothing new: reading goes on where it was', () => {
  expect(committedRecords({ messages: [], abortedTransactions: [], highWatermark: '3' }, 3n)).toEqual({
    records: [],
    nextOffset: 3n,
    highWatermark: 3n,
  });
});
