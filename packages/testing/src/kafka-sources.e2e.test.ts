// A Kafka topic of a producer as a source of events: every format, exactly once from offset to score through SIGKILL and rebalances, and
// records that cannot be taken.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { leadIdOf, type routeDeclarations } from '@lead-scoring/contracts';
import { listDeadLetters, type DeadLetter } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import type { Message } from 'kafkajs';
import {
  openProducersKafka,
  startKafkaSource,
  type KafkaSource,
  type ProducersKafka,
} from './kafka-sources.js';
import { openSystemLog } from './system-log.js';
import { checkout, startTestSystem, upToScoring, type TestSystem } from './test-system.js';

let system: TestSystem;
let kafka: ProducersKafka;
/** Of one unit, and of two. */
let credential: string;
let credentialOfTwo: string;
let secondUnit: string;

const points = 5;

beforeAll(async () => {
  system = await startTestSystem({ instances: upToScoring });
  kafka = await openProducersKafka(system);
  const { body: unit } = await system.request<{ id: string }>('/org-units', { body: { name: 'Second' } });
  secondUnit = unit.id;
  credential = await credentialOf('Orders', [system.ouId]);
  credentialOfTwo = await credentialOf('Orders of two units', [system.ouId, secondUnit]);
  for (const unitId of [system.ouId, secondUnit]) {
    const { status } = await system.request('/engagement-scoring/rules', {
      headers: { 'x-ou-id': unitId },
      body: { event_type: 'Order Placed', weight: points },
    });
    expect(status).toBe(201);
  }
}, 300_000);
afterAll(async () => {
  await kafka.stop();
  await system.stop();
}, 60_000);

async function credentialOf(name: string, ou_ids: string[]): Promise<string> {
  const { status, body } = await system.request<{ client_id: string; client_secret: string }>('/secrets', {
    body: { name, scopes: ['ingest'], ou_ids },
  });
  expect(status).toBe(201);
  return `${body.client_id}.${body.client_secret}`;
}

const inUnit = (unitId: string) => ({ headers: { 'x-ou-id': unitId } });

async function leadNamed(kind: string, alias: string, unitId: string): Promise<Lead | undefined> {
  const query = new URLSearchParams({ alias_kind: kind, alias }).toString();
  const found = await system.request<{ lead_id: string }>(`/lead-by-alias?${query}`, inUnit(unitId));
  if (found.status !== 200) return undefined;
  const { body } = await system.request<{ data: Lead[] }>(
    `/leads?q=${encodeURIComponent(alias)}`,
    inUnit(unitId),
  );
  return body.data.find(({ id }) => id === found.body.lead_id);
}

type Lead = routeDeclarations.Lead;

const leadWith = (alias: string, eventCount: number, { kind = 'email', unitId = system.ouId } = {}) =>
  eventually(
    `${alias} has ${String(eventCount)} events`,
    async () => {
      const lead = await leadNamed(kind, alias, unitId);
      return lead?.event_count === eventCount && lead.score === eventCount * points ? lead : undefined;
    },
    60_000,
  );

async function eventsOf(alias: string, unitId = system.ouId) {
  const { body } = await system.request<{
    data: { event_type: string; timestamp: string; event_id?: string; metadata?: object }[];
  }>(`/events/${leadIdOf(unitId, 'email', alias)}?limit=100`, inUnit(unitId));
  return body.data;
}

/** Sends records to the partition of their number, or of their key. */
const send = (topic: string, messages: Message[]) => kafka.producer.send({ topic, acks: -1, messages });

async function lettersOf(source: string): Promise<DeadLetter[]> {
  const log = openSystemLog(system);
  try {
    const letters: DeadLetter[] = [];
    for await (const letter of listDeadLetters(log, 'gateway'))
      if (letter.source === source) letters.push(letter);
    return letters;
  } finally {
    await log.close();
  }
}

/** Runs a source while `use` runs. */
async function withSource(
  options: Parameters<typeof startKafkaSource>[1],
  use: (source: KafkaSource) => Promise<void>,
): Promise<void> {
  const source = await startKafkaSource(system, options);
  try {
    await source.ready();
    await use(source);
  } catch (error) {
    throw new Error(`${String(error)}\n${(await source.log()).slice(-4_000)}`, { cause: error });
  } finally {
    await source.stop();
  }
}

const orders = {
  alias_kind: { fixed: 'email' },
  alias: { value: 'email' },
  event_type: { fixed: 'Order Placed' },
  metadata: { value: '' },
};

test('the example of docs/sources.md does what it says', async () => {
  const page = await readFile(join(checkout, 'docs/sources.md'), 'utf8');
  const section = page.slice(page.indexOf('## A Kafka topic of your own'));
  const [file = '', record = ''] = [...section.matchAll(/```json\n([^`]*)```/g)].map(([, text]) => text);
  const description = JSON.parse(file) as { topic: string };
  const topic = await kafka.createTopic('example', 3);
  await withSource({ file: { ...description, topic }, credential }, async () => {
    const when = Date.parse('2026-03-01T10:00:00.000Z');
    await send(topic, [
      {
        key: 'customer-17',
        value: record,
        headers: { event: 'Order Placed' },
        timestamp: String(when),
      },
    ]);
    const lead = await leadWith('ada@example.com', 1);
    expect(lead.aliases.map(({ alias_kind, alias }) => `${alias_kind}:${alias}`).sort()).toEqual([
      'email:ada@example.com',
      'user_id:customer-17',
    ]);
    const [event] = await eventsOf('ada@example.com');
    expect(event).toMatchObject({
      event_type: 'Order Placed',
      timestamp: '2026-03-01T09:59:58.250Z',
      event_id: 'order-4711',
      metadata: { amount: 17.5, currency: 'EUR' },
    });
  });
}, 240_000);

describe('formats', () => {
  const who = (mark: string) => `${mark}@formats.example`;

  test('JSON: compressed too, with the record’s place as id, its time, and the unit that it names', async () => {
    const topic = await kafka.createTopic('json', 2);
    const file = {
      name: 'json',
      topic,
      format: 'json',
      event: { ...orders, ou_id: { header: 'unit' } },
    };
    await withSource({ file, credential: credentialOfTwo }, async () => {
      const at = Date.parse('2026-02-01T00:00:00.000Z');
      await kafka.producer.send({
        topic,
        compression: 1,
        messages: [
          {
            partition: 0,
            value: JSON.stringify({ email: who('json'), n: 1 }),
            timestamp: String(at),
            headers: { unit: system.ouId },
          },
          {
            partition: 1,
            value: JSON.stringify({ email: who('json'), n: 2 }),
            headers: { unit: secondUnit },
          },
        ],
      });
      await leadWith(who('json'), 1);
      await leadWith(who('json'), 1, { unitId: secondUnit });
      expect(await eventsOf(who('json'))).toMatchObject([
        {
          event_id: `json/${topic}/0/0/${String(at)}`,
          timestamp: '2026-02-01T00:00:00.000Z',
          metadata: { email: who('json'), n: 1 },
        },
      ]);
    });
  }, 240_000);

  test('JSON and Avro in the wire format of the schema registry, with a schema that changes', async () => {
    const topic = await kafka.createTopic('registry', 1);
    const registry = new SchemaRegistry({ host: system.endpoints.schemaRegistryUrl });
    const subject = (name: string) => ({ subject: `${topic}-${name}` });
    const jsonSchema = (more: object = {}) => ({
      type: SchemaType.JSON as const,
      schema: JSON.stringify({
        $id: 'https://shop.example/order.json',
        type: 'object',
        properties: { email: { type: 'string' }, amount: { type: 'number' }, ...more },
        required: ['email'],
        additionalProperties: false,
      }),
    });
    const avro = {
      type: 'record',
      name: 'Order',
      namespace: 'shop',
      fields: [
        { name: 'email', type: 'string' },
        { name: 'amount', type: ['null', 'double'], default: null },
        { name: 'placed_at', type: { type: 'long', logicalType: 'timestamp-millis' } },
        { name: 'digest', type: 'bytes' },
        {
          name: 'customer',
          type: { type: 'record', name: 'Customer', fields: [{ name: 'name', type: 'string' }] },
        },
      ],
    };
    const first = await registry.register(jsonSchema(), subject('json'));
    const second = await registry.register(jsonSchema({ note: { type: 'string' } }), subject('json'));
    const third = await registry.register(
      { type: SchemaType.AVRO, schema: JSON.stringify(avro) },
      subject('avro'),
    );
    const file = {
      name: 'registry',
      topic,
      format: 'registry',
      event: { ...orders, timestamp: { value: 'placed_at' } },
    };
    await withSource({ file, credential }, async () => {
      const placed_at = Date.parse('2026-01-15T12:00:00.500Z');
      await send(topic, [
        { value: await registry.encode(first.id, { email: who('registry'), amount: 1 }) },
        { value: await registry.encode(second.id, { email: who('registry'), note: 'x' }) },
        // It does not fit its schema.
        { value: Buffer.concat([prefixOf(first.id), Buffer.from('{"email": 17}')]) },
        { value: Buffer.concat([prefixOf(2_000_000_000), Buffer.from('{}')]) },
        { value: Buffer.from('{"email": "plain@formats.example"}') },
        {
          value: await registry.encode(third.id, {
            email: who('avro'),
            amount: 17.5,
            placed_at,
            digest: Buffer.from('ada'),
            customer: { name: 'Ada' },
          }),
        },
      ]);
      await leadWith(who('registry'), 2);
      await leadWith(who('avro'), 1);
      expect(await eventsOf(who('avro'))).toMatchObject([
        {
          timestamp: '2026-01-15T12:00:00.500Z',
          metadata: { amount: 17.5, placed_at, digest: 'YWRh', customer: { name: 'Ada' } },
        },
      ]);
      const letters = await eventually('three are dead letters', async () => {
        const found = await lettersOf('registry');
        return found.length === 3 ? found : undefined;
      });
      const reasons = letters.map(({ origin, reason }) => [Number(origin.offset), reason]);
      expect(reasons).toEqual([
        [2, expect.stringContaining(`does not fit its schema ${String(first.id)} at /email`)],
        [3, expect.stringContaining('names the schema 2000000000, which the registry does not have')],
        [4, expect.stringContaining('is not in the wire format')],
      ]);
    });
  }, 240_000);

  function prefixOf(id: number): Buffer {
    const prefix = Buffer.alloc(5);
    prefix.writeInt32BE(id, 1);
    return prefix;
  }
});

test('a record that cannot be taken becomes a dead letter with its place and reason, and those behind it are taken', async () => {
  const topic = await kafka.createTopic('poison', 1);
  const file = { name: 'poison', topic, format: 'json', event: { ...orders, timestamp: { value: 'at' } } };
  await withSource({ file, credential }, async ({ processes }) => {
    const alias = 'poison@example.com';
    const good = { value: JSON.stringify({ email: alias }) };
    const tomorrow = new Date(Date.now() + 48 * 3_600_000).toISOString();
    await send(topic, [
      good,
      { value: '{"email": ' },
      { value: Buffer.from([0xff, 0xfe]) },
      { value: JSON.stringify({ mail: alias }) },
      { key: alias, value: null },
      { value: JSON.stringify({ email: { deep: true } }) },
      { value: JSON.stringify({ email: alias, at: tomorrow }) },
      { value: JSON.stringify({ email: alias, text: 'x'.repeat(200_000) }) },
      { value: `${'['.repeat(5_000)}${']'.repeat(5_000)}` },
      good,
    ]);
    await leadWith(alias, 2);
    const letters = await eventually('seven are dead letters', async () => {
      const found = await lettersOf('poison');
      return found.length === 7 ? found : undefined;
    });
    expect(letters.map(({ origin, reason }) => [origin.topic, Number(origin.offset), reason])).toEqual([
      [topic, 1, 'the value is not JSON'],
      [topic, 2, 'the value is not UTF-8'],
      [topic, 3, expect.stringContaining('alias is missing')],
      [topic, 5, 'alias: what is at email in the value must be a text or a number'],
      [topic, 6, 'timestamp must be at most 24 hours in the future'],
      [topic, 7, expect.stringContaining('metadata')],
      [topic, 8, expect.stringContaining('alias is missing')],
    ]);
    const metrics = await (await fetch(`${processes[0]?.url ?? ''}/metrics`)).text();
    expect(metrics).toMatch(/topic_source_records_total\{[^}]*outcome="dead_letter"[^}]*\} 7\b/);
    expect(metrics).toMatch(/topic_source_records_total\{[^}]*outcome="taken"[^}]*\} 2\b/);
    expect(metrics).toMatch(/topic_source_records_total\{[^}]*outcome="empty"[^}]*\} 1\b/);
  });
}, 240_000);

describe('exactly once', () => {
  const leads = 150;
  const eventsPerLead = 100;
  const aliasOf = (lead: number, mark: string) => `lead-${String(lead)}@${mark}.example`;
  const file = (topic: string, name: string) => ({ name, topic, format: 'json', event: orders });

  /** Sends as many events of each lead, in several calls. */
  async function sendAll(topic: string, mark: string): Promise<void> {
    for (let round = 0; round < eventsPerLead; round += 1)
      await send(
        topic,
        Array.from({ length: leads }, (_, lead) => ({
          key: String(lead + round),
          value: JSON.stringify({ email: aliasOf(lead, mark), round }),
        })),
      );
  }

  /** Whether each lead has each event once, in score and event count. */
  async function expectAllOnce(mark: string): Promise<void> {
    for (let lead = 0; lead < leads; lead += 1) await leadWith(aliasOf(lead, mark), eventsPerLead);
    const events = await eventsOf(aliasOf(0, mark));
    const rounds = events.map(({ metadata }) => (metadata as { round: number }).round);
    expect(rounds.sort((a, b) => a - b)).toEqual(Array.from({ length: eventsPerLead }, (_, round) => round));
  }

  const committed = async (topic: string, name: string) => {
    const [found] = await kafka.admin.fetchOffsets({
      groupId: `${system.namespace}.source.${name}`,
      topics: [topic],
    });
    return (found?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
  };

  const repeats = async () => (await system.request<{ repeats: number }>('/event-stats')).body.repeats;

  test('the process is killed again and again while it takes events, and its offsets are set back to the beginning', async () => {
    const topic = await kafka.createTopic('killed', 3);
    const options = { file: file(topic, 'killed'), credential };
    await withSource(options, async (source) => {
      const sending = sendAll(topic, 'killed');
      // Restarted by its supervisor each time.
      for (const share of [0, 0.3, 0.6]) {
        await eventually(
          'more is committed',
          async () => (await committed(topic, 'killed')) >= share * leads * eventsPerLead,
          60_000,
        );
        source.processes[0]?.process.kill('SIGKILL');
      }
      await sending;
      await expectAllOnce('killed');
    });
    await eventually(
      'Kafka has forgotten the killed members, and takes other offsets',
      async () => {
        await kafka.admin.setOffsets({
          groupId: `${system.namespace}.source.killed`,
          topic,
          partitions: [0, 1, 2].map((partition) => ({ partition, offset: '0' })),
        });
        return true;
      },
      60_000,
    );
    const before = await repeats();
    await withSource(options, async () => {
      const total = leads * eventsPerLead;
      await eventually(
        'all is read again',
        async () => (await committed(topic, 'killed')) === total,
        120_000,
      );
      await eventually('all are counted as repeats', async () => (await repeats()) === before + total);
      await expectAllOnce('killed');
    });
  }, 480_000);

  test('two processes share the partitions, and one ends and comes back while events come in', async () => {
    const topic = await kafka.createTopic('shared', 4);
    const options = { file: file(topic, 'shared'), credential, processes: 2 };
    await withSource(options, async (source) => {
      await source.ready(1);
      const partitionsOf = async () => {
        const { groups } = await kafka.admin.describeGroups([`${system.namespace}.source.shared`]);
        return groups[0]?.members.length;
      };
      await eventually('both are members', async () => (await partitionsOf()) === 2, 60_000);
      const sending = sendAll(topic, 'shared');
      const second = source.processes[1]?.process;
      await eventually('some is committed', async () => (await committed(topic, 'shared')) > 0, 60_000);
      await second?.stop();
      await second?.start();
      await source.ready(1);
      second?.kill('SIGKILL');
      await sending;
      await expectAllOnce('shared');
    });
  }, 480_000);
});

test('a credential that ends stops the source, and nothing is lost: another one reads on', async () => {
  const topic = await kafka.createTopic('ended', 1);
  const ending = await credentialOf('Ends', [system.ouId]);
  const [clientId = '', secret = ''] = ending.split('.');
  const file = { name: 'ended', topic, format: 'json', event: orders };
  const order = { value: JSON.stringify({ email: 'ended@example.com' }) };
  await withSource({ file, credential: ending }, async ({ processes, log }) => {
    await send(topic, [order]);
    await leadWith('ended@example.com', 1);
    await system.request(`/secrets/${clientId}`, { method: 'DELETE' });
    await eventually('the source is not ready', async () => {
      const answer = await fetch(`${processes[0]?.url ?? ''}/readyz`);
      return answer.status === 503;
    });
    await send(topic, [order]);
    await eventually('it says why', async () => (await log()).includes('SourceRefused'));
    expect(await log()).not.toContain(secret);
  });
  await withSource({ file, credential }, async () => {
    await leadWith('ended@example.com', 2);
  });
}, 240_000);
