// The clients that companies have in their sites and services for Segment's tracking API, and for RudderStack's: each gets a write key and
// the address of this system, and nothing else of it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startChromium } from '@lead-scoring/charts/testing';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics } from '@segment/analytics-node';
import { pythonWithPackages, type Python } from './python.js';
import { startTestSystem, upToScoring, type TestSystem } from './test-system.js';

let system: TestSystem;
let python: Python;
let writeKey: string;

beforeAll(async () => {
  [system, python] = await Promise.all([startTestSystem({ instances: upToScoring }), pythonWithPackages()]);
  const made = await system.request<{ client_id: string; client_secret: string }>('/secrets', {
    body: { name: 'Website', scopes: ['ingest'], ou_ids: [system.ouId] },
  });
  expect(made.status).toBe(201);
  writeKey = `${made.body.client_id}.${made.body.client_secret}`;
  const rule = (body: object) => system.request('/engagement-scoring/rules', { body });
  const answers = [
    await rule({
      event_type: 'Order Completed',
      weight: 30,
      attribute_filters: [
        { field: 'properties.revenue', operator: 'gte', value: 30 },
        { field: 'context.campaign.source', operator: 'equals', value: 'newsletter' },
      ],
    }),
    await rule({
      event_type: 'Page View',
      weight: 1,
      attribute_filters: [{ field: 'path', operator: 'equals', value: '/pricing' }],
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
}, 300_000);
afterAll(() => system.stop(), 60_000);

/** What one person does, as every client can say it. */
const story = (mark: string) => {
  const anonymousId = `visitor ${mark}`;
  const userId = `user ${mark}`;
  return {
    anonymousId,
    userId,
    view: {
      anonymousId,
      userId,
      name: 'Pricing',
      properties: { path: '/pricing', name: 'Not a person', company: 'Not a company' },
    },
    identity: {
      anonymousId,
      userId,
      traits: { email: `${mark}@Example.com`, firstName: 'Ada', lastName: 'Lovelace', title: 'CTO' },
    },
    order: {
      userId,
      event: 'Order Completed',
      properties: { revenue: 39.95, title: 'Not a title' },
      context: {
        campaign: { name: 'Spring', source: 'newsletter', medium: 'email', term: 'x', content: 'y' },
      },
    },
    membership: { userId, groupId: `group ${mark}`, traits: { name: `Company ${mark}` } },
    app: { userId, name: 'Start' },
    rename: { previousId: `device ${mark}`, userId },
  };
};

interface Told {
  lead: routeDeclarations.Lead;
  events: { event_type: string; metadata?: Record<string, unknown> }[];
}

/** The lead of a story and its events, once the lead has so many. */
async function told(mark: string, count: number): Promise<Told> {
  return eventually(`the lead of ${mark} has ${String(count)} events`, async () => {
    const found = await system.request<{ lead_id: string }>(
      `/lead-by-alias?${new URLSearchParams({ alias_kind: 'user_id', alias: `user ${mark}` }).toString()}`,
    );
    if (found.status !== 200) return undefined;
    const { body: events } = await system.request<{ data: Told['events']; total: number }>(
      `/events/${found.body.lead_id}?limit=100`,
    );
    const { body: leads } = await system.request<{ data: Told['lead'][] }>(
      `/leads?q=${encodeURIComponent(`user ${mark}`)}`,
    );
    const lead = leads.data.find(({ id }) => id === found.body.lead_id);
    if (lead && events.total === count && lead.event_count === count) return { lead, events: events.data };
    const types = events.data.map(({ event_type }) => event_type).join(', ');
    throw new Error(
      `${found.body.lead_id} has the events ${types}; the list of leads has ${JSON.stringify(leads.data)}`,
    );
  });
}

/** A story that was told whole. */
async function expectWhole(mark: string): Promise<void> {
  const { lead, events } = await told(mark, 6);
  expect(lead).toMatchObject({
    name: 'Ada Lovelace',
    title: 'CTO',
    company: `Company ${mark}`,
    score: 31,
  });
  const aliases = lead.aliases.map(({ alias_kind, alias }) => `${alias_kind}:${alias}`);
  expect(aliases.sort()).toEqual([
    `anonymous_id:device ${mark}`,
    `anonymous_id:visitor ${mark}`,
    `email:${mark}@example.com`,
    `user_id:user ${mark}`,
  ]);
  expect(events.map(({ event_type }) => event_type).sort()).toEqual([
    'Alias',
    'Group',
    'Identify',
    'Order Completed',
    'Page View',
    'Screen View',
  ]);
  expect(events.find(({ event_type }) => event_type === 'Page View')?.metadata).toMatchObject({
    path: '/pricing',
    properties: { name: 'Pricing', company: 'Not a company' },
  });
}

interface Interruption {
  url: string;
  /** The messages of each request, in order. */
  requests: readonly { messageId: string }[][];
}

/** An address in front of the gateway: the first request gets there, and its sender is told that it failed. */
async function interrupted(
  status: number,
  use: (interruption: Interruption) => Promise<void>,
): Promise<void> {
  const requests: { messageId: string }[][] = [];
  const server: Server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const text = req.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      requests.push((JSON.parse(text.toString()) as { batch: { messageId: string }[] }).batch);
      const isFirst = requests.length === 1;
      const names = ['authorization', 'content-type', 'content-encoding'];
      const headers = Object.fromEntries(
        names.flatMap((name) => (req.headers[name] === undefined ? [] : [[name, String(req.headers[name])]])),
      );
      void fetch(`${system.url}${req.url ?? ''}`, { method: 'POST', headers, body: bytes }).then(
        async (answer) => {
          const body = await answer.text();
          if (isFirst) res.writeHead(status, { 'retry-after': '1' }).end();
          else res.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
        },
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, requests });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const repeats = async () => (await system.request<{ repeats: number }>('/event-stats')).body.repeats;

/** Tells three orders through an address that fails once: the second request repeats the first, and its messages count once. */
async function expectOnce(
  { mark, status }: { mark: string; status: number },
  tell: (url: string) => Promise<void>,
): Promise<void> {
  const before = await repeats();
  await interrupted(status, async ({ url, requests }) => {
    await tell(url);
    const ids = requests.map((messages) => messages.map(({ messageId }) => messageId));
    const [first = [], again] = ids;
    expect(again).toEqual(first);
    expect(new Set(ids.flat()).size).toBe(3);
    const { lead } = await told(mark, 3);
    expect(lead.score).toBe(90);
    await eventually('the repeats are counted', async () => (await repeats()) === before + first.length);
  });
}

describe('@segment/analytics-node', () => {
  const open = (host: string, key = writeKey) => {
    const client = new Analytics({ writeKey: key, host });
    const errors: unknown[] = [];
    client.on('error', (error) => errors.push(error));
    return { client, errors };
  };

  test('tells a whole story', async () => {
    const { client, errors } = open(system.url);
    const { view, identity, order, membership, app, rename } = story('node');
    client.identify(identity);
    client.page(view);
    client.track(order);
    client.group(membership);
    client.screen(app);
    client.alias(rename);
    await client.closeAndFlush();
    expect(errors).toEqual([]);
    await expectWhole('node');
  });

  test.each([503, 429])('sends a batch again after %i, and it counts once', async (status) => {
    const mark = `node ${String(status)}`;
    await expectOnce({ mark, status }, async (url) => {
      const { client, errors } = open(url);
      for (let n = 0; n < 3; n += 1) client.track(story(mark).order);
      await client.closeAndFlush();
      expect(errors).toEqual([]);
    });
  });

  test('tells its user of a message that is not valid, and loses none of the others', async () => {
    const { client, errors } = open(system.url);
    const { order } = story('mixed');
    client.track(order);
    client.track({ ...order, event: 'x'.repeat(101) });
    client.track(order);
    await client.closeAndFlush();
    expect(errors).toHaveLength(3);
    for (const error of errors) expect(inspect(error)).toContain('[400]');
    expect((await told('mixed', 2)).lead.score).toBe(60);
  });

  test('is told of a write key that is wrong', async () => {
    const { client, errors } = open(system.url, 'abcdef');
    client.track(story('nobody').order);
    await client.closeAndFlush();
    expect(errors).toHaveLength(1);
  });
});

describe('@rudderstack/rudder-sdk-node', () => {
  const open = (dataPlaneUrl: string) => {
    const errors: unknown[] = [];
    const client = new RudderAnalytics(writeKey, {
      dataPlaneUrl,
      errorHandler: (error: unknown) => errors.push(error),
    });
    return { client, errors };
  };

  test('tells a whole story, in gzip', async () => {
    const { client, errors } = open(system.url);
    const { view, identity, order, membership, app, rename } = story('rudder');
    client.identify(identity);
    client.page(view);
    client.track(order);
    client.group(membership);
    client.screen(app);
    client.alias(rename);
    // Its first message goes at once, the others together.
    await client.flush();
    expect(errors).toEqual([]);
    await expectWhole('rudder');
  });

  test('sends a batch again after 503, and it counts once', async () => {
    const mark = 'rudder again';
    await expectOnce({ mark, status: 503 }, async (url) => {
      const { client, errors } = open(url);
      for (let n = 0; n < 3; n += 1) client.track(story(mark).order);
      await client.flush();
      expect(errors).toEqual([]);
    });
  });
});

describe('segment-analytics-python', () => {
  /** Runs calls of the client, and returns what it told its user of. */
  async function run(host: string, calls: string, { mark, gzip = false }: { mark: string; gzip?: boolean }) {
    const script = `
import json, sys
import segment.analytics as analytics
given = json.load(sys.stdin)
story, errors = given["story"], []
analytics.write_key, analytics.host, analytics.gzip = given["key"], given["host"], given["gzip"]
analytics.on_error = lambda error, items: errors.append(str(error))
${calls}
analytics.shutdown()
print(json.dumps(errors))
`;
    const input = JSON.stringify({ story: story(mark), key: writeKey, host, gzip });
    const { code, output } = await python.run(['-c', script], { input });
    if (code !== 0) throw new Error(output);
    return JSON.parse(output.trim().split('\n').at(-1) ?? '') as string[];
  }
  const order = `analytics.track(story["userId"], "Order Completed", story["order"]["properties"], story["order"]["context"])`;

  test.each([false, true])('tells a whole story; gzip: %s', async (gzip) => {
    const mark = gzip ? 'python-gzip' : 'python';
    const calls = `
analytics.identify(story["userId"], story["identity"]["traits"], anonymous_id=story["anonymousId"])
analytics.page(story["userId"], None, "Pricing", story["view"]["properties"], anonymous_id=story["anonymousId"])
${order}
analytics.group(story["userId"], story["membership"]["groupId"], story["membership"]["traits"])
analytics.screen(story["userId"], name="Start")
analytics.alias(story["rename"]["previousId"], story["userId"])
`;
    expect(await run(system.url, calls, { mark, gzip })).toEqual([]);
    await expectWhole(mark);
  });

  test('sends a batch again after 503, and it counts once', async () => {
    const mark = 'python again';
    await expectOnce({ mark, status: 503 }, async (url) => {
      expect(await run(url, Array(3).fill(order).join('\n'), { mark })).toEqual([]);
    });
  });

  test('tells its user which message is not valid, and why', async () => {
    const calls = `analytics.track(story["userId"], "x" * 101)\n${order}`;
    const errors = await run(system.url, calls, { mark: 'python mixed' });
    expect(errors.join()).toContain('body.batch[0].event');
    expect((await told('python mixed', 1)).lead.score).toBe(30);
  });
});

describe('@segment/analytics-next in Chromium', () => {
  const require = createRequire(import.meta.url);
  const script = join(require.resolve('@segment/analytics-next/package.json'), '../dist/umd/index.js');

  test.each(['standard', 'batching'])(
    'on a page of another origin tells a story; delivery: %s',
    async (strategy) => {
      const mark = `browser ${strategy}`;
      const client = await readFile(script);
      const server = createServer((req, res) => {
        const isScript = req.url === '/analytics.js';
        res.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
        res.end(isScript ? client : '<!doctype html><script src="/analytics.js"></script>');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const browser = await startChromium();
      try {
        const page = await browser.newPage();
        const complaints: string[] = [];
        page.on('console', (message) => complaints.push(message.text()));
        await page.goto(
          `http://localhost:${String((server.address() as AddressInfo).port)}/pricing?utm_source=newsletter&utm_campaign=Spring`,
        );
        const { view, identity, order, membership } = story(mark);
        const given = {
          writeKey,
          settings: {
            apiHost: `${new URL(system.url).host}/v1`,
            protocol: 'http',
            deliveryStrategy: { strategy, config: { size: 100, timeout: 100 } },
          },
          story: { ...story(mark), view, identity, order, membership },
        };
        await page.evaluate(`(async ({ writeKey, settings, story }) => {
        const analytics = AnalyticsNext.AnalyticsBrowser.load(
          { writeKey, cdnSettings: { integrations: { 'Segment.io': { apiKey: writeKey } } } },
          { integrations: { 'Segment.io': settings } },
        );
        await analytics.setAnonymousId(story.anonymousId);
        await analytics.identify(story.userId, story.identity.traits);
        await analytics.page('Pricing');
        await analytics.track('Order Completed', story.order.properties);
        await analytics.group(story.membership.groupId, story.membership.traits);
      })(${JSON.stringify(given)})`);
        const { lead, events } = await told(mark, 4);
        expect(lead).toMatchObject({ name: 'Ada Lovelace', company: `Company ${mark}`, score: 31 });
        expect(lead.aliases).toContainEqual({ alias_kind: 'anonymous_id', alias: `visitor ${mark}` });
        expect(events.find(({ event_type }) => event_type === 'Page View')?.metadata).toMatchObject({
          path: '/pricing',
          campaign: 'Spring',
          properties: { name: 'Pricing', path: '/pricing' },
          context: { campaign: { source: 'newsletter' } },
        });
        expect(complaints).toEqual([]);
      } finally {
        await browser.close();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  );
});

test('no service logs the secret of a write key', async () => {
  const [, secret = ''] = writeKey.split('.');
  expect(secret).toMatch(/^lss_/);
  for (const { name, logFile } of system.system.services)
    expect([name, (await readFile(logFile, 'utf8')).includes(secret)]).toEqual([name, false]);
});
