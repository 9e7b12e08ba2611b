// The records of a fetch that a reader of committed records gets.
import { describe, expect, test } from '@jest/globals';
import type { FetchedPartition } from './broker.js';
import type { KafkaConnection } from './kafka-connection.js';
import { protocolError } from './kafka-errors.js';
import { committedRecords, readUntil, type FetchResult } from './partition-reader.js';
import type { FetchedBatch } from './record-batch.js';

function batchAt(
  offset: number,
  options: { producer?: string; transactional?: boolean; marker?: 'commit' | 'abort' } = {},
): FetchedBatch {
  const { producer = '1', transactional = true, marker } = options;
  return {
    firstOffset: BigInt(offset),
    lastOffset: BigInt(offset),
    producerId: BigInt(producer),
    producerEpoch: 3,
    inTransaction: transactional,
    isControl: marker !== undefined,
    records: [
      {
        offset: BigInt(offset),
        timestamp: 0,
        key: marker ? Buffer.from([0, 0, 0, marker === 'commit' ? 1 : 0]) : Buffer.from([0, 0, 0, 0]),
        value: Buffer.from('x'),
        headers: {},
      },
    ],
  };
}

const offsets = (fetched: ReturnType<typeof committedRecords>) =>
  fetched.records.map(({ offset }) => Number(offset));

test('control markers are not returned, and reading continues after them', () => {
  const fetched = committedRecords(
    {
      batches: [batchAt(4), batchAt(5), batchAt(6, { marker: 'commit' })],
      abortedTransactions: [],
      highWatermark: 7n,
      lastStableOffset: 7n,
    },
    4n,
  );
  expect(offsets(fetched)).toEqual([4, 5]);
  expect(fetched.nextOffset).toBe(7n);
  expect(fetched.highWatermark).toBe(7n);
});

test('records of an aborted transaction are not returned, those of others between them are', () => {
  const fetched = committedRecords(
    {
      batches: [
        batchAt(0, { producer: '1' }),
        batchAt(1, { producer: '2' }),
        batchAt(2, { producer: '3', transactional: false }),
        batchAt(3, { producer: '1' }),
        batchAt(4, { producer: '1', marker: 'abort' }),
        batchAt(5, { producer: '2', marker: 'commit' }),
        batchAt(6, { producer: '1' }),
        batchAt(7, { producer: '1', marker: 'commit' }),
      ],
      abortedTransactions: [{ producerId: 1n, firstOffset: 0n }],
      highWatermark: 8n,
      lastStableOffset: 8n,
    },
    0n,
  );
  expect(offsets(fetched)).toEqual([1, 2, 6]);
  expect(fetched.nextOffset).toBe(8n);
});

test('two aborted transactions of two producers, listed in any order, are both left out', () => {
  const batches = [
    batchAt(0, { producer: '1' }),
    batchAt(1, { producer: '2' }),
    batchAt(2, { producer: '1', marker: 'abort' }),
    batchAt(3, { producer: '2', marker: 'abort' }),
    batchAt(4, { producer: '1' }),
    batchAt(5, { producer: '1', marker: 'commit' }),
  ];
  const aborted = [
    { producerId: 1n, firstOffset: 0n },
    { producerId: 2n, firstOffset: 1n },
  ];
  for (const abortedTransactions of [aborted, [...aborted].reverse()]) {
    expect(
      offsets(
        committedRecords({ batches, abortedTransactions, highWatermark: 6n, lastStableOffset: 6n }, 0n),
      ),
    ).toEqual([4]);
  }
});

test('records of a batch before the wanted offset are not returned', () => {
  expect(
    offsets(
      committedRecords(
        {
          batches: [batchAt(0), batchAt(1), batchAt(2)],
          abortedTransactions: [],
          highWatermark: 3n,
          lastStableOffset: 3n,
        },
        2n,
      ),
    ),
  ).toEqual([2]);
});

test('an answer without records does not change the position', () => {
  expect(
    committedRecords({ batches: [], abortedTransactions: [], highWatermark: 3n, lastStableOffset: 3n }, 3n),
  ).toEqual({
    records: [],
    nextOffset: 3n,
    highWatermark: 3n,
    stableEnd: 3n,
  });
});

test('a batch whose records were all compacted away is skipped', () => {
  const empty = { ...batchAt(3), lastOffset: 5n, records: [] };
  const fetched = committedRecords(
    { batches: [empty], abortedTransactions: [], highWatermark: 9n, lastStableOffset: 9n },
    3n,
  );
  expect(offsets(fetched)).toEqual([]);
  expect(fetched.nextOffset).toBe(6n);
});

describe('reading until an end', () => {
  /** A leader with these consecutive answers: batches, an error, or no records. */
  function leaderOf(...answers: (FetchedBatch[] | string)[]): KafkaConnection {
    const fetch = () => {
      const [next = []] = answers.splice(0, 1);
      if (typeof next === 'string') return Promise.reject(protocolError(next, next));
      const end = (next.at(-1)?.lastOffset ?? 3n) + 1n;
      const partition: FetchedPartition = {
        partition: 0,
        errorCode: 0,
        highWatermark: end,
        lastStableOffset: end,
        abortedTransactions: [],
        batches: next,
      };
      return Promise.resolve({ responses: [{ topicName: 'out', partitions: [partition] }] });
    };
    return {
      leader: () => Promise.resolve({ fetch }),
      offset: () => Promise.resolve(0n),
      refresh: () => Promise.resolve(),
    } as unknown as KafkaConnection;
  }
  const from = { topic: 'out', partition: 0, from: 4n };
  /** Reads from offset 4 to an end. */
  async function read(
    connection: KafkaConnection,
    end: bigint,
  ): Promise<{ offsets: number[]; lost: bigint[] }> {
    const found: number[] = [];
    const lost: bigint[] = [];
    const fetches = readUntil(connection, from, ({ nextOffset }: FetchResult) => nextOffset >= end, {
      maxBytes: 1_000,
      onOffsetLost: (wanted) => lost.push(wanted),
    });
    for await (const fetched of fetches) found.push(...offsets(fetched));
    return { offsets: found, lost };
  }

  test('waits for acknowledged records that a new leader does not show yet', async () => {
    const leader = leaderOf([], [batchAt(4)], [], [batchAt(5), batchAt(6, { marker: 'commit' })]);
    expect(await read(leader, 7n)).toEqual({ offsets: [4, 5], lost: [] });
  });

  test('a leader with fewer records than were read before is first considered stale', async () => {
    const leader = leaderOf('OFFSET_OUT_OF_RANGE', 'NOT_LEADER_FOR_PARTITION', [
      batchAt(4),
      batchAt(5, { marker: 'commit' }),
    ]);
    expect(await read(leader, 6n)).toEqual({ offsets: [4], lost: [] });
  });
});
