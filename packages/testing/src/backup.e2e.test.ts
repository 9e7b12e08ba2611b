// A backup of a whole system, restored where nothing is: every read answers as before, events that are sent again are not counted again, and
// new ones are counted once. A backup that is damaged, or of other partitions, or a target that is not empty, is refused with a sentence.
import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { run } from '@lead-scoring/cli';
import { routes, topics, type RouteName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { isFullSize } from './full-size.js';
import { startNotifiedSystem, type FiredNotification, type NotifiedSystem } from './notified-system.js';
import { readTopic } from './public-topics.js';
import { startWebhookReceiver, type WebhookReceiver } from './receivers/index.js';
import { furnish, routeExamples, send, type Unit } from './route-examples.js';
import { removeNamespace } from './servers.js';
import { differences, documentsOfServices, notOfTheLog, type StoredDocuments } from './stored-documents.js';

const noDocuments: StoredDocuments = new Map();
let system: NotifiedSystem;
let receiver: WebhookReceiver<FiredNotification>;
let unit: Unit;
let folder: string;
const [ada, ben, gone] = ['ada@example.com', 'ben@example.com', 'gone@example.com'];

beforeAll(async () => {
  if (!isFullSize) return;
  folder = await mkdtemp(join(tmpdir(), 'lead-scoring-backup-'));
  receiver = await startWebhookReceiver<FiredNotification>();
  system = await startNotifiedSystem([0, 1, 1]);
  unit = await furnish(system, 'kept', system.ouId);
}, 240_000);

afterAll(async () => {
  if (!isFullSize) return;
  await system.stop();
  await receiver.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** Runs `lead-scoring` as an operator does, against the servers of the system. */
async function operate(words: string[], environment: Record<string, string | undefined> = {}) {
  const { kafkaBrokers, schemaRegistryUrl, mongodbUri } = system.endpoints;
  let [written, noted] = ['', ''];
  const exitCode = await run(words, {
    environment: {
      KAFKA_BROKERS: kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: schemaRegistryUrl,
      MONGODB_URI: mongodbUri,
      NAMESPACE: system.namespace,
      ...environment,
    },
    directory: '/',
    stdin: Readable.from([]),
    output: { write: (text) => (written += text), note: (text) => (noted += text), terminal: null },
  });
  return { exitCode, written, noted };
}

/** Routes whose answers are not from the log: counts of API calls, and figures of challengers, which are computed anew. */
const notCompared: ReadonlySet<string> = new Set<RouteName>(['getUsage', 'listChallengers', 'getChallenger']);

/** The answers of every route that reads, about the furnished unit. */
async function everyAnswer(): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const name of Object.keys(routes) as RouteName[]) {
    if (routes[name].method !== 'GET' || notCompared.has(name)) continue;
    const { status, body } = await send(system, name, routeExamples[name](unit), {
      headers: { 'x-ou-id': system.ouId },
    });
    answers[name] = { status, body };
  }
  return answers;
}

/** Collections that no backup has: also uploaded tables, and the figures of challengers. */
const notInBackups = [...notOfTheLog, 'lead_files', 'lead_file_rows', 'challenger_figures'];

const everyDocument = () => documentsOfServices(system, notInBackups);

/**
 * Where an answer differs from what it was, as paths. Parts that differed between two reads before are about the moment of the read, and are
 * not compared.
 */
function changed(first: unknown, second: unknown, now: unknown, path = ''): string[] {
  if (isObject(first) && isObject(second)) {
    if (!isObject(now)) return [path];
    return [...new Set([...Object.keys(second), ...Object.keys(now)])]
      .filter((key) => key !== 'last_used_at')
      .flatMap((key) => changed(first[key], second[key], now[key], `${path}/${key}`));
  }
  return Object.is(first, second) && !Object.is(first, now)
    ? [`${path}: ${String(first)} became ${String(now)}`]
    : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Answers by hours and days are others after the hour: waits for the next one where this one ends before so many milliseconds. */
async function untilHourLasts(ms: number): Promise<void> {
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < ms) await delay(left);
}

const scoreOf = async (alias: string) =>
  (await system.request<{ score: number }>(`/score/${system.leadOf(alias)}`)).body.score;

(isFullSize ? describe : describe.skip)('a system that is backed up and restored', () => {
  test('answers as before, and counts what comes', async () => {
    const { id, signing_secret } = await system.webhook('CRM', receiver.url);
    receiver.trust(signing_secret);
    await system.call('createTrigger', { body: { name: 'Hot', score_threshold: 30, channel_ids: [id] } });
    for (const alias of [ada, ben, gone])
      await system.happen(
        alias,
        { event_type: 'Pricing View', event_id: `${alias}-sent-again` },
        { event_type: 'Form Submit' },
      );
    for (const alias of [ada, ben, gone]) await system.settled(alias);
    await system.call('mergeLeads', {
      body: { target_id: system.leadOf(ada), source_ids: [system.leadOf(ben)] },
    });
    await system.call('deleteLead', { parameters: { leadID: system.leadOf(gone) } });
    await system.call('createRule', {
      body: { ruleset_id: unit.rulesetId, event_type: 'Page View', weight: 3, label: 'Later' },
    });
    const position = await system.happen(ada, { event_type: 'Never Scored' });
    const { token } = await system.call<{ token: string }>('createShare', {
      parameters: { id: system.leadOf(ada) },
    });
    await system.settled(ada);
    await eventually('the merge is done', async () => (await scoreOf(ada)) > 70);
    const readable = async () => ({
      ...(await everyAnswer()),
      'leads up to a position': (await system.request(`/leads?min_position=${encodeURIComponent(position)}`))
        .body,
      'a merged lead': (await system.request(`/lead/${system.leadOf(ada)}/score-explain`)).body,
      'its history': (await system.request(`/lead/${system.leadOf(ada)}/score-history`)).body,
      'its link': (await system.request(`/public/score-explain/${token}`, { token: null })).body,
      'a deleted lead': (await system.request(`/lead/${system.leadOf(gone)}/score-explain`)).body,
    });
    await untilHourLasts(180_000);
    const [first, second] = [await readable(), await readable()];
    const told = receiver.received.length;

    // A running system is not copied.
    expect(await operate(['backup', join(folder, 'running'), '--wait', '0'])).toMatchObject({
      exitCode: 65,
      noted: expect.stringContaining('consumer groups have members') as unknown,
    });

    const whole = join(folder, 'whole');
    const secrets = join(folder, 'secrets.env');
    let documents = new Map<string, StoredDocuments>();
    const records: Record<string, unknown> = {};
    const recorded = async (name: string) =>
      (await readTopic(system.endpoints, `${system.namespace}.${name}`))
        .filter(({ type }) => type !== 'RecordErased')
        .sort((a, b) => a.partition - b.partition || Number(a.offset - b.offset));
    const kept = topics.map(({ name }) => name).filter((name) => name.endsWith('.events'));
    await system.restart(async () => {
      documents = await everyDocument();
      for (const name of kept) records[name] = await recorded(name);
      const made = await operate(['backup', whole, '--with-secrets', secrets], { SEALING_SECRET: 'sealed' });
      expect(made).toMatchObject({ exitCode: 0 });
      expect(made.written).toMatch(/whole: .* records .* and \d+ schemas/);
      expect(await readFile(secrets, 'utf8')).toBe('SEALING_SECRET=sealed\n');
      expect((await stat(secrets)).mode & 0o777).toBe(0o600);

      // The target is not empty: first its databases, then its topics.
      const refused = await operate(['restore', whole]);
      expect(refused).toMatchObject({ exitCode: 65 });
      expect(refused.noted).toContain('MongoDB has databases of the namespace');
      const other = await operate(['restore', whole], { MONGODB_URI: undefined });
      expect(other.noted).toContain('a restoration never mixes two logs');
      await removeNamespace(system.endpoints, system.namespace);
      expect((await operate(['restore', whole], { PARTITIONS: '7' })).noted).toContain('set PARTITIONS=6');
      const restored = await operate(['restore', whole]);
      expect(restored).toMatchObject({ exitCode: 0 });
      for (const name of kept) expect({ [name]: await recorded(name) }).toEqual({ [name]: records[name] });
    });

    await eventually(
      'every document is as it was',
      async () => {
        const differing = [...(await everyDocument())].flatMap(([service, stored]) =>
          differences(documents.get(service) ?? noDocuments, stored),
        );
        if (differing.length > 0) throw new Error(differing.join('\n'));
        return true;
      },
      120_000,
      1_000,
    );
    expect(changed(first, second, await readable())).toEqual([]);
    expect(receiver.received.length).toBe(told);

    // The same again, and something new.
    const score = await scoreOf(ada);
    await system.happen(ada, { event_type: 'Pricing View', event_id: `${ada}-sent-again` });
    await system.happen(ada, { event_type: 'Form Submit' });
    await system.settled(ada);
    expect(await scoreOf(ada)).toBe(score + 25 + 2);

    // A file that is damaged.
    await appendFile(join(whole, 'ingest.events-0.gz'), 'x');
    const damaged = await operate(['restore', whole], { NAMESPACE: `${system.namespace}-other` });
    expect(damaged).toMatchObject({ exitCode: 65 });
    expect(damaged.noted).toContain('not as it was written');
    await rm(join(whole, 'manifest.json'));
    expect((await operate(['restore', whole])).noted).toContain('MongoDB has databases');
    expect((await operate(['restore', whole], { MONGODB_URI: undefined })).noted).toContain(
      'one that was interrupted',
    );
  }, 600_000);
});
