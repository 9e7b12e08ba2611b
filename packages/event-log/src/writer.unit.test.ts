// The record writer with brokers that fail on demand.
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RecordDeclaration } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import type { Codec } from './codec.js';
import { EventLogUnavailable } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { fakeCluster, type FakeCluster } from './testing/fake-cluster.js';
import type { OutgoingRecord } from './records.js';
import { logger } from './testing/test-support.js';
import { createRecordWriter, type RecordWriter, type RecordWriterOptions } from './writer.js';

const declaration = { type: 'Noted', topic: 'ingest.commands' } as unknown as RecordDeclaration;
const topic = 'ingest.commands';

/** A log on fake brokers whose records are plain text. */
function fakeLog(cluster: FakeCluster): EventLog {
  return {
    config: { partitions: 4 },
    partitionOf: () => 0,
    [internals]: {
      logger,
      wire: (name: string) => name,
      connect: () => cluster.connect(),
      codec: { encode: (_: unknown, payload: unknown) => Buffer.from(String(payload)) } as unknown as Codec,
    },
  } as unknown as EventLog;
}

const record = (partition: number, text: string): OutgoingRecord => ({
  declaration,
  key: text,
  partition,
  payload: text,
});

let stop: () => Promise<void> = () => Promise.resolve();
async function start(cluster: FakeCluster, options: RecordWriterOptions = {}): Promise<RecordWriter> {
  const started = await createRecordWriter(fakeLog(cluster), options).start();
  stop = () => started.stop();
  return started.value;
}
afterEach(() => stop());

describe('a record writer', () => {
  test('returns the position of each record, in the order given', async () => {
    const writer = await start(fakeCluster({ brokers: 2 }));
    const written = await writer.write([record(1, 'a'), record(0, 'b'), record(1, 'c')]);
    expect(written).toEqual([
      { topic, partition: 1, offset: 0n },
      { topic, partition: 0, offset: 0n },
      { topic, partition: 1, offset: 1n },
    ]);
  });

  test('records that arrive during a request share the next one', async () => {
    const cluster = fakeCluster();
    const writer = await start(cluster);
    await writer.write([record(0, 'first')]);
    const release = cluster.hang();
    const writes = [writer.write([record(0, 'a')])];
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    for (const text of ['b', 'c', 'd']) writes.push(writer.write([record(0, text)]));
    release();
    await Promise.all(writes);
    expect(cluster.log(topic, 0)).toEqual(['first', 'a', 'b', 'c', 'd']);
    expect(cluster.requests.filter((name) => name === 'produce')).toHaveLength(3);
  });

  test('both partitions of a write are written once when a leader moves in between', async () => {
    const cluster = fakeCluster({ brokers: 2 });
    const writer = await start(cluster);
    await writer.write([record(0, 'a'), record(1, 'b')]);
    cluster.beforeNext('produce', 1, () => {
      cluster.moveLeader(topic, 1, 0);
    });
    const written = await writer.write([record(0, 'c'), record(1, 'd'), record(1, 'e')]);
    expect(written.map(({ offset }) => offset)).toEqual([1n, 1n, 2n]);
    expect(cluster.log(topic, 0)).toEqual(['a', 'c']);
    expect(cluster.log(topic, 1)).toEqual(['b', 'd', 'e']);
  });

  test('a batch that the answer does not name is sent again, and written once', async () => {
    const cluster = fakeCluster();
    const writer = await start(cluster);
    cluster.omitNext(topic, 1);
    await writer.write([record(0, 'a'), record(1, 'b')]);
    expect(cluster.log(topic, 0)).toEqual(['a']);
    expect(cluster.log(topic, 1)).toEqual(['b']);
  });

  test('a batch whose answer is lost is sent again, and written once', async () => {
    const cluster = fakeCluster();
    const writer = await start(cluster);
    cluster.cutNext('produce');
    expect(await writer.write([record(0, 'a')])).toEqual([{ topic, partition: 0, offset: 0n }]);
    await writer.write([record(0, 'b')]);
    expect(cluster.log(topic, 0)).toEqual(['a', 'b']);
  });

  test('other partitions are written while one has no leader', async () => {
    const cluster = fakeCluster();
    cluster.moveLeader(topic, 1, undefined);
    const writer = await start(cluster);
    const waiting = writer.write([record(1, 'late')]);
    await writer.write([record(0, 'a')]);
    await writer.write([record(2, 'b')]);
    expect(cluster.log(topic, 1)).toEqual([]);
    cluster.moveLeader(topic, 1, 0);
    await waiting;
    expect(cluster.log(topic, 1)).toEqual(['late']);
  });

  test('a write rejects in time when the brokers do not answer, and later writes use a new producer', async () => {
    const cluster = fakeCluster();
    const writer = await start(cluster, { timeoutMs: 150 });
    await writer.write([record(0, 'a')]);
    const release = cluster.hang();
    await expect(writer.write([record(0, 'b')])).rejects.toBeInstanceOf(EventLogUnavailable);
    await eventually('another connection is tried', () => cluster.connections > 1);
    release();
    let written = false;
    for (let attempt = 0; attempt < 20 && !written; attempt++) {
      written = await writer.write([record(0, 'c')]).then(
        () => true,
        () => false,
      );
    }
    expect(cluster.log(topic, 0).filter((text) => text === 'c').length).toBeGreaterThanOrEqual(1);
    expect(cluster.log(topic, 0).filter((text) => text === 'b').length).toBeLessThanOrEqual(1);
  });

  test('a permanent error rejects the write, and the next one is written', async () => {
    const cluster = fakeCluster();
    const writer = await start(cluster);
    cluster.failNext('produce', 'OUT_OF_ORDER_SEQUENCE_NUMBER');
    await expect(writer.write([record(0, 'a')])).rejects.toBeInstanceOf(EventLogUnavailable);
    expect(await writer.write([record(0, 'b')])).toEqual([{ topic, partition: 0, offset: 0n }]);
  });

  test('a write beyond the byte limit is refused at once', async () => {
    const cluster = fakeCluster();
    const writer = await start(cluster, { maxBufferedBytes: 200 });
    await writer.write([record(0, 'warm')]);
    const release = cluster.hang();
    const accepted = writer.write([record(0, 'x'.repeat(180))]);
    await expect(writer.write([record(0, 'y'.repeat(100))])).rejects.toMatchObject({
      code: 'log_overloaded',
      retriable: true,
    });
    release();
    await accepted;
  });
});
