// A system that was off for longer than Kafka keeps consumer groups: no record is decided twice.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { serviceNames, topics } from '@lead-scoring/contracts';
import { listLag } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { startNotifiedSystem, type FiredNotification, type NotifiedSystem } from './notified-system.js';
import { readTopic, type TopicRecord } from './public-topics.js';
import { startWebhookReceiver, type WebhookReceiver } from './receivers/index.js';
import { forgetGroups } from './servers.js';
import { differences, storedDocuments, type StoredDocuments } from './stored-documents.js';
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

/** Collections that differ after any restart: checkpoints, and the gateway's documents about requests. */
const notOfTheLog = ['checkpoints', 'credential_last_uses', 'rate_limit_buckets', 'idempotent_answers'];

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

async function everyDocument(): Promise<Map<string, StoredDocuments>> {
  const found = new Map<string, StoredDocuments>();
  for (const service of serviceNames)
    found.set(
      service,
      await storedDocuments(system.endpoints, `${system.namespace}_${service}`, { except: notOfTheLog }),
    );
  return found;
}

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
