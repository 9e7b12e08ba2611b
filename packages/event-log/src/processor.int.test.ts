// The processor against real brokers: exactly once under failures.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, afterAll, describe, expect, test } from '@jest/globals';
import type { ServiceName, TopicName } from '@lead-scoring/contracts';
import { isFullSize } from '@lead-scoring/platform/full-size';
import { eventually } from '@lead-scoring/platform/waiting';
import kafkajs from 'kafkajs';
import {
  discardDeadLetters,
  isResolved,
  listDeadLetters,
  readDeadLetter,
  retryDeadLetters,
  type DeadLetter,
} from './dead-letters.js';
import type { FetchAnswer } from './kafka/direct-broker.js';
import { internals, type EventLog } from './event-log.js';
import type { Broker } from './kafka/broker.js';
import { BatchTooLarge } from './errors.js';
import { takingAll } from './inputs.js';
import { endOffsets, listLag, requestRebuild, waitUntilConsumed } from './operations.js';
import { tail } from './tail.js';
import { createPartitionReader } from './kafka/partition-reader.js';
import type { ProcessorOptions } from './processor-options.js';
import type { IncomingRecord, OutgoingRecord } from './records.js';
import { disturbed } from './testing/disturbed-log.js';
import {
  countRulesets,
  createRuleset,
  createStores,
  type Faults,
  forgetfulState,
  ingestEvents,
  leadDeleted,
  linkAlias,
  putRaw,
  removeNamespace,
  rulesetCreated,
  rulesetsInStores,
  rulesetState,
  startProcessor,
  startWriter,
  type Store,
  storeOf,
  testLog,
} from './testing/test-support.js';
import { pause } from './timing.js';
import { inputsReadRecord } from './input-positions.js';
import { ownerHeader } from './owners.js';
import { createTransactionalProducer } from './kafka/transactional-producer.js';
import type { RecordWriter } from './writer.js';

let log: EventLog;
let writer: RecordWriter;
let stopWriter: () => Promise<void>;
const running: { stop(): Promise<void> }[] = [];

/** A fresh namespace for each group of tests: topics begin at offset 0 and groups are new. */
async function fresh(): Promise<void> {
  log = testLog();
  await log.prepare();
  ({ value: writer, stop: stopWriter } = await startWriter(log));
}

async function clear(): Promise<void> {
  await stopWriter();
  await removeNamespace(log);
}

async function start(
  stores: Map<number, Store>,
  options: Parameters<typeof startProcessor>[2] & { on?: EventLog } = {},
) {
  const { on = log, ...others } = options;
  const processor = await startProcessor(on, stores, others);
  running.push(processor);
  return processor;
}

/** Waits until it runs all partitions. */
async function allRun({ status }: Awaited<ReturnType<typeof start>>): Promise<void> {
  await eventually('all run', () => status.ready() && status.partitions().length === 3);
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((one) => one.stop()));
}

const onLog = () => countRulesets(tail(log, 'scoring.events', { from: 'beginning', follow: false }));

async function letters(): Promise<DeadLetter[]> {
  const all: DeadLetter[] = [];
  for await (const letter of listDeadLetters(log, 'scoring')) all.push(letter);
  return all;
}

/** Each of these is on the log once, folded once, and nothing else is. */
async function expectOnceEach(ids: Iterable<string>, stores: Map<number, Store>): Promise<void> {
  const expected = new Map([...ids].map((id) => [id, 1]));
  expect(await onLog()).toEqual(expected);
  expect(rulesetsInStores(stores)).toEqual(expected);
}

/** The same numbers for the same seed, between 0 and 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

afterEach(stopAll);

describe('a processor', () => {
  beforeAll(fresh, 60_000);
  afterAll(clear, 30_000);
  const ids = new Set<string>();
  const stores = createStores();

  async function command(count: number, options: Parameters<typeof createRuleset>[0] = {}): Promise<void> {
    const commands = Array.from({ length: count }, () => createRuleset(options));
    for (const { key } of commands) ids.add(key);
    await writer.write(commands);
  }

  test('decides on each command once, appends its event once and folds it once', async () => {
    const processor = await start(stores);
    for (let at = 0; at < 10; at++) await command(50);
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size);
    await eventually('ready', () => processor.status.ready());
    await stopAll();
    await expectOnceEach(ids, stores);
    expect(processor.fatal).toEqual([]);
  }, 60_000);

  test('a restart folds and decides nothing again', async () => {
    const folds = [...stores.values()].map((store) => store.folds);
    const processor = await start(stores);
    await allRun(processor);
    await stopAll();
    expect([...stores.values()].map((store) => store.folds)).toEqual(folds);
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('a lost state is folded from the log before the first decision', async () => {
    for (const partition of [0, 1, 2]) stores.delete(partition);
    const known: number[] = [];
    await start(stores, {
      faults: { decide: (_, partition) => void known.push(storeOf(stores, partition).rulesets.size) },
    });
    await command(1, { partition: 0 });
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size);
    await stopAll();
    expect(known[0]).toBeGreaterThan(0);
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('an error between commit and fold, or in the fold, is repaired by catching up', async () => {
    let failures = 4;
    const fail = () => {
      if (failures-- > 0) throw Object.assign(new Error('the database is away'), { retriable: true });
    };
    await start(stores, { faults: { fold: fail } });
    await command(40);
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size);
    await stopAll();
    expect(failures).toBeLessThan(0);
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('a batch that throws BatchTooLarge is decided in halves, in order, in the same session', async () => {
    await command(60, { partition: 0 });
    const opened = storeOf(stores, 0).opened;
    const sizes: number[] = [];
    const offsets: bigint[] = [];
    await start(stores, {
      faults: {
        decide: (records) => {
          if (records.length > 7) throw new BatchTooLarge(`more than 7 records`);
          sizes.push(records.length);
          offsets.push(...records.map(({ offset }) => offset));
        },
      },
    });
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size);
    await stopAll();
    expect(Math.max(...sizes)).toBeGreaterThan(3);
    expect(offsets).toEqual([...offsets].sort((a, b) => Number(a - b)));
    expect(storeOf(stores, 0).opened).toBe(opened + 1);
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('a previous owner’s open transaction is aborted, and its later commit is refused', async () => {
    const { connect, wire, codec } = log[internals];
    const groupId = `${log.config.namespace}.scoring`;
    const connection = connect();
    await connection.open([wire('scoring.events')]);
    const transactionalId = `${groupId}.zombie`;
    const zombie = createTransactionalProducer(connection, { transactionalId, groupId });
    await zombie.fence();
    const claim = inputsReadRecord(
      log,
      { topic: 'scoring.events', partition: 0 },
      { [ownerHeader]: transactionalId },
    );
    await zombie.commit({
      batches: [{ topic: claim.topic, partition: 0, messages: [claim.message] }],
      offsets: [],
    });
    await zombie.begin({ partitions: [{ topic: wire('scoring.events'), partition: 0 }], offsets: true });
    await start(stores);
    await command(5, { partition: 0 });
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size);
    const ghost = createRuleset();
    await expect(
      zombie.commit({
        batches: [
          {
            topic: wire('scoring.events'),
            partition: 0,
            messages: [{ key: 'x', value: codec.encode(ghost.declaration, ghost.payload) }],
          },
        ],
        offsets: [{ topic: wire('scoring.commands'), partition: 0, offset: 0n }],
      }),
    ).rejects.toThrow();
    connection.close();
    await stopAll();
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('each command is decided once with lost answers at any request and failures at any step', async () => {
    const wanted = isFullSize ? 40 : 8;
    const next = random(20_260_131);
    let disturbances = 0;
    const cut = () => {
      disturbances++;
      return new kafkajs.KafkaJSConnectionError('Closed connection');
    };
    const on = disturbed(log, async (request, run) => {
      if (
        disturbances > wanted ||
        !['produce', 'endTxn', 'txnOffsetCommit', 'addOffsetsToTxn', 'addPartitionsToTxn'].includes(request)
      )
        return run();
      const chance = next();
      if (chance < 0.1) throw cut();
      const answer = await run();
      if (chance > 0.9) throw cut();
      return answer;
    });
    const faults: Faults = {
      fold() {
        if (disturbances < wanted && next() < 0.1)
          throw Object.assign(new Error('the database is away'), { retriable: true });
      },
      decide() {
        if (disturbances < wanted && next() < 0.05)
          throw Object.assign(new Error('the database is away'), { retriable: true });
      },
    };
    const processor = await start(stores, { on, faults });
    for (let round = 0; round < 100 && disturbances < wanted; round++) {
      await command(3);
      await eventually('some progress', () => rulesetsInStores(stores).size > ids.size - 30, 60_000);
    }
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size, 60_000);
    await stopAll();
    expect(disturbances).toBeGreaterThan(0.75 * wanted);
    expect(processor.fatal).toEqual([]);
    await expectOnceEach(ids, stores);
  }, 240_000);

  test('a rebuild command is handed to the service by each partition, and deciding goes on', async () => {
    const taken: string[] = [];
    await start(stores, {
      rebuild: (id) => {
        taken.push(id);
        return Promise.resolve();
      },
    });
    const { rebuildId, positions } = await requestRebuild(log, 'scoring');
    await command(5);
    expect(
      await waitUntilConsumed(log, 'scoring', 'scoring.commands', positions, { timeoutMs: 20_000 }),
    ).toBe(true);
    await eventually('all decided', () => rulesetsInStores(stores).size === ids.size);
    await stopAll();
    expect(taken).toEqual([rebuildId, rebuildId, rebuildId]);
    expect([...stores.values()].map((store) => store.resets)).toEqual([0, 0, 0]);
    await expectOnceEach(ids, stores);
  }, 40_000);

  describe('whose commands come to a rest, stores a position behind', () => {
    const partition = 1;
    const storedBehindAll = async () => {
      const ends = await endOffsets(log, 'scoring.commands');
      return ends.every(
        (end) => storeOf(stores, end.partition).checkpoint.positions['scoring.commands'] === end.offset,
      );
    };

    test('a rebuild command, without a further one', async () => {
      await start(stores);
      const { positions } = await requestRebuild(log, 'scoring');
      expect(positions).toHaveLength(3);
      await eventually('the stored positions are behind the command', storedBehindAll, 10_000);
    }, 30_000);

    test('an aborted command, whose marker alone arrives', async () => {
      await start(stores);
      await command(1, { partition });
      await eventually('the commands are at rest', storedBehindAll, 10_000);
      const { kafka, wire } = log[internals];
      const transactionalId = `${log.config.namespace}.aborting`;
      const producer = kafka.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      const transaction = await producer.transaction();
      const topic = wire('scoring.commands');
      await transaction.send({ topic, messages: [{ partition, key: 'aborted', value: 'aborted' }] });
      await transaction.abort();
      await producer.disconnect();
      await eventually('the stored position is behind the marker', storedBehindAll, 10_000);
      await stopAll();
      await expectOnceEach(ids, stores);
    }, 30_000);
  });

  test('caughtUp is called after all folds of the log and before the first decision', async () => {
    const own = createStores();
    const steps: string[] = [];
    await start(own, {
      open: (partition) => {
        const state = rulesetState(own, partition, {
          decide: () => {
            if (partition === 1) steps.push('decide');
          },
          fold: () => {
            if (partition === 1) steps.push('fold');
          },
        });
        return Promise.resolve({
          ...state,
          caughtUp: () => {
            if (partition === 1) steps.push(`caught up with ${String(storeOf(own, 1).rulesets.size > 0)}`);
            return Promise.resolve();
          },
        });
      },
    });
    await command(1, { partition: 1 });
    await eventually('decided', () => steps.includes('decide'));
    await stopAll();
    const inOrder = steps.filter((step, index) => step !== steps[index - 1]);
    expect(inOrder.slice(0, 3)).toEqual(['fold', 'caught up with true', 'decide']);
  }, 40_000);
});

describe('processors of one service', () => {
  beforeAll(fresh, 60_000);
  afterAll(clear, 30_000);

  test('share the partitions; after a leave or join each record is still decided once', async () => {
    const stores = createStores();
    const ids = new Set<string>();
    const writing = new AbortController();
    const load = (async () => {
      while (!writing.signal.aborted) {
        const commands = Array.from({ length: 10 }, () => createRuleset());
        for (const { key } of commands) ids.add(key);
        await writer.write(commands);
      }
    })();
    const owned = (processor: Awaited<ReturnType<typeof start>>) =>
      processor.status.partitions().map(({ partition }) => partition);

    const first = await start(stores);
    await eventually('the first has all', () => owned(first).length === 3 && first.status.ready());
    const second = await start(stores);
    await eventually('they share', () => {
      const both = [...owned(first), ...owned(second)].sort((a, b) => a - b);
      return owned(second).length === 1 && both.join() === '0,1,2' && second.status.ready();
    });
    await first.stop();
    running.splice(running.indexOf(first), 1);
    await eventually('the second has all', () => owned(second).length === 3 && second.status.ready());
    const third = await start(stores);
    await eventually(
      'they share again',
      () => owned(second).length + owned(third).length === 3 && owned(third).length === 1,
    );
    writing.abort();
    await load;
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size);
    await stopAll();
    expect(ids.size).toBeGreaterThan(100);
    await expectOnceEach(ids, stores);
    expect([...first.fatal, ...second.fatal, ...third.fatal]).toEqual([]);
  }, 60_000);
});

describe('the input positions', () => {
  beforeEach(fresh, 60_000);
  afterEach(async () => {
    await stopAll();
    await clear();
  }, 30_000);

  /** The same log, counting ended transactions, and refusing commits of group offsets on demand. */
  function watched() {
    const seen = { transactions: 0, commits: 0, refuses: false };
    const on = disturbed(log, (request, run, sent) => {
      // The transaction of the opening is aborted.
      const { transactionResult = true, topics = [] } = sent as {
        transactionResult?: boolean;
        topics?: { topic: string }[];
      };
      if (request === 'endTxn' && transactionResult) seen.transactions++;
      const isMark = topics.some(({ topic }) => topic === log[internals].wire('scoring.events'));
      if (request !== 'txnOffsetCommit' || isMark) return run();
      if (seen.refuses)
        return Promise.reject(Object.assign(new Error('the group is away'), { retriable: true }));
      seen.commits++;
      return run();
    });
    return { on, seen };
  }

  async function ready(on: EventLog, stores: Map<number, Store>) {
    const inputs = takingAll('scoring.commands', 'ingest.commands', 'ingest.events');
    const processor = await start(stores, { on, inputs, maxRecordsPerBatch: 1 });
    await allRun(processor);
    return processor;
  }

  const positionOf = async (topic: TopicName) =>
    (await listLag(log, 'scoring')).find((lag) => lag.topic === topic && lag.partition === 0)?.position;

  test('are stated with the events of each transaction, and soon after committed to the group', async () => {
    const stores = createStores();
    const { on, seen } = watched();
    await ready(on, stores);
    const made = Array.from({ length: 20 }, () => createRuleset({ partition: 0 }));
    const written = await writer.write(made);
    await eventually('all folded', () => rulesetsInStores(stores).size === made.length);
    const end = Math.max(...written.map(({ offset }) => Number(offset))) + 1;
    await eventually('the group knows', async () => Number(await positionOf('scoring.commands')) >= end);
    expect(seen.transactions).toBeGreaterThanOrEqual(made.length);
    expect(seen.commits).toBeLessThan(made.length / 2);
  }, 30_000);

  test('of a partition at rest are committed to the group while another partition stays busy', async () => {
    const stores = createStores();
    await ready(log, stores);
    // Shorter than the time after which a process is idle.
    const busy = setInterval(() => void writer.write([createRuleset({ partition: 1 })]), 20);
    const made = Array.from({ length: 5 }, () => createRuleset({ partition: 0 }));
    const written = await writer.write(made);
    const end = Math.max(...written.map(({ offset }) => Number(offset))) + 1;
    await eventually(
      'the group knows',
      async () => Number(await positionOf('scoring.commands')) >= end,
      15_000,
    );
    clearInterval(busy);
  }, 30_000);

  test('are read from the events when the previous owner could not commit group offsets', async () => {
    const stores = createStores();
    const { on, seen } = watched();
    const processor = await ready(on, stores);
    const ids: string[] = [];
    const take = async (count: number) => {
      const made = Array.from({ length: count }, () => createRuleset({ partition: 0 }));
      ids.push(...made.map(({ key }) => key));
      await writer.write(made);
      await eventually('all folded', () => rulesetsInStores(stores).size === ids.length);
    };
    await take(1);
    seen.refuses = true;
    await take(20);
    const opened = storeOf(stores, 0).opened;
    await eventually('it has tried', () => storeOf(stores, 0).opened > opened);
    await stopAll();
    expect(Number(await positionOf('scoring.commands'))).toBeLessThan(ids.length);
    expect(processor.fatal).toEqual([]);

    await ready(log, stores);
    await eventually(
      'the group knows',
      async () => Number(await positionOf('scoring.commands')) >= ids.length,
    );
    await stopAll();
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('are complete although a new leader does not show the last commit at first', async () => {
    const stores = createStores();
    const { on, seen } = watched();
    await ready(on, stores);
    const ids: string[] = [];
    const take = async () => {
      const made = createRuleset({ partition: 0 });
      ids.push(made.key);
      await writer.write([made]);
      await eventually('it is folded', () => rulesetsInStores(stores).size === ids.length);
    };
    await take();
    seen.refuses = true;
    await take();
    await take();
    await stopAll();

    const output = log[internals].wire('scoring.events');
    const ends = await endOffsets(log, 'scoring.events', [0]);
    // An event and its marker.
    const shown = (ends[0]?.offset ?? 0n) - 2n;
    let hiding = 3;
    const elected = disturbed(log, async (request, run, sent) => {
      const answer = await run();
      const { topics = [] } = sent as { topics?: { topic: string; partitions: { partition: number }[] }[] };
      const [topic] = topics;
      if (
        request !== 'fetch' ||
        topic?.topic !== output ||
        topic.partitions[0]?.partition !== 0 ||
        hiding-- <= 0
      )
        return answer;
      for (const { partitions } of (answer as FetchAnswer).responses)
        for (const partition of partitions) {
          partition.batches = partition.batches.filter(({ lastOffset }) => lastOffset < shown);
          partition.highWatermark = partition.lastStableOffset = shown;
        }
      return answer;
    });
    await ready(elected, stores);
    await take();
    await stopAll();
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('are stated while idle for events without effect, and at once for commands', async () => {
    const stores = createStores();
    const { on, seen } = watched();
    await ready(on, stores);
    await writer.write([leadDeleted()]);
    await eventually('the positions of the first are committed', () => seen.commits === 1);
    const written = await writer.write(Array.from({ length: 20 }, leadDeleted));
    const end = Math.max(...written.map(({ offset }) => Number(offset))) + 1;
    await eventually('the group knows', async () => Number(await positionOf('ingest.events')) >= end);
    expect(seen.commits).toBeLessThan(10);

    const endOfOutput = async () => (await endOffsets(log, 'scoring.events', [0]))[0]?.offset ?? 0n;
    const { transactions } = seen;
    for (let at = 0; at < 3; at++) {
      const before = await endOfOutput();
      await writer.write([linkAlias()]);
      await eventually('the positions are stated', async () => (await endOfOutput()) > before);
    }
    await eventually('each in a transaction', () => seen.transactions >= transactions + 3);
  }, 30_000);
});

describe('records that cannot be processed', () => {
  beforeAll(fresh, 60_000);
  afterAll(clear, 30_000);
  const stores = createStores();
  const ids = new Set<string>();
  const poison = new Set<string>();
  const faults: Faults = {
    decide(records) {
      for (const { payload } of records) {
        const { name, ruleset_id: id } = payload as { name: string; ruleset_id: string };
        if (!poison.has(id)) continue;
        if (name === 'range') ''.repeat(-1);
        if (name === 'type') (undefined as unknown as { x: { y: number } }).x.y = 1;
        if (name === 'syntax') JSON.parse('{');
        throw new Error('a plain one');
      }
    },
  };

  test('bad bytes, unknown types, wrong payloads and failing decisions are parked; the partition continues', async () => {
    const good = (name?: string) => {
      const record = createRuleset({ partition: 0, ...(name === undefined ? {} : { name }) });
      if (name === undefined) ids.add(record.key);
      else poison.add(record.key);
      return record;
    };
    const { codec } = log[internals];
    const { declaration, payload } = createRuleset();
    const valid = codec.encode(declaration, payload);
    const deep = Buffer.concat([
      valid.subarray(0, 5),
      Buffer.from(`${'['.repeat(50_000)}${']'.repeat(50_000)}`),
    ]);
    await writer.write([good(), good('range'), good(), good('type'), good()]);
    await putRaw(log, 'scoring.commands', [
      { partition: 0, key: 'k', value: 'not at all', headers: { type: 'CreateRuleset' } },
      {
        partition: 0,
        value: Buffer.concat([valid.subarray(0, 5), Buffer.from('{"a":')]),
        headers: { type: 'CreateRuleset' },
      },
      {
        partition: 0,
        value: Buffer.concat([valid.subarray(0, 5), Buffer.from('{"_bsontype":"ObjectId"}')]),
        headers: { type: 'CreateRuleset' },
      },
      { partition: 0, value: deep, headers: { type: 'CreateRuleset' } },
      { partition: 0, value: valid, headers: { type: 'Unheard' } },
      { partition: 0, value: valid, headers: {} },
      { partition: 0, value: null, headers: { type: 'CreateRuleset' } },
      {
        partition: 0,
        value: Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]), valid.subarray(5)]),
        headers: { type: 'CreateRuleset' },
      },
      { partition: 0, value: Buffer.alloc(5 * 1024 * 1024, 'x'), headers: { type: 'CreateRuleset' } },
    ]);
    await putRaw(log, 'ingest.events', [{ partition: 0, value: '{}', headers: { type: 'EventsIngested' } }]);
    await writer.write([good('syntax'), good('plain'), good()]);
    const processor = await start(stores, { faults });
    await eventually('the good ones are folded', () => rulesetsInStores(stores).size === ids.size);
    await eventually('the others are parked', async () => (await letters()).length === 14);
    expect(processor.fatal).toEqual([]);
    expect(processor.status.ready()).toBe(true);
    const found = await letters();
    expect(
      found.map(({ origin: { topic } }) => topic).filter((topic) => topic === 'ingest.events'),
    ).toHaveLength(1);
    expect(
      found.every(({ origin, retried, attempts }) => origin.partition === 0 && !retried && attempts === 1),
    ).toBe(true);
    const reasons = found.map(({ reason }) => reason).join('\n');
    for (const part of [
      'wire format',
      'cannot be parsed',
      'does not fit',
      'Unheard',
      'no header',
      'no value',
      'schema 2147483647',
      'Invalid count',
      'a plain one',
    ]) {
      expect(reasons).toContain(part);
    }
    await stopAll();
    await expectOnceEach(ids, stores);
  }, 60_000);

  test('a dead letter keeps the record’s bytes and key', async () => {
    const { connect, wire } = log[internals];
    const connection = connect();
    await connection.open([wire('scoring.dead-letters')]);
    const { records } = await createPartitionReader(connection, wire('scoring.dead-letters'), 0).fetch(0n, {
      maxBytes: 50_000_000,
      maxWaitMs: 100,
    });
    connection.close();
    const plain = records.find(({ value }) => value?.toString() === 'not at all');
    expect(plain?.key?.toString()).toBe('k');
    expect(plain?.headers.type?.toString()).toBe('CreateRuleset');
  });

  test('the content of a dead letter can be read: its headers, and its payload as text', async () => {
    const [letter] = (await letters()).filter(({ key }) => key !== null && poison.has(key));
    const content = await readDeadLetter(log, 'scoring', letter?.id ?? '');
    expect(content?.letter).toEqual(letter);
    expect(content?.headers).toMatchObject({ type: 'CreateRuleset', 'dead-letter-reason': letter?.reason });
    expect(JSON.parse(content?.payload ?? '')).toMatchObject({ ruleset_id: letter?.key });
    expect(await readDeadLetter(log, 'scoring', '0:987654')).toBeNull();
    expect(await readDeadLetter(log, 'scoring', '99:0')).toBeNull();
  });

  test('a dead letter that is discarded is resolved, is not sent again, and can be discarded once', async () => {
    const [letter] = (await letters()).filter(({ type }) => type === 'Unheard');
    const id = letter?.id ?? '';
    expect(letter && isResolved(letter)).toBe(false);
    expect(await discardDeadLetters(log, 'scoring', [id, '0:987654', '99:0'])).toMatchObject([{ id }]);
    const [discarded] = (await letters()).filter((one) => one.id === id);
    expect(discarded).toMatchObject({ retried: true, outcome: 'discarded' });
    expect(discarded && isResolved(discarded)).toBe(true);
    expect((await retryDeadLetters(log, 'scoring', { ids: [id] })).retried).toEqual([]);
    expect(await discardDeadLetters(log, 'scoring', [id])).toEqual([]);
  });

  test('a retried dead letter takes effect once for any number of retries, and is parked again when it fails again', async () => {
    await start(stores, { faults });
    const all = await letters();
    const cured = all.filter(({ key }) => key !== null && poison.has(key));
    expect(cured).toHaveLength(4);
    const [stillBad, ...healed] = cured;
    for (const { key } of healed) {
      poison.delete(key ?? '');
      ids.add(key ?? '');
    }
    const chosen = cured.map(({ id }) => id);
    expect((await retryDeadLetters(log, 'scoring', { ids: chosen })).retried).toHaveLength(4);
    expect((await retryDeadLetters(log, 'scoring', { ids: chosen })).retried).toHaveLength(0);
    await eventually('folded', () => rulesetsInStores(stores).size === ids.size);
    await eventually('parked again', async () => (await letters()).length === 15);
    const again = (await letters()).filter(({ key }) => key === stillBad?.key);
    expect(again.map(({ attempts, retried }) => ({ attempts, retried }))).toEqual([
      { attempts: 1, retried: true },
      { attempts: 2, retried: false },
    ]);
    expect(again[1]?.origin).toEqual(stillBad?.origin);
    await stopAll();
    await expectOnceEach(ids, stores);
  }, 60_000);

  test('a dead letter from another service’s topic is retried by this service alone', async () => {
    const incoming: string[] = [];
    await start(stores, {
      faults: { decide: (records) => void incoming.push(...records.map(({ topic }) => topic)) },
    });
    const [letter] = (await letters()).filter(({ origin }) => origin.topic === 'ingest.events');
    const end = async () => {
      let count = 0;
      for await (const { topic } of tail(log, 'ingest.events', { from: 'beginning', follow: false }))
        count += topic.length > 0 ? 1 : 0;
      return count;
    };
    const before = await end();
    await retryDeadLetters(log, 'scoring', { ids: [letter?.id ?? ''] });
    await eventually('parked again, as of its first topic', async () =>
      (await letters()).some(({ origin, attempts }) => origin.topic === 'ingest.events' && attempts === 2),
    );
    expect(await end()).toBe(before);
  }, 40_000);
});

describe('a state with storeEveryMs', () => {
  beforeAll(fresh, 60_000);
  afterAll(clear, 30_000);
  const ids = new Set<string>();
  const stores = createStores();
  const failure = () => Object.assign(new Error('the database is away'), { retriable: true });

  /** Commands written together and decided one by one, so that batches follow each other without a silence. */
  async function commands(count: number): Promise<void> {
    const written = Array.from({ length: count }, () => createRuleset({ partition: 0 }));
    for (const { key } of written) ids.add(key);
    await writer.write(written);
  }

  /** A processor that has opened all its partitions, so that `faults` only see later records. */
  async function ready(faults: Faults = {}, storeEveryMs = 60_000) {
    let opened = false;
    const later: Faults = {
      fold: (events, partition) => (opened ? faults.fold?.(events, partition) : undefined),
      store: (checkpoint, partition) => (opened ? faults.store?.(checkpoint, partition) : undefined),
    };
    const processor = await start(stores, {
      storeEveryMs,
      maxRecordsPerBatch: 1,
      open: (partition) => Promise.resolve(forgetfulState(stores, partition, later)),
    });
    await allRun(processor);
    opened = true;
    return processor;
  }

  /** Stops all processors at the fifth batch. */
  function stopAmidBatches(): { fold: () => void; stopped: Promise<void> } {
    let count = 0;
    let fold = () => {};
    const stopped = new Promise<void>((resolve) => {
      fold = () => {
        if (++count === 5) resolve(stopAll());
      };
    });
    return { fold, stopped };
  }

  const allStored = () => eventually('all stored', () => rulesetsInStores(stores).size === ids.size);

  /** The stored state reaches exactly as far as its checkpoint. */
  function expectInAgreement(): void {
    const { rulesets, checkpoint } = storeOf(stores, 0);
    const offsets = [...rulesets.values()].map(({ offset }) => Number(offset));
    expect(Number(checkpoint.offset)).toBe(Math.max(...offsets) + 1);
    expect(Number(checkpoint.positions['scoring.commands'])).toBe(rulesets.size);
  }

  test('is not stored between consecutive batches, and at once when the inputs are idle', async () => {
    const steps: string[] = [];
    await ready({ fold: () => void steps.push('fold'), store: () => void steps.push('store') });
    await commands(20);
    await allStored();
    expect(steps).toEqual([...Array.from({ length: 20 }, () => 'fold'), 'store']);
    expectInAgreement();
    await stopAll();
    expect(steps).toHaveLength(21);
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('is stored when its processor stops between batches', async () => {
    const before = rulesetsInStores(stores).size;
    const { fold, stopped } = stopAmidBatches();
    await ready({ fold });
    await commands(20);
    await stopped;
    expect(rulesetsInStores(stores).size).toBe(before + 5);
    expectInAgreement();
    await ready();
    await allStored();
    await stopAll();
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('is folded from the log by the next owner when the last one ended without storing it', async () => {
    const before = rulesetsInStores(stores).size;
    const { fold, stopped } = stopAmidBatches();
    await ready({
      fold,
      store() {
        throw failure();
      },
    });
    await commands(20);
    await stopped;
    expect(rulesetsInStores(stores).size).toBe(before);
    await ready();
    await allStored();
    await stopAll();
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('is folded by the next owner in one pass, and stored concurrently with its first decisions', async () => {
    Object.assign(storeOf(stores, 0), { rulesets: new Map(), checkpoint: { offset: 0n, positions: {} } });
    const steps: string[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const faults: Faults = {
      fold(_, partition) {
        if (partition === 0) steps.push('fold');
      },
      async store(_, partition) {
        if (partition !== 0) return;
        steps.push('store');
        await released;
      },
    };
    await start(stores, {
      storeEveryMs: 60_000,
      maxBytesPerBatch: 1_000,
      open: (partition) => Promise.resolve(forgetfulState(stores, partition, faults)),
    });
    await eventually('it is being stored', () => steps.includes('store'));
    expect(steps.slice(0, 3)).toEqual(['fold', 'fold', 'fold']);
    expect(steps.indexOf('store')).toBe(steps.length - 1);
    await commands(1);
    await eventually('something is decided meanwhile', () => steps.at(-1) === 'fold');
    release();
    await allStored();
    await stopAll();
    expectInAgreement();
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('is folded from the log when a failure discarded the unstored part', async () => {
    const before = rulesetsInStores(stores).size;
    const folded: (string | null)[] = [];
    const storedAtFailure: number[] = [];
    await ready({
      fold(events) {
        folded.push(...events.map(({ key }) => key));
        if (folded.length !== 8) return;
        storedAtFailure.push(rulesetsInStores(stores).size);
        throw failure();
      },
    });
    await commands(20);
    await allStored();
    await stopAll();
    expect(storedAtFailure).toEqual([before]);
    expect(folded.slice(8, 16)).toEqual(folded.slice(0, 8));
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('is stored concurrently with continuous batches, one store at a time', async () => {
    const steps: string[] = [];
    let underWay = 0;
    let most = 0;
    await ready(
      {
        fold: () => void steps.push('fold'),
        async store() {
          most = Math.max(most, ++underWay);
          // The first store ends only after another batch is folded.
          if (!steps.includes('stored'))
            await eventually('another batch', () => steps.filter((step) => step === 'fold').length > 1);
          steps.push('stored');
          underWay--;
        },
      },
      1,
    );
    await commands(20);
    await allStored();
    await stopAll();
    expect(most).toBe(1);
    expect(steps.slice(0, 3)).toEqual(['fold', 'fold', 'stored']);
    expectInAgreement();
    await expectOnceEach(ids, stores);
  }, 30_000);

  test.each([
    ['in a silence', 60_000],
    ['beside the batches', 1],
  ])(
    'is opened again when storing it fails %s',
    async (_, storeEveryMs) => {
      const { opened } = storeOf(stores, 0);
      let failures = 0;
      const processor = await ready(
        {
          store() {
            if (failures++ === 0) throw failure();
          },
        },
        storeEveryMs,
      );
      await commands(20);
      await allStored();
      await stopAll();
      expect(storeOf(stores, 0).opened).toBe(opened + 2);
      expect(processor.fatal).toEqual([]);
      await expectOnceEach(ids, stores);
    },
    30_000,
  );

  test('holds each ruleset once with failures of any fold and store', async () => {
    const next = random(20_261_122);
    let failures = 0;
    const fail = () => {
      if (failures >= 6 || next() > 0.1) return;
      failures++;
      throw failure();
    };
    const processor = await ready({ fold: fail, store: fail }, 20);
    for (let round = 0; round < 100 && failures < 6; round++) {
      await commands(3);
      await eventually('some progress', () => rulesetsInStores(stores).size > ids.size - 30, 60_000);
    }
    await eventually('all stored', () => rulesetsInStores(stores).size === ids.size, 60_000);
    await stopAll();
    expect(failures).toBe(6);
    expect(processor.fatal).toEqual([]);
    expectInAgreement();
    await expectOnceEach(ids, stores);
  }, 90_000);
});

describe('the records of several inputs', () => {
  beforeEach(fresh, 60_000);
  afterEach(async () => {
    await stopAll();
    await clear();
  }, 30_000);

  /** A processor of commands to scoring and to ingest, and its batches: how many commands each had of scoring and of ingest. */
  async function taking(
    decided: (records: IncomingRecord[]) => void = () => undefined,
    patienceMs: ProcessorOptions['patienceMs'] = {},
  ) {
    const stores = createStores();
    const batches: { scoring: number; ingest: number }[] = [];
    let held: Promise<void> | undefined;
    const processor = await start(stores, {
      inputs: takingAll('scoring.commands', 'ingest.commands', 'ingest.events'),
      decidesTogether: true,
      patienceMs,
      faults: {
        async decide(records) {
          const countOf = (from: TopicName) => records.filter(({ topic }) => topic === from).length;
          batches.push({ scoring: countOf('scoring.commands'), ingest: countOf('ingest.commands') });
          await held;
          decided(records);
        },
      },
    });
    await allRun(processor);
    return {
      /** Writes commands during a decision, and waits until all are decided. @returns the batches since */
      meanwhile: async (commands: OutgoingRecord[]) => {
        const begun = batches.length;
        let release = () => {};
        held = new Promise((resolve) => (release = resolve));
        const first = await writer.write([leadDeleted()]);
        await eventually('it is decided on', () => batches.length > begun);
        const positions = [...first, ...(await writer.write(commands))];
        await pause(100);
        held = undefined;
        release();
        await eventually('all is taken', () => {
          const taken = storeOf(stores, 0).checkpoint.positions;
          return positions.every(({ topic, offset }) => (taken[topic] ?? 0n) > offset);
        });
        return batches.slice(begun + 1);
      },
      expectOnceEach: (ids: string[]) => expectOnceEach(ids, stores),
    };
  }

  const rulesets = (...names: string[]) => names.map((name) => createRuleset({ partition: 0, name }));
  const idsOf = (records: OutgoingRecord[]) => records.map(({ key }) => key);

  test('are decided in one batch, once', async () => {
    const { meanwhile, expectOnceEach: once } = await taking();
    const ids: string[] = [];
    await eventually('some are decided together', async () => {
      const made = rulesets('one', 'two');
      ids.push(...idsOf(made));
      const since = await meanwhile([...made, linkAlias()]);
      return since.length === 1 && since[0]?.scoring === 2 && since[0].ingest === 1;
    });
    await once(ids);
  }, 60_000);

  test('wait up to patienceMs for another input, and do not delay a stop', async () => {
    const decided: string[][] = [];
    const { expectOnceEach: once } = await taking(
      (records) => {
        decided.push(records.map(({ topic }) => topic).sort());
      },
      { 'ingest.events': 3_600_000 },
    );
    const ids: string[] = [];
    await eventually('both are decided together', async () => {
      await writer.write([leadDeleted()]);
      await pause(100);
      const made = rulesets('one');
      ids.push(...idsOf(made));
      await writer.write(made);
      await eventually('it is decided', () => decided.flat().includes('scoring.commands'));
      return decided.some((batch) => batch.includes('ingest.events'));
    });
    expect(decided.filter((batch) => !batch.includes('scoring.commands'))).toEqual([]);
    await writer.write([leadDeleted()]);
    await pause(100);
    await stopAll();
    await once(ids);
  }, 60_000);

  test.each([
    ['it is too much at once', new BatchTooLarge('too much at once')],
    ['deciding fails', new Error('for a reason of its own')],
    ['what one waits for is not there yet', Object.assign(new Error('not yet'), { retriable: true })],
  ])(
    'are decided by input when %s',
    async (_, failure) => {
      let failed = 0;
      const { meanwhile, expectOnceEach: once } = await taking((records) => {
        if (new Set(records.map(({ topic }) => topic)).size === 1) return;
        failed++;
        throw failure;
      });
      const ids: string[] = [];
      let since: { scoring: number; ingest: number }[] = [];
      await eventually('some fail together', async () => {
        const made = rulesets('one', 'two');
        ids.push(...idsOf(made));
        since = await meanwhile([...made, linkAlias(), linkAlias()]);
        return failed > 0;
      });
      expect(since.slice(-2).sort((a, b) => a.scoring - b.scoring)).toEqual([
        { scoring: 0, ingest: 2 },
        { scoring: 2, ingest: 0 },
      ]);
      await once(ids);
    },
    60_000,
  );

  test('are decided one by one only for the input with a failing record', async () => {
    const { meanwhile, expectOnceEach: once } = await taking((records) => {
      if (records.some(({ payload }) => (payload as { name?: string }).name === 'poison'))
        throw new Error('it cannot be taken');
    });
    const ids: string[] = [];
    let rounds = 0;
    let since: { scoring: number; ingest: number }[] = [];
    await eventually('some are decided together', async () => {
      const made = rulesets('one', 'poison', 'two');
      rounds++;
      ids.push(...idsOf(made.filter((_, index) => index !== 1)));
      since = await meanwhile([...made, linkAlias(), linkAlias()]);
      return since.some(({ scoring, ingest }) => scoring > 0 && ingest > 0);
    });
    expect(since.filter(({ scoring }) => scoring === 0)).toEqual([{ scoring: 0, ingest: 2 }]);
    expect(await letters()).toHaveLength(rounds);
    await once(ids);
  }, 60_000);
});

describe('an input that was read to its end', () => {
  beforeAll(fresh, 60_000);
  afterAll(clear, 30_000);

  /** A processor that takes its time, and what happens to its input's first partition: types of records in one line each. */
  async function watched(name: ServiceName, input: TopicName, output: TopicName) {
    const steps: string[] = [];
    const wired = log[internals].wire(input);
    let read = 0;
    let stored = 0;
    const on = disturbed(log, async (request, run, sent) => {
      if (request !== 'fetch') return run();
      const { topics } = sent as Parameters<Broker['fetch']>[0];
      if (
        !topics.some((one) => one.topic === wired && one.partitions.some(({ partition }) => partition === 0))
      )
        return run();
      steps.push('fetch');
      const answer = await (run() as ReturnType<Broker['fetch']>);
      const types = answer.responses
        .filter(({ topicName }) => topicName === wired)
        .flatMap(({ partitions }) => partitions.filter(({ partition }) => partition === 0))
        .flatMap(({ batches }) => batches)
        .flatMap(({ isControl, records }) => (isControl ? [] : records))
        .map(({ headers }) => String(headers.type));
      if (types.length > 0) steps.push(`read ${types.join(', ')}`);
      read += types.length;
      return answer;
    });
    let decided = 0;
    const processor = await start(createStores(), {
      on,
      name,
      inputs: takingAll(input),
      output,
      faults: {
        // Long enough for the longest linger.
        async decide(records) {
          steps.push(`decide ${records.map(({ type }) => type).join(', ')}`);
          await pause(70);
          decided += records.length;
        },
        store: () => void (stored = decided),
      },
    });
    await allRun(processor);
    let written = 0;
    const handled = () => eventually('all handled', () => stored === written, 30_000, 1);

    return {
      /** Begins right after a batch; each record is written when the one before was read, or written. @returns what happened */
      round: async (records: OutgoingRecord[], after: 'read' | 'written'): Promise<string[]> => {
        await handled();
        const begin = steps.length;
        for (const record of records) {
          await writer.write([record]);
          written++;
          if (after === 'read') await eventually('read', () => read === written, 30_000, 1);
        }
        await handled();
        return steps.slice(begin);
      },
    };
  }

  const withCaller = () =>
    ingestEvents({ headers: { 'reply-to': randomUUID(), 'correlation-id': randomUUID() } });

  test('buffers commands that may wait and decides them together', async () => {
    const { round } = await watched('ingest', 'ingest.commands', 'ingest.events');
    // Each is written after the one before was read: they are decided together only if a read one lingered.
    await eventually('some are decided together', async () =>
      (await round([ingestEvents(), ingestEvents()], 'read')).includes('decide IngestEvents, IngestEvents'),
    );
  }, 60_000);

  test.each([
    ['somebody waits for', withCaller],
    ['changes what comes of others', linkAlias],
  ])(
    'decides a command that %s as soon as it is read, with those that were buffered before it',
    async (_, urgent) => {
      const { round } = await watched('ingest', 'ingest.commands', 'ingest.events');
      const type = urgent().declaration.type;
      const rounds: string[][] = [];
      await eventually('one comes while others are buffered', async () => {
        const steps = await round([ingestEvents(), urgent()], 'read');
        rounds.push(steps);
        return steps.includes(`decide IngestEvents, ${type}`);
      });
      // The next decision after it was read includes it.
      for (const steps of rounds) {
        const next = steps.slice(steps.lastIndexOf(`read ${type}`)).find((step) => step.startsWith('decide'));
        expect(next).toMatch(new RegExp(`^decide .*${type}$`));
      }
    },
    60_000,
  );

  test('does not linger for events: each is decided as soon as it is read', async () => {
    const { round } = await watched('notification', 'scoring.events', 'notification.events');
    await round([rulesetCreated()], 'written');
    const steps = await round([rulesetCreated(), rulesetCreated()], 'read');
    expect(steps.filter((step) => step !== 'fetch')).toEqual([
      'read RulesetCreated',
      'decide RulesetCreated',
      'read RulesetCreated',
      'decide RulesetCreated',
    ]);
  }, 60_000);
});

test('a state that keeps failing with permanent errors ends the process', async () => {
  await fresh();
  const fatal: Error[] = [];
  const processor = await startProcessor(log, createStores(), {
    open: (partition) => {
      if (partition === 1) throw new Error('broken for good');
      return Promise.resolve(rulesetState(createStores(), partition));
    },
    onFatal: (error) => fatal.push(error),
  });
  await eventually('it says so, once', () => fatal.length === 1, 45_000);
  expect(fatal[0]?.message).toContain('broken for good');
  await processor.stop();
  await clear();
}, 90_000);
