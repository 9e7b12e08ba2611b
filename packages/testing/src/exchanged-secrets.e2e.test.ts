// SEALING_SECRET and TOKEN_SECRET are exchanged under load, process by process, as docs/runbooks/secrets.md describes: no call
// fails, everything that was made under the old secrets works, and in the end the old secrets open nothing.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ServiceName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { createSealing } from '@lead-scoring/service';
import { isFullSize } from './full-size.js';
import { startNotifiedSystem, type FiredNotification, type NotifiedSystem } from './notified-system.js';
import {
  startMailServer,
  startSlack,
  startTeams,
  startWebhookReceiver,
  type MailServer,
  type Slack,
  type Teams,
  type WebhookReceiver,
} from './receivers/index.js';
import { storedDocuments } from './stored-documents.js';
import { checkout } from './test-system.js';

const secret = () => randomBytes(32).toString('base64url');
const [oldToken, newToken, oldSealing, newSealing] = [secret(), secret(), secret(), secret()];
/** The settings with which processes are started from now on. */
let settings: Record<string, string> = { TOKEN_SECRET: oldToken, SEALING_SECRET: oldSealing };
const instances = [0, 1];
/** Calls between two restarts. */
const rounds = 50;

let system: NotifiedSystem;
let hook: WebhookReceiver<FiredNotification>;
let slack: Slack;
let teams: Teams;
let mail: MailServer;
const started: { stop(): Promise<void> }[] = [];
/** Gateways that the load balancer of this test sends to. */
const inRotation = new Set(instances);
const underWay = instances.map(() => new Set<Promise<unknown>>());
const failures: unknown[] = [];

beforeAll(async () => {
  [slack, teams, mail] = [await startSlack(), await startTeams(), await startMailServer()];
  hook = await startWebhookReceiver<FiredNotification>();
  started.push(slack, teams, mail, hook);
  system = await startNotifiedSystem([0, 1, 1, 1, 1], {
    instances: { gateway: 2, notification: 2, 'site-analysis': 0 },
    environmentOf: (name) => (name === 'gateway' || name === 'notification' ? settings : {}),
    environment: {
      SLACK_BOT_TOKEN: slack.token,
      SLACK_API_URL: slack.apiUrl,
      SMTP_URL: mail.url,
      MAIL_FROM: 'scores@example.com',
      REPLY_TIMEOUT_MS: '45000',
    },
  });
  started.push(system);
}, 180_000);

afterAll(async () => {
  for (const one of started.reverse()) await one.stop();
}, 60_000);

interface Call {
  method?: string;
  authorization?: string | null;
  body?: unknown;
  key?: string;
}

let calls = 0;
/**
 * One call at a gateway in rotation; any answer but success is a failure. After a 504, whose outcome is unknown, the call is
 * repeated under its Idempotency-Key, as the answer advises.
 */
async function call<Body>(path: string, options: Call = {}): Promise<Body> {
  const key = options.key ?? randomBytes(12).toString('hex');
  let answer = await callOnce(path, { ...options, key });
  if (answer.status === 504) answer = await callOnce(path, { ...options, key });
  if (answer.status >= 300) failures.push([path, answer]);
  return (answer.text === '' ? undefined : JSON.parse(answer.text)) as Body;
}

async function callOnce(
  path: string,
  { method, authorization, body, key }: Call,
): Promise<{ status: number; text: string }> {
  calls += 1;
  const gateways = [...inRotation];
  const gateway = gateways[calls % gateways.length] ?? 0;
  const fetched = fetch(`${system.service('gateway', gateway).url}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(authorization !== null && { authorization: authorization ?? `Bearer ${system.token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  }).then(async (response) => ({ status: response.status, text: await response.text() }));
  underWay[gateway]?.add(fetched);
  return fetched.finally(() => underWay[gateway]?.delete(fetched));
}

/** Credentials, links and channels that were made under one pair of secrets, and have to work under all later ones. */
interface Made {
  token: string;
  account: string;
  share: string;
  channelId: string;
}
const made: Made[] = [];
let channels: string[] = [];

const visit = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };

/** Makes one of each kind, twice under one key: the gateway that answers the repeat shows the same secret. */
async function make(name: string): Promise<void> {
  const twice = async <Body>(path: string, body?: unknown): Promise<Body> => {
    const request = { method: 'POST', body, key: `${name}-${path}` };
    const first = await call<Body>(path, request);
    expect(await call<Body>(path, request)).toEqual(first);
    return first;
  };
  const token = await twice<{ token: string }>('/settings/tokens', { name });
  const account = await twice<{ client_id: string; client_secret: string }>('/secrets', {
    name,
    scopes: ['ingest', 'read'],
  });
  const share = await twice<{ token: string }>(`/leads/${system.leadOf(visit.alias)}/share-explain`);
  const channel = await twice<{ id: string; signing_secret: string }>('/notification-channels', {
    name,
    type: 'webhook',
    config: { url: `${hook.url}${name}`, auth_header: `Bearer of ${name}` },
  });
  hook.trust(channel.signing_secret);
  const basic = Buffer.from(`${account.client_id}:${account.client_secret}`).toString('base64');
  made.push({
    token: `Bearer ${token.token}`,
    account: `Basic ${basic}`,
    share: share.token,
    channelId: channel.id,
  });
}

/** Uses everything that was made so far once. */
async function useAll(): Promise<void> {
  for (const { token, account, share, channelId } of made) {
    await call('/org-units', { authorization: token });
    await call('/ingest', { authorization: account, body: visit });
    await call(`/public/score-explain/${share}`, { authorization: null });
    await tell(channelId);
  }
  for (const id of channels) await tell(id);
}

async function tell(channelId: string): Promise<void> {
  const path = `/notification-channels/${channelId}/test`;
  const { ok } = await call<{ ok: boolean }>(path, { method: 'POST' });
  if (!ok) failures.push([path, 'was not delivered']);
}

/** Restarts one process after the other with the next settings, under load. */
async function rollOver(next: Record<string, string>): Promise<void> {
  settings = next;
  const rolled = new AbortController();
  const load = (async () => {
    for (let nth = 0; !rolled.signal.aborted || nth < rounds; nth += 1) {
      await call('/ingest', { body: visit });
      for (const { account } of made) await call('/ingest', { authorization: account, body: visit });
      await call('/settings/tokens', {
        body: { name: `Under way ${randomBytes(6).toString('hex')}` },
      });
      await call(`/public/score-explain/${made[0]?.share ?? ''}`, { authorization: null });
      if (channels[0] !== undefined) await tell(channels[0]);
    }
  })();
  try {
    for (const instance of instances) {
      inRotation.delete(instance);
      await Promise.allSettled([...(underWay[instance] ?? [])]);
      await Promise.all([startAnew('gateway', instance), startAnew('notification', instance)]);
      inRotation.add(instance);
    }
  } finally {
    rolled.abort();
  }
  await load;
}

async function startAnew(name: ServiceName, instance: number): Promise<void> {
  const { process: one, url } = system.service(name, instance);
  await one.stop();
  await one.start();
  await eventually(
    `${name} ${instance} is ready`,
    async () => {
      const answer = await fetch(`${url}/readyz`).catch(() => null);
      return answer?.status === 200;
    },
    60_000,
  );
}

async function secretsCommand(what: 'list' | 'reseal'): Promise<{ code: number | null; found: unknown }> {
  const script = join(checkout, 'packages/cli/scripts/lead-scoring.mjs');
  const { endpoints, namespace } = system;
  const child = spawn(process.execPath, [script, 'secrets', what, '--json'], {
    cwd: checkout,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      NAMESPACE: namespace,
      KAFKA_BROKERS: endpoints.kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: endpoints.schemaRegistryUrl,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, found: JSON.parse(output) as unknown };
}

/** All documents of notification's read model, as text. */
async function stored(): Promise<string> {
  const { endpoints, namespace } = system;
  const collections = await storedDocuments(endpoints, `${namespace}_notification`);
  return [...collections]
    .filter(([name]) => name.includes('configurations'))
    .flatMap(([, documents]) => [...documents.values()].map((bytes) => Buffer.from(bytes).toString('latin1')))
    .join('\n');
}

// At full size only: every process is replaced three times, which takes minutes. `exchanged-secrets.int` of gateway and
// `resealing.int` of notification are in every run.
(isFullSize ? test : test.skip)(
  'both secrets are exchanged under load: no call fails, everything keeps working, the old secrets open nothing',
  async () => {
    await call('/ingest', { body: visit });
    const channelTo = async (type: string, config: object) =>
      (await call<{ id: string }>('/notification-channels', { body: { name: type, type, config } })).id;
    channels = [
      await channelTo('teams', { webhook_url: teams.webhookUrl, channel_name: 'Sales' }),
      await channelTo('slack', { channel_id: 'C0000000001', channel_name: '#sales' }),
      await channelTo('email', { recipients: 'sales@example.com' }),
    ];
    await make('before');
    await useAll();
    // A message with a link, made under the old secrets.
    await call('/triggers', {
      body: { name: 'Up', score_threshold: 20, channel_ids: [made[0]?.channelId] },
    });
    await system.happen('grace@example.com', { event_type: 'Went Up' });
    const told = await eventually('the message is there', () =>
      [...hook.accepted.values()].map(({ payload }) => payload).find(({ type }) => /fired/.test(type)),
    );
    const linked = told.data.share_url?.split('/').at(-1) ?? '';
    expect(linked).toMatch(/^lsh_/);

    const current = { TOKEN_SECRET: oldToken, SEALING_SECRET: oldSealing };
    await rollOver({ ...current, TOKEN_SECRET_NEXT: newToken, SEALING_SECRET_NEXT: newSealing });
    await make('announced');

    const exchanged = { TOKEN_SECRET: newToken, SEALING_SECRET: newSealing };
    await rollOver({ ...exchanged, TOKEN_SECRET_PREVIOUS: oldToken, SEALING_SECRET_PREVIOUS: oldSealing });
    await make('exchanged');
    await useAll();
    const oldKey = createSealing(oldSealing).keyId;
    const newKey = createSealing(newSealing).keyId;
    expect(await stored()).toContain(`sealed2_${oldKey}_`);
    expect(await secretsCommand('list')).toMatchObject({ code: 1, found: { keyIds: [newKey] } });
    const { found } = await secretsCommand('reseal');
    // Three webhooks with three secrets each; the others have one signing secret, and Teams has an address.
    expect(found).toMatchObject({ keyIds: [newKey], superseded: 0, unreadable: 0, current: 13 });
    expect(await secretsCommand('list')).toMatchObject({ code: 0 });
    expect(await stored()).not.toContain(`sealed2_${oldKey}_`);

    await rollOver(exchanged);
    await make('afterwards');
    await useAll();
    await call(`/public/score-explain/${linked}`, { authorization: null });

    expect(failures).toEqual([]);
    // Each receiver accepted every request: the signature, token, password or address was the right one.
    expect(hook.forged).toEqual([]);
    expect(slack.messages.length).toBeGreaterThanOrEqual(3);
    expect(mail.received.length).toBeGreaterThanOrEqual(3);
    expect(teams.received.length).toBeGreaterThanOrEqual(3 * rounds);
  },
  400_000,
);
