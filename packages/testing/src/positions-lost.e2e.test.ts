// A system that was off: for longer than Kafka keeps consumer groups, no record is decided twice; and while what was deleted is erased
// from its log, it is found nowhere afterwards, and everything else is as before.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { run } from '@lead-scoring/cli';
import { serviceNames, topics } from '@lead-scoring/contracts';
import { listLag } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { BSON, type Document } from 'mongodb';
import { placesWith } from './found-text.js';
import { startNotifiedSystem, type FiredNotification, type NotifiedSystem } from './notified-system.js';
import { readTopic, type TopicRecord } from './public-topics.js';
import { startWebhookReceiver, type WebhookReceiver } from './receivers/index.js';
import { rebuild } from './rebuild.js';
import { forgetGroups } from './servers.js';
import {
  differences,
  documentsOfServices,
  inForm,
  notOfTheLog,
  type StoredDocuments,
} from './stored-documents.js';
import { openSystemLog } from './system-log.js';

let system: NotifiedSystem;
let receiver: WebhookReceiver<FiredNotification>;
const leads = Array.from({ length: 6 }, (_, n) => `lead-${String(n)}@example.com`);
const noDocuments: StoredDocuments = new Map();

beforeAll(async () => {
  receiver = await startWebhookReceiver<FiredNotification>();
  system = await startNotifiedSystem([0, 1, 1]);
}, 120_000);

afterAll(async () => {
  await system.stop();
  await receiver.stop();
}, 60_000);

/** Record types that a service writes at every start or opening of a partition; consumers of the topic ignore them. */
const saidOnOpening = new Set(['BeginDelivery', 'BootstrapOrganisation', 'InputsRead']);

async function everyTopic(): Promise<Record<string, TopicRecord[]>> {
  const found: Record<string, TopicRecord[]> = {};
  for (const { name } of topics) {
    if (name === 'replies') continue;
    const records = await readTopic(system.endpoints, `${system.namespace}.${name}`);
    found[name] = records
      .filter(({ type }) => !saidOnOpening.has(type))
      .sort((a, b) => a.partition - b.partition || Number(a.offset - b.offset));
  }
  return found;
}

/** Waits until the new consumer groups of all services have no lag behind these records. */
async function untilReadAgain(records: Record<string, TopicRecord[]>): Promise<void> {
  const log = openSystemLog(system);
  try {
    await eventually(
      'every record is read, as the new groups see it',
      async () => {
        const lags = (await Promise.all(serviceNames.map((service) => listLag(log, service)))).flat();
        return (
          lags.length > 0 &&
          lags.every(({ topic, partition, position }) =>
            (records[topic] ?? []).every(
              (record) => record.partition !== partition || record.offset < position,
            ),
          )
        );
      },
      60_000,
    );
  } finally {
    await log.close();
  }
}

const everyDocument = () => documentsOfServices(system, notOfTheLog);

async function scores(): Promise<number[]> {
  return Promise.all(
    leads.map(
      async (alias) => (await system.request<{ score: number }>(`/score/${system.leadOf(alias)}`)).body.score,
    ),
  );
}

test('is started again, and every record and every document is unchanged', async () => {
  const { id, signing_secret } = await system.webhook('CRM', receiver.url);
  receiver.trust(signing_secret);
  await system.call('createTrigger', { body: { name: 'Hot', score_threshold: 30, channel_ids: [id] } });
  for (const alias of leads)
    await system.happen(
      alias,
      { event_type: 'Pricing View' },
      { event_type: 'Form Submit' },
      { event_type: 'Never Scored' },
    );
  await system.call('deleteLead', { parameters: { leadID: system.leadOf(leads.at(-1) ?? '') } });
  // A command that is answered and has no effect.
  await system.request('/rulesets', { body: { name: 'Behaviour', score_type: 'engagement', active: true } });
  for (const alias of leads.slice(0, -1)) await system.settled(alias);
  const told = receiver.received.length;
  expect(told).toBeGreaterThanOrEqual(leads.length - 1);
  const before = {
    scores: await scores(),
    topics: {} as Record<string, TopicRecord[]>,
    documents: new Map<string, StoredDocuments>(),
  };

  await system.restart(async () => {
    before.topics = await everyTopic();
    before.documents = await everyDocument();
    const forgotten = await forgetGroups(system.endpoints, system.namespace);
    expect(forgotten.length).toBeGreaterThanOrEqual(serviceNames.length);
  });
  await untilReadAgain(before.topics);

  expect(await scores()).toEqual(before.scores);
  expect(await everyTopic()).toEqual(before.topics);
  for (const [service, documents] of await everyDocument())
    expect([service, differences(before.documents.get(service) ?? noDocuments, documents)]).toEqual([
      service,
      [],
    ]);
  expect(receiver.received.length).toBe(told);

  // The system processes new events.
  await system.settled('afterwards@example.com');
}, 180_000);

/** Runs `lead-scoring erase` as an operator does. */
async function erase(...flags: string[]): Promise<{ exitCode: number; written: string; noted: string }> {
  const { kafkaBrokers, schemaRegistryUrl, mongodbUri } = system.endpoints;
  let [written, noted] = ['', ''];
  const exitCode = await run(['erase', ...flags], {
    environment: {
      KAFKA_BROKERS: kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: schemaRegistryUrl,
      MONGODB_URI: mongodbUri,
      NAMESPACE: system.namespace,
    },
    directory: '/',
    stdin: Readable.from([]),
    output: { write: (text) => (written += text), note: (text) => (noted += text), terminal: null },
  });
  return { exitCode, written, noted };
}

/**
 * What a rebuild from the erased log makes as it was. Its bookkeeping leaves the erased records out: places in the log, counters that came
 * down to zero, the time of the first and last event of a type, and how many leads a rule has ever moved.
 */
function comparable(name: string, document: Document): Document | null {
  const compared: Document = { ...document };
  delete compared['offset'];
  if (name === 'rule_moves') return null;
  if (name === 'event_seconds' || name === 'type_scores')
    return Number(compared['count'] ?? compared['events']) === 0 ? null : compared;
  if (name !== 'event_types') return compared;
  const share = JSON.parse(String(compared['share'])) as { count: number };
  if (share.count === 0) return null;
  const withoutTimes = (text: unknown) =>
    String(text).replaceAll(/"(first_seen|last_seen)":"[^"]*"/g, '"$1":""');
  return { ...compared, share: withoutTimes(compared['share']), summary: withoutTimes(compared['summary']) };
}

/** The address of the lead of the unit. */
const tenant = 'lead.of.tenant@erased.example';

interface Erased {
  /** Texts that were in events of the deleted lead, or of the ended unit. */
  texts: readonly string[];
  address: string;
  other: string;
  /** The unit. */
  unitId: string;
}

/** Two deleted leads with notifications and metadata, one that stays, and a unit that has ended with its lead. */
async function deleteSome(): Promise<Erased> {
  const [address, alias, other] = [
    'forget.me@erased.example',
    'also.forget@erased.example',
    'stay@erased.example',
  ];
  const note = 'a-private-note';
  await system.happen(
    address,
    { event_type: 'Pricing View', event_id: 'once', metadata: { note, first_name: note } },
    { event_type: 'Form Submit', metadata: { deal_id: 'deal-1', note } },
    { event_type: 'Form Submit' },
  );
  await system.happen(alias, { event_type: 'Page View', metadata: { note } });
  await system.happen(other, { event_type: 'Pricing View' }, { event_type: 'Form Submit' });
  const unit = await system.call<{ id: string }>('createOrgUnit', { body: { name: 'Tenant' } });
  const inUnit = await system.request<{ position: string }>('/ingest', {
    headers: { 'x-ou-id': unit.id },
    body: [
      {
        alias_kind: 'email',
        alias: tenant,
        event_type: 'Page View',
        timestamp: new Date().toISOString(),
        metadata: { note: tenant },
      },
    ],
  });
  expect(inUnit.status).toBe(202);
  await eventually('the lead of the unit is scored', async () => {
    const { body } = await system.request<{ data: unknown[] }>('/leads', { headers: { 'x-ou-id': unit.id } });
    return body.data.length === 1;
  });
  await system.settled(address);
  await system.settled(other);

  // Otherwise this test would find nothing whatever is erased.
  const everywhere = ['ingest.commands', 'ingest.events', 'notification.events', 'scoring.events'];
  for (const text of [address, note])
    expect(await placesWith(system, text)).toEqual(
      expect.arrayContaining([...everywhere, 'ingest/event_records', 'scoring/leads', 'share/leads']),
    );
  for (const lead of [address, alias])
    await system.call('deleteLead', { parameters: { leadID: system.leadOf(lead) } });
  await system.call('endOrgUnit', { parameters: { id: unit.id } });
  await system.settled(other);
  // Each service has read the deletion.
  const left = ['ingest.commands', 'ingest.events', 'notification.commands', 'notification.events'];
  await eventually('no read model has the lead', async () => {
    const places = await placesWith(system, address);
    return places.every((place) => [...left, 'scoring.events', 'replies'].includes(place))
      ? places
      : undefined;
  });
  return { texts: [address, alias, note, tenant], address, other, unitId: unit.id };
}

test('what was deleted is erased: it is found nowhere, and rebuilt read models are as they were', async () => {
  const { texts, address, other, unitId } = await deleteSome();
  const score = async (alias: string) =>
    (await system.request<{ score?: number }>(`/score/${system.leadOf(alias)}`)).body.score;
  const scoreBefore = await score(other);
  const documents = { before: new Map<string, StoredDocuments>() };
  const told = receiver.received.length;
  await system.restart(async () => {
    documents.before = await everyDocument();
    const erased = await erase('--dead-letters');
    expect(erased.written).toMatch(/scoring\.events +\d+ +[1-9]/);
    expect(erased.written).toContain('ingest.commands: ');
    expect(erased.exitCode).toBe(0);
  });
  const differing = async (form: (name: string, document: Document) => Document | null) => {
    const found: string[] = [];
    for (const [service, now] of await everyDocument()) {
      const before = documents.before.get(service) ?? noDocuments;
      for (const difference of differences(inForm(before, form), inForm(now, form)))
        found.push(`${service}: ${difference}`);
    }
    return found;
  };
  // The services go on with the read models that they have.
  expect(await differing((_, document) => document)).toEqual([]);

  const rebuilt = serviceNames.filter((name) => name !== 'gateway');
  await rebuild(system, rebuilt, 120_000);
  const isOfUnit = (document: Document) => {
    const bytes = Buffer.from(BSON.serialize(document));
    return bytes.includes(unitId) || bytes.includes(Buffer.from(unitId.replaceAll('-', ''), 'hex'));
  };
  expect(
    await differing((name, document) => (isOfUnit(document) ? null : comparable(name, document))),
  ).toEqual([]);
  // The read models of before the rebuild are dropped a minute after it: those still have the lead of the unit.
  const live = [...(await everyDocument()).values()].flatMap((collections) =>
    [...collections.values()].flatMap((found) => [...found.values()].map((bytes) => Buffer.from(bytes))),
  );
  for (const text of texts) {
    const places = await placesWith(system, text);
    expect([text, text === tenant ? places.filter((place) => !place.includes('/')) : places]).toEqual([
      text,
      [],
    ]);
    expect(live.some((bytes) => bytes.includes(text))).toBe(false);
  }
  expect(await score(other)).toBe(scoreBefore);
  expect(receiver.received.length).toBe(told);

  // An event that was counted before the deletion stays a repeat; another one, and the two of `settled`, begin a new lead.
  await system.happen(address, { event_type: 'Pricing View', event_id: 'once' });
  await system.happen(address, { event_type: 'Page View' });
  await system.settled(address);
  expect(await score(address)).toBe(3);
}, 300_000);
