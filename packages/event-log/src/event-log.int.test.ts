// Preparation, writing, requests, projections and operations, against real servers.
import { isDeepStrictEqual } from 'node:util';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectorNames, defineRecord, records as declarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import kafkajs from 'kafkajs';
import { z } from 'zod';
import { ReplyTimeout } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { takingAll } from './inputs.js';
import { endOffsets, listLag, waitUntilConsumed } from './operations.js';
import { tail, type TailedRecord } from './tail.js';
import type { Checkpoint } from './processor-options.js';
import { createProjector, type ProjectionState } from './projector.js';
import { isRecord, type OutgoingRecord } from './records.js';
import { createRequester } from './requester.js';
import { createRegistryClient } from './registry-client.js';
import { createSchemaStore, subjectOf } from './schemas.js';
import {
  createRuleset,
  createStores,
  leadScored,
  logger,
  putRaw,
  removeNamespace,
  rulesetCreated,
  startProcessor,
  startWriter,
  testLog,
  testLogOfOwnSchemas,
} from './testing/test-support.js';
import { createRecordWriter, type RecordWriter } from './writer.js';

let log: EventLog;
let writer: RecordWriter;
let stopWriter: () => Promise<void>;

beforeAll(async () => {
  log = testLogOfOwnSchemas();
  // Several services prepare at once.
  const others = [1, 2].map(() => testLogOfOwnSchemas({ namespace: log.config.namespace }));
  await Promise.all([log, ...others].map((one) => one.prepare()));
  ({ value: writer, stop: stopWriter } = await startWriter(log));
}, 60_000);

afterAll(async () => {
  await stopWriter();
  await removeNamespace(log);
}, 30_000);

describe('preparation', () => {
  test('topics are made as declared', async () => {
    const admin = log[internals].kafka.admin();
    await admin.connect();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: `${log.config.namespace}.scoring.events` },
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: `${log.config.namespace}.replies` },
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: `${log.config.namespace}.scoring.commands` },
      ],
    });
    await admin.disconnect();
    const settings = resources.map(({ configEntries }) =>
      Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    );
    expect(settings[0]).toMatchObject({
      'retention.ms': '-1',
      'cleanup.policy': 'delete',
      'unclean.leader.election.enable': 'false',
    });
    expect(settings[1]).toMatchObject({ 'retention.ms': '3600000', 'segment.ms': '3600000' });
    // Files of a day: no command is kept for longer than eight days.
    expect(settings[2]).toMatchObject({ 'retention.ms': '604800000', 'segment.ms': '86400000' });
  });

  test('the offsets of a new topic can be read although its leader does not know it yet', async () => {
    const { connect, kafka } = log[internals];
    const admin = kafka.admin();
    await admin.connect();
    const partitions = Array.from({ length: 40 }, (_, partition) => partition);
    const names = ['one', 'two', 'three', 'four', 'five'].map(
      (name) => `${log.config.namespace}.new.${name}`,
    );
    for (const topic of names) {
      await admin.createTopics({
        topics: [{ topic, numPartitions: partitions.length }],
        waitForLeaders: false,
      });
      const connection = connect();
      await connection.open([topic]);
      const offsets = await Promise.all(
        partitions.map((partition) => connection.offset(topic, partition, 'latest')),
      );
      connection.close();
      expect(new Set(offsets)).toEqual(new Set([0n]));
    }
    await admin.deleteTopics({ topics: names });
    await admin.disconnect();
  }, 60_000);

  test('a PARTITIONS setting that differs from the topics is refused with the value to set', async () => {
    const other = testLog({ namespace: log.config.namespace, partitions: 5 });
    await expect(other.prepare()).rejects.toMatchObject({
      code: 'topic_mismatch',
      message: expect.stringContaining('PARTITIONS=3'),
    });
    await other.close();
  });

  test('an incompatible schema is refused with subject, type and reason; a compatible one is accepted', async () => {
    const base = { type: 'Probe', topic: 'scoring.events', key: 'ou_id', description: 'A probe.' } as const;
    const store = (schema: z.ZodType) =>
      createSchemaStore({
        registry: createRegistryClient({
          url: log.config.schemaRegistryUrl,
          clientId: 'test',
          access: {},
        }),
        namespace: log.config.namespace,
        declarations: [defineRecord({ ...base, schema })],
      });
    const subject = subjectOf(log.config.namespace, { ...base, schema: z.unknown() } as never);
    await store(z.strictObject({ a: z.string() })).register();
    const config = `${log.config.schemaRegistryUrl}/config/${encodeURIComponent(subject)}`;
    expect(await (await fetch(config)).json()).toEqual({ compatibilityLevel: 'BACKWARD' });
    // As after a process that died between creating the subject and setting its level.
    await fetch(config, {
      method: 'PUT',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ compatibility: 'NONE' }),
    });
    await expect(store(z.strictObject({ a: z.string(), b: z.string() })).register()).rejects.toMatchObject({
      code: 'incompatible_schema',
      message: expect.stringMatching(/Probe on scoring\.events.*scoring\.events-Probe.*REQUIRED/s),
    });
    await expect(store(z.strictObject({ a: z.number() })).register()).rejects.toMatchObject({
      code: 'incompatible_schema',
    });
    await store(z.strictObject({ a: z.string(), b: z.string().optional() })).register();
  }, 30_000);

  test('a record with a schema that another version of the system registered is decoded', async () => {
    const { codec, schemas } = log[internals];
    const { declaration, payload } = createRuleset();
    const subject = subjectOf(log.config.namespace, declaration);
    const response = await fetch(
      `${log.config.schemaRegistryUrl}/subjects/${encodeURIComponent(subject)}/versions`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        body: JSON.stringify({
          schemaType: 'JSON',
          schema: JSON.stringify({
            ...z.toJSONSchema(declaration.schema, { target: 'draft-7' }),
            description: 'another version',
          }),
        }),
      },
    );
    const { id } = (await response.json()) as { id: number };
    const value = codec.encode(declaration, payload);
    value.writeInt32BE(id, 1);
    const record = {
      offset: 0n,
      timestamp: 0,
      key: null,
      value,
      headers: { type: Buffer.from('CreateRuleset') },
    };
    expect(schemas.known(id)).toBe(false);
    await codec.loadSchemas([record]);
    expect(codec.decode('scoring.commands', 0, record)).toMatchObject({ payload });
    expect(
      codec.decode('scoring.commands', 0, { ...record, headers: { type: Buffer.from('CreateRule') } }),
    ).toHaveProperty('problem');
  });
});

describe('the writer', () => {
  test('returns the position of each record, which is stored with its key and headers', async () => {
    const records = Array.from({ length: 50 }, () => createRuleset({ headers: { ou: 'x' } }));
    const positions = await writer.write(records);
    const found = new Map<string, TailedRecord>();
    for await (const record of tail(log, 'scoring.commands', { from: 'beginning', follow: false })) {
      found.set(`${record.partition}:${record.offset}`, record);
    }
    records.forEach(({ key, payload }, index) => {
      const position = positions[index];
      expect(position?.partition).toBe(log.partitionOf(key));
      expect(found.get(`${position?.partition ?? ''}:${position?.offset ?? ''}`)).toMatchObject({
        key,
        payload,
        type: 'CreateRuleset',
        headers: { ou: 'x' },
      });
    });
  });

  test('records written since a time can be read alone', async () => {
    await writer.write([createRuleset()]);
    const written = Date.now() + 1;
    await eventually('the next millisecond', () => Date.now() >= written);
    const since = () => tail(log, 'scoring.commands', { from: new Date(written), follow: false });
    for await (const { offset } of since()) expect(offset).toBeUndefined();
    const later = createRuleset();
    await writer.write([later]);
    const found: unknown[] = [];
    for await (const { payload } of since()) found.push(payload);
    expect(found).toEqual([later.payload]);
  });

  test('reading since a time before 1970 returns all records', async () => {
    const record = createRuleset();
    await writer.write([record]);
    const found: unknown[] = [];
    for (const from of [new Date('1680-01-06'), new Date(-1)])
      for await (const { payload } of tail(log, 'scoring.commands', { from, follow: false }))
        found.push(payload);
    const { payload } = record;
    expect(found.filter((one) => isDeepStrictEqual(one, payload))).toHaveLength(2);
  });

  test('rejects within its timeout when the brokers cannot be reached', async () => {
    const away = testLog({ namespace: log.config.namespace });
    const unreachable = {
      ...away,
      [internals]: {
        ...away[internals],
        codec: log[internals].codec,
        connect: () => testLogAt('127.0.0.1:1')[internals].connect(),
      },
    };
    const { value, stop } = await createRecordWriter(unreachable, { timeoutMs: 1_000 }).start();
    await expect(value.write([createRuleset()])).rejects.toMatchObject({
      code: 'log_unavailable',
      retriable: true,
    });
    await stop();
  }, 20_000);
});

function testLogAt(broker: string): EventLog {
  const before = process.env.KAFKA_BROKERS;
  process.env.KAFKA_BROKERS = broker;
  try {
    return testLog();
  } finally {
    if (before !== undefined) process.env.KAFKA_BROKERS = before;
  }
}

describe('a request', () => {
  test('is answered after the fold, so that the caller reads its own write', async () => {
    const stores = createStores();
    const processor = await startProcessor(log, stores);
    const { value: requester, stop } = await createRequester(log, { writer }).start();
    await eventually('ready', () => processor.status.ready() && processor.status.partitions().length === 3);
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const command = createRuleset();
        const reply = await requester.request(command, { timeoutMs: 10_000 });
        return { reply, folded: stores.get(log.partitionOf(command.key))?.rulesets.has(command.key) };
      }),
    );
    expect(answers.every(({ reply, folded }) => reply.outcome === 'done' && folded === true)).toBe(true);
    await stop();
    await processor.stop();
  }, 30_000);

  test('without a reply rejects with ReplyTimeout', async () => {
    const { value: requester, stop } = await createRequester(log, { writer }).start();
    await expect(requester.request(createRuleset(), { timeoutMs: 200 })).rejects.toBeInstanceOf(ReplyTimeout);
    await stop();
  }, 20_000);
});

describe('operations', () => {
  test('the lag is the number of records that a service has not read', async () => {
    const stores = createStores();
    const [position] = await writer.write([createRuleset({ partition: 1 })]);
    const offset = position?.offset ?? 0n;
    const before = await listLag(log, 'scoring');
    expect(
      before.find(({ topic, partition }) => topic === 'scoring.commands' && partition === 1)?.lag,
    ).toBeGreaterThanOrEqual(1n);
    expect(
      await waitUntilConsumed(log, 'scoring', 'scoring.commands', [{ partition: 1, offset }], {
        timeoutMs: 200,
      }),
    ).toBe(false);
    const processor = await startProcessor(log, stores);
    expect(
      await waitUntilConsumed(log, 'scoring', 'scoring.commands', [{ partition: 1, offset }], {
        timeoutMs: 20_000,
      }),
    ).toBe(true);
    await processor.stop();
  }, 40_000);

  test('a tail returns new records, with the reason for each that cannot be decoded', async () => {
    const ending = new AbortController();
    const seen: TailedRecord[] = [];
    const following = (async () => {
      for await (const record of tail(log, 'gateway.events', { signal: ending.signal })) seen.push(record);
    })();
    await eventually('both seen', async () => {
      await putRaw(log, 'gateway.events', [{ partition: 2, value: 'junk', headers: { type: 'Odd' } }]);
      return seen.length >= 2;
    });
    expect(seen[0]).toMatchObject({
      type: 'Odd',
      payload: null,
      error: expect.stringContaining('not declared'),
    });
    ending.abort();
    await following;
  }, 20_000);
});

describe('a projector', () => {
  interface Row {
    name: string;
    offset: bigint;
    applied: number;
  }
  type Rows = Map<string, Row>;

  function projection(
    tables: Map<number, { rows: Rows; checkpoint: Checkpoint }>,
    partition: number,
    faults: { store?: () => void } = {},
  ): ProjectionState {
    const table = tables.get(partition) ?? {
      rows: new Map<string, Row>(),
      checkpoint: { offset: 0n, positions: {} },
    };
    tables.set(partition, table);
    return {
      checkpoint: () =>
        Promise.resolve({ ...table.checkpoint, positions: { ...table.checkpoint.positions } }),
      fold(records) {
        for (const record of records) {
          if (!isRecord(record, declarations.createRuleset)) continue;
          const { ruleset_id: id, name } = record.payload;
          const known = table.rows.get(id);
          if (known && known.offset >= record.offset) continue;
          table.rows.set(id, { name, offset: record.offset, applied: (known?.applied ?? 0) + 1 });
        }
        return Promise.resolve();
      },
      store(checkpoint) {
        faults.store?.();
        table.checkpoint = checkpoint;
        return Promise.resolve();
      },
      reset() {
        table.rows.clear();
        table.checkpoint = { offset: 0n, positions: {} };
        return Promise.resolve();
      },
    };
  }

  test('folding records twice changes nothing', async () => {
    const tables = new Map<number, { rows: Rows; checkpoint: Checkpoint }>();
    let failures = 3;
    const { value, stop } = await createProjector(log, {
      name: `rulesets-${randomUUID().slice(0, 8)}`,
      inputs: takingAll('scoring.commands'),
      open: (partition) =>
        Promise.resolve(
          projection(tables, partition, {
            store() {
              if (failures-- > 0) throw Object.assign(new Error('the database is away'), { retriable: true });
            },
          }),
        ),
      logger,
      onFatal: (error) => {
        throw error;
      },
    }).start();
    const all = Array.from({ length: 30 }, () => createRuleset());
    await writer.write(all);
    const rows = () => [...tables.values()].flatMap((table) => [...table.rows]);
    await eventually('all folded', () => all.every(({ key }) => rows().some(([id]) => id === key)));
    await eventually('ready', () => value.ready());
    await eventually('the database is back', () => failures < 0);
    expect(new Set(rows().map(([, { applied }]) => applied))).toEqual(new Set([1]));
    await stop();
  }, 40_000);

  test('lingers on records that may wait until its interval is over or an urgent record arrives', async () => {
    const folded: string[][] = [];
    const keys = new Set<string>();
    const { value, stop } = await createProjector(log, {
      name: `rulesets-${randomUUID().slice(0, 8)}`,
      inputs: takingAll('scoring.events'),
      open: (partition) => {
        const state = projection(new Map(), partition);
        return Promise.resolve({
          ...state,
          fold: (records) => {
            const ours = records.filter(({ key }) => key !== null && keys.has(key));
            if (ours.length > 0) folded.push(ours.map(({ declaration }) => declaration.type));
            return state.fold(records);
          },
        });
      },
      logger,
      onFatal: (error) => {
        throw error;
      },
      everyMs: 60_000,
    }).start();
    await eventually('ready', () => value.ready());
    const written = async (...records: OutgoingRecord[]) => {
      for (const { key } of records) keys.add(key);
      await writer.write(records);
    };
    const lingers = async () => {
      folded.length = 0;
      await written(rulesetCreated());
      await eventually('the first is folded', () => folded.length === 1);
      await written(leadScored(), leadScored());
      await written(rulesetCreated());
      await eventually('all are folded', () => folded.flat().length >= 4);
      return [...folded];
    };
    try {
      // A linger may end early: while more is in the log than was fetched, and when a busy machine costs the process its partitions.
      const found: string[][][] = [];
      for (let attempt = 0; attempt < 5; attempt += 1) found.push(await lingers());
      const usual = [['RulesetCreated'], ['LeadScored', 'LeadScored', 'RulesetCreated']];
      expect(found.filter((one) => isDeepStrictEqual(one, usual)).length).toBeGreaterThanOrEqual(3);
    } finally {
      await stop();
    }
  }, 60_000);

  test('its lag is listed with that of its service', async () => {
    const tables = new Map<number, { rows: Rows; checkpoint: Checkpoint }>();
    const [name] = projectorNames.share;
    const { stop } = await createProjector(log, {
      name,
      inputs: takingAll('scoring.commands'),
      open: (partition) => Promise.resolve(projection(tables, partition)),
      logger,
      onFatal: (error) => {
        throw error;
      },
    }).start();
    const [written] = await writer.write([createRuleset({ partition: 2 })]);
    const seen = async () =>
      (await listLag(log, 'share')).find(
        ({ reader, topic, partition }) => reader === name && topic === 'scoring.commands' && partition === 2,
      );
    await eventually('the record is seen to be read', async () => {
      const lag = await seen();
      return lag !== undefined && lag.lag === 0n && lag.position > (written?.offset ?? 0n);
    });
    expect(tables.get(2)?.rows.size).toBeGreaterThan(0);
    await stop();
    const after = await seen();
    await writer.write([createRuleset({ partition: 2 })]);
    expect(await seen()).toMatchObject({ position: after?.position, lag: 1n });
  }, 60_000);

  test('its positions reach the end of a topic, also of one that ends with a commit marker', async () => {
    const processor = await startProcessor(log, createStores());
    const tables = new Map<number, { rows: Rows; checkpoint: Checkpoint }>();
    const { stop } = await createProjector(log, {
      name: `markers-${randomUUID().slice(0, 8)}`,
      inputs: takingAll('scoring.events'),
      open: (partition) => Promise.resolve(projection(tables, partition)),
      logger,
      onFatal: (error) => {
        throw error;
      },
      maxBytesPerBatch: 1,
    }).start();
    await writer.write(Array.from({ length: 9 }, () => createRuleset()));
    await eventually('the events are written', async () => {
      const ends = await endOffsets(log, 'scoring.events', [0, 1, 2]);
      return ends.some(({ offset }) => offset > 0n);
    });
    await processor.stop();
    const ends = await endOffsets(log, 'scoring.events', [0, 1, 2]);
    await eventually('the ends are reached', () =>
      ends.every(
        ({ partition, offset }) =>
          (tables.get(partition)?.checkpoint.positions['scoring.events'] ?? 0n) >= offset,
      ),
    );
    await stop();
  }, 40_000);
});
