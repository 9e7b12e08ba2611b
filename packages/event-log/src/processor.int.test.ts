// The processor against real brokers: once, whatever fails.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, afterAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { listDeadLetters, retryDeadLetters, type DeadLetter } from './dead-letters.js';
import { internals, type EventLog } from './event-log.js';
import type { Broker } from './broker.js';
import { BatchTooLarge } from './errors.js';
import { requestRebuild, tail, waitUntilConsumed } from './operations.js';
import { createPartitionReader } from './partition-reader.js';
import {
  countRulesets,
  createRuleset,
  createStores,
  putRaw,
  removeNamespace,
  rulesetsInStores,
  rulesetState,
  startProcessor,
  storeOf,
  testLog,
  type Faults,
  type Store,
} from './test-support.js';
import { createTransactionalProducer } from './transactional-producer.js';
import { createRecordWriter, type RecordWriter } from './writer.js';

let log: EventLog;
let writer: RecordWriter;
let stopWriter: () => Promise<void>;
const running: { stop(): Promise<void> }[] = [];

/** A fresh namespace for each group of tests: topics begin at offset 0 and groups are new. */
async function fresh(): Promise<void> {
  log = testLog();
  await log.prepare();
  ({ value: writer, stop: stopWriter } = await createRecordWriter(log).start());
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

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((one) => one.stop()));
}

const onLog = () => countRulesets(tail(log, 'scoring.events', { from: 'beginning', follow: false }));

/** Each of these is on the log once, folded once, and nothing else is. */
async function expectOnceEach(ids: Iterable<string>, stores: Map<number, Store>): Promise<void> {
  const expected = new Map([...ids].map((id) => [id, 1]));
  expect(await onLog()).toEqual(expected);
  expect(rulesetsInStores(stores)).toEqual(expected);
}

/** The same log, except that its brokers' answers go through `answer`. */
function disturbed(answer: (request: string, run: () => Promise<unknown>) => Promise<unknown>): EventLog {
  const inner = log[internals];
  const through = (broker: Broker): Broker =>
    new Proxy(broker, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          answer(String(name), () => value.apply(target, args) as Promise<unknown>);
      },
    });
  return {
    ...log,
    [internals]: {
      ...inner,
      connect() {
        const connection = inner.connect();
        return {
          ...connection,
          broker: async (id) => through(await connection.broker(id)),
          groupCoordinator: async (id) => through(await connection.groupCoordinator(id)),
          transactionCoordinator: async (id) => through(await connection.transactionCoordinator(id)),
        };
      },
    },
  };
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

  test('takes each command once, appends its event once and folds it once', async () => {
    const processor = await start(stores);
    for (let at = 0; at < 10; at++) await command(50);
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size);
    await eventually('ready', () => processor.status.ready());
    await stopAll();
    await expectOnceEach(ids, stores);
    expect(processor.fatal).toEqual([]);
  }, 60_000);

  test('a plain restart folds nothing again and decides nothing again', async () => {
    const folds = [...stores.values()].map((store) => store.folds);
    const processor = await start(stores);
    await eventually('ready', () => processor.status.ready() && processor.status.partitions().length === 3);
    await stopAll();
    expect([...stores.values()].map((store) => store.folds)).toEqual(folds);
    await expectOnceEach(ids, stores);
  }, 30_000);

  test('a state that was lost is folded from the log before anything is decided', async () => {
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

  test('an error between commit and fold, or in the fold, is made good by catching up', async () => {
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

  test('what is too much at once is decided in halves, in order, without opening the partition anew', async () => {
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

  test('a predecessor’s open transaction is ended, and its later commit is refused', async () => {
    const { connect, wire, codec } = log[internals];
    const groupId = `${log.config.namespace}.scoring`;
    const connection = connect();
    await connection.open([wire('scoring.events')]);
    const zombie = createTransactionalProducer(connection, { transactionalId: `${groupId}.0`, groupId });
    await zombie.fence();
    await zombie.begin();
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

  test('answers lost at any request, and failures at any step, leave each command decided once', async () => {
    const next = random(20_260_131);
    let disturbances = 0;
    const cut = () => {
      disturbances++;
      return Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError' });
    };
    const on = disturbed(async (request, run) => {
      if (
        disturbances > 40 ||
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
        if (disturbances < 40 && next() < 0.1)
          throw Object.assign(new Error('the database is away'), { retriable: true });
      },
      decide() {
        if (disturbances < 40 && next() < 0.05)
          throw Object.assign(new Error('the database is away'), { retriable: true });
      },
    };
    const processor = await start(stores, { on, faults });
    for (let round = 0; round < 100 && disturbances < 40; round++) {
      await command(3);
      await eventually('some progress', () => rulesetsInStores(stores).size > ids.size - 30, 60_000);
    }
    await eventually('all folded', () => rulesetsInStores(stores).size === ids.size, 60_000);
    await stopAll();
    expect(disturbances).toBeGreaterThan(30);
    expect(processor.fatal).toEqual([]);
    await expectOnceEach(ids, stores);
  }, 90_000);

  test('a rebuild drops the state, folds all events anew and ends with the same', async () => {
    const before = new Map([...stores].map(([partition, { rulesets }]) => [partition, new Map(rulesets)]));
    await start(stores);
    const { positions } = await requestRebuild(log, 'scoring');
    expect(
      await waitUntilConsumed(log, 'scoring', 'scoring.commands', positions, { timeoutMs: 20_000 }),
    ).toBe(true);
    await stopAll();
    expect([...stores.values()].map((store) => store.resets)).toEqual([1, 1, 1]);
    for (const [partition, rulesets] of before) {
      expect([...storeOf(stores, partition).rulesets.keys()].sort()).toEqual([...rulesets.keys()].sort());
    }
    await expectOnceEach(ids, stores);
  }, 40_000);

  test('a state hears when it has caught up: after all folds of the log, before it decides, and again after a rebuild', async () => {
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
    const { positions } = await requestRebuild(log, 'scoring');
    expect(
      await waitUntilConsumed(log, 'scoring', 'scoring.commands', positions, { timeoutMs: 20_000 }),
    ).toBe(true);
    await stopAll();
    const inOrder = steps.filter((step, index) => step !== steps[index - 1]);
    expect(inOrder).toEqual(['fold', 'caught up with true', 'decide', 'fold', 'caught up with true']);
  }, 40_000);

  test('a state that reflects more than there is on the log is folded anew', async () => {
    storeOf(stores, 1).checkpoint = { offset: 1_000_000n, positions: {} };
    storeOf(stores, 1).rulesets.set(randomUUID(), { count: 1, offset: 999_999n });
    await start(stores);
    await command(1, { partition: 1 });
    await eventually('folded', () => [...ids].every((id) => rulesetsInStores(stores).has(id)));
    await stopAll();
    await expectOnceEach(ids, stores);
  }, 30_000);
});

describe('processors of one service', () => {
  beforeAll(fresh, 60_000);
  afterAll(clear, 30_000);

  test('share the partitions; when one leaves or another joins, the rest is taken over and nothing is done twice', async () => {
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

describe('records that cannot be taken', () => {
  beforeAll(fresh, 60_000);
  afterAll(clear, 30_000);
  const stores = createStores();
  const ids = new Set<string>();
  const poison = new Set<string>();
  const letters = async (): Promise<DeadLetter[]> => {
    const all: DeadLetter[] = [];
    for await (const letter of listDeadLetters(log, 'scoring')) all.push(letter);
    return all;
  };
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

  test('bad bytes, unknown types, wrong payloads and ones that make deciding throw are parked; the partition goes on', async () => {
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
    await putRaw(log, 'scoring.events', [{ partition: 0, value: '{}', headers: { type: 'RulesetCreated' } }]);
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

  test('a dead letter has the record’s bytes and key as they came', async () => {
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

  test('what is sent again is taken once, however often the command is given; what fails again is parked again', async () => {
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

  test('a record of another service’s topic is sent again to this service alone', async () => {
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

test('a state that keeps failing without a passing cause ends the process in place of standing still', async () => {
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
