// Quotas over two gateways, and the database's arithmetic against the pure one.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { tail } from '@lead-scoring/event-log';
import { connectReadModel, type ReadModel } from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import { eventually } from '@lead-scoring/testing/service-rig';
import fc from 'fast-check';
import { startRig, type Reply, type Rig } from '../testing/rig.js';
import { quotaUses, takePipeline } from './quota-documents.js';
import { takeQuota, type QuotaShare } from './quota-model.js';

let rig: Rig;
let readModel: ReadModel;
const logger = createLogger({ name: 'test', level: 'silent' });

beforeAll(async () => {
  rig = await startRig({ gateways: 2 });
  readModel = await connectReadModel(
    { uri: process.env.MONGODB_URI ?? '', database: `test-quotas-${randomBytes(5).toString('hex')}` },
    { logger },
  );
}, 90_000);

afterAll(async () => {
  await readModel.db.dropDatabase();
  await readModel.close();
  await rig.stop();
}, 60_000);

test('the database computes the same as the pure function', async () => {
  const day = Date.parse('2026-03-01T00:00:00.000Z');
  let run = 0;
  const request = fc.record({
    process: fc.constantFrom('a', 'b'),
    day: fc.constantFrom(day, day + 86_400_000),
    taken: fc.nat(20),
    wanted: fc.nat(20),
    isWhole: fc.boolean(),
    write: fc.integer({ min: 1, max: 8 }),
  });
  const limit = fc.option(fc.integer({ min: 1, max: 60 }));
  await fc.assert(
    fc.asyncProperty(
      limit,
      limit,
      fc.array(request, { minLength: 1, maxLength: 8 }),
      async (ofDay, month, requests) => {
        const _id = `quota ${String((run += 1))}`;
        const limits = { day: ofDay, month };
        let shares: QuotaShare[] = [];
        for (const one of requests) {
          const stored = await readModel
            .collection(quotaUses)
            .findOneAndUpdate({ _id }, takePipeline(limits, one), { upsert: true, returnDocument: 'after' });
          shares = takeQuota(shares, limits, one)?.shares ?? shares;
          expect(stored?.shares).toEqual(shares);
        }
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

const none = { calls_per_day: null, calls_per_month: null, events_per_day: null, events_per_month: null };
const event = (n: number) => ({
  alias_kind: 'email',
  alias: `quota${String(n)}@example.com`,
  event_type: 'Page View',
});
const events = (count: number) => Array.from({ length: count }, (_, n) => event(n));

async function newToken(): Promise<{ id: string; token: string }> {
  return (
    await rig.call<{ id: string; token: string }>('POST', '/settings/tokens', {
      body: { name: 'With a quota', role: 'editor' },
    })
  ).body;
}

/** Sets quotas of a token, and waits until both gateways know them. */
async function limited(
  quotas: Partial<typeof none | Record<string, number>>,
): Promise<{ id: string; token: string }> {
  const made = await newToken();
  const changed = await rig.call('PATCH', `/settings/tokens/${made.id}`, { body: { quotas } });
  expect(changed).toMatchObject({ status: 200, body: { quotas: { ...none, ...quotas } } });
  // A gateway that has not seen the token reads it with its quotas.
  return made;
}

/**
 * Sends requests together with a token of this quota, half of them to each gateway; again with another token where the database has not
 * answered a gateway in time: everything is granted then, and the answer says nothing of the quota.
 */
async function sentTogether(
  quota: string,
  limit: number,
  { count, send }: { count: number; send: (token: string, gateway: number) => Promise<Reply> },
): Promise<{ token: string; replies: Reply[] }> {
  for (;;) {
    const { token } = await limited({ [quota]: limit });
    const replies = await Promise.all(Array.from({ length: count }, (_, n) => send(token, n % 2)));
    const isKnown = ({ headers }: Reply) => headers.get('ratelimit')?.includes(`"credential_${quota}"`);
    if (replies.every((reply) => reply.status >= 400 || isKnown(reply))) return { token, replies };
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const secondsToTomorrow = () => (86_400_000 - (Date.now() % 86_400_000)) / 1_000;

describe('a quota of a credential', () => {
  test('of calls a day is exact over both gateways: the rest is 429 until tomorrow, never 403', async () => {
    const { replies } = await sentTogether('calls_per_day', 40, {
      count: 100,
      send: (token, gateway) => rig.call('GET', '/leads', { token, gateway }),
    });
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(40);
    expect(statuses.filter((status) => status === 429)).toHaveLength(60);
    const refused = replies.find(({ status }) => status === 429);
    const left = replies.flatMap(({ status, headers }) =>
      status === 200
        ? [/"credential_calls_per_day";r=(\d+);t=\d+/.exec(headers.get('ratelimit') ?? '')?.[1]]
        : [],
    );
    expect(Math.min(...left.map(Number))).toBe(0);
    expect(Math.max(...left.map(Number))).toBeLessThan(40);
    expect(refused?.headers.get('ratelimit')).toMatch(/"credential_calls_per_day";r=0;t=\d+$/);
    expect(refused?.headers.get('ratelimit-policy')).toMatch(/, "credential_calls_per_day";q=40;w=86400$/);
    expect(refused?.body).toMatchObject({
      code: 'quota_used_up',
      detail: expect.stringMatching(/40 API calls a day \(UTC\).*until .*T00:00:00\.000Z.*calls_per_day/),
    });
    const retryAfter = Number(refused?.headers.get('retry-after'));
    expect(Math.abs(retryAfter - secondsToTomorrow())).toBeLessThan(60);
  });

  test('of events refuses a batch whole that does not fit, takes nothing for it, and takes a smaller one', async () => {
    const { token } = await limited({ events_per_month: 100 });
    const send = (count: number, gateway: number) =>
      rig.call('POST', '/ingest', { token, body: events(count), gateway });
    const before = sum((await rig.ingested()).map(({ payload }) => payload.events.length));
    expect((await send(90, 0)).status).toBe(202);
    const refused = await send(20, 1);
    expect(refused).toMatchObject({
      status: 429,
      body: {
        code: 'quota_used_up',
        detail: expect.stringMatching(/10 are left.*none was taken.*events_per_month/),
      },
    });
    expect((await send(10, 1)).status).toBe(202);
    expect((await send(1, 0)).status).toBe(429);
    expect(sum((await rig.ingested()).map(({ payload }) => payload.events.length)) - before).toBe(100);
  });

  test('of events is exact when both gateways take batches of any size at the same time', async () => {
    const { token } = await limited({ events_per_day: 500 });
    const sizes = Array.from({ length: 60 }, (_, n) => 1 + ((n * 7) % 23));
    const statuses = await Promise.all(
      sizes.map(
        async (size, n) =>
          (await rig.call('POST', '/ingest', { token, body: events(size), gateway: n % 2 })).status,
      ),
    );
    const taken = sum(sizes.filter((_, n) => statuses[n] === 202));
    expect(taken).toBeLessThanOrEqual(500);
    // What is left is less than the smallest batch that was refused.
    const smallest = Math.min(...sizes.filter((_, n) => statuses[n] === 429));
    expect(500 - taken).toBeLessThan(Math.max(smallest, 23));
    let left = 500 - taken;
    for (; left > 0; left -= 1)
      expect((await rig.call('POST', '/ingest', { token, body: [event(left)] })).status).toBe(202);
    expect((await rig.call('POST', '/ingest', { token, body: [event(0)] })).status).toBe(429);
  });

  test('that is raised lets calls in again within ten seconds, and the routes of limits work although it is used up', async () => {
    const admin = (
      await rig.call<{ id: string; token: string }>('POST', '/settings/tokens', {
        body: { name: 'Admin', role: 'admin' },
      })
    ).body;
    expect(
      (await rig.call('PATCH', `/settings/tokens/${admin.id}`, { body: { quotas: { calls_per_day: 2 } } }))
        .status,
    ).toBe(200);
    const status = async (gateway = 0) =>
      (await rig.call('GET', '/leads', { token: admin.token, gateway })).status;
    expect([await status(), await status(1), await status()]).toEqual([200, 200, 429]);
    expect((await rig.call('GET', '/settings/limits', { token: admin.token })).status).toBe(200);
    const raised = { body: { quotas: { calls_per_day: 4 } }, token: admin.token };
    expect((await rig.call('PATCH', `/settings/tokens/${admin.id}`, raised)).status).toBe(200);
    await eventually('calls are let in', async () => (await status(1)) === 200, 10_000);
  });
});

describe('an import of a table', () => {
  const mapping = { primary_identifier: { column: 'Email', kind: 'email' } };
  const visited = { event_type: 'Visit', time: { column: 'Seen', format: 'iso' } };
  const counted = () => rig.forwarded.filter(({ url }) => url.startsWith('/internal/lead-files/')).length;
  const started = () => rig.commands.filter(({ type }) => type === 'StartLeadImport').length;
  const tableOf = (rows: number) => {
    rig.ownerAnswers((_req, res) => {
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ rows }));
    });
  };
  const start = (
    token: string,
    { gateway = 0, ...more }: { gateway?: number; event_mappings?: object[] } = {},
  ) =>
    rig.call('POST', '/leads/import/start', {
      token,
      gateway,
      body: { file_id: randomUUID(), ...mapping, ...more },
    });
  beforeEach(() => {
    rig.ingestReplies(({ type }) =>
      type === 'IngestEvents' ? null : { outcome: 'done', result: { job_id: `ingest-${randomUUID()}` } },
    );
  });

  test('takes its rows from a quota of events once, exactly over both gateways; what does not fit is 429 and starts nothing', async () => {
    let before = 0;
    tableOf(60);
    const { token, replies } = await sentTogether('events_per_day', 100, {
      count: 6,
      send: (own, gateway) => {
        // All are sent before any is answered.
        if (gateway === 0) before = started();
        return start(own, { gateway });
      },
    });
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 429, 429, 429, 429, 429]);
    expect(started() - before).toBe(1);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({
      code: 'quota_used_up',
      detail: expect.stringMatching(
        /100 events a day \(UTC\), of which 40 are left; this table has 60 rows, and no import was started\. Import a table of at most 40 rows, wait until .*T00:00:00\.000Z.*events_per_day/,
      ),
    });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await rig.call('POST', '/ingest', { token, body: events(41) })).status).toBe(429);
    expect((await rig.call('POST', '/ingest', { token, body: events(40) })).status).toBe(202);
    tableOf(150);
    expect((await start((await limited({ events_per_month: 100 })).token)).body).toMatchObject({
      detail: expect.stringContaining('Divide the table into parts of at most 100 rows.'),
    });
  });

  test('takes a row once more for each of its events', async () => {
    const { token } = await limited({ events_per_day: 100 });
    tableOf(60);
    const refused = await start(token, { event_mappings: [visited] });
    expect(refused).toMatchObject({
      status: 429,
      body: { detail: expect.stringContaining('60 rows, which give up to 120 events') },
    });
    tableOf(50);
    expect((await start(token, { event_mappings: [visited] })).status).toBe(202);
    expect((await rig.call('POST', '/ingest', { token, body: events(1) })).status).toBe(429);
  });

  test('that is refused takes nothing', async () => {
    const { token } = await limited({ events_per_day: 100 });
    tableOf(90);
    rig.ingestReplies(() => ({
      outcome: 'rejected',
      code: 'lead_file_not_found',
      message: 'It is not here.',
    }));
    for (const gateway of [0, 1, 0]) expect((await start(token, { gateway })).status).toBe(404);
    rig.ingestReplies(() => ({ outcome: 'done', result: { job_id: `ingest-${randomUUID()}` } }));
    expect((await start(token, { gateway: 1 })).status).toBe(202);
  });

  test('of a credential without a quota of events asks nobody for the number of rows', async () => {
    const { token } = await limited({ calls_per_day: 100 });
    const before = counted();
    expect((await start(token)).status).toBe(202);
    expect(counted()).toBe(before);
  });
});

test('80 % of a quota are recorded once a period, and the organisation’s quota counts for all credentials', async () => {
  const ofOrganisation = await startRig({ gateways: 2 });
  try {
    const quotas = { ...none, events_per_day: 100 };
    const changed = await ofOrganisation.call('PATCH', '/settings/limits', { body: { quotas } });
    expect(changed).toMatchObject({ status: 200, body: { quotas } });
    const tokens = await Promise.all(
      ['One', 'Two'].map(
        async (name) =>
          (await ofOrganisation.call<{ token: string }>('POST', '/settings/tokens', { body: { name } })).body
            .token,
      ),
    );
    const send = (n: number, gateway: number) =>
      ofOrganisation.call('POST', '/ingest', { token: tokens[gateway] ?? '', body: events(n), gateway });
    await eventually('the quota counts', async () => (await send(101, 1)).status === 429, 10_000);
    const sent: number[] = [];
    for (let n = 0; n < 10; n += 1) sent.push((await send(10, n % 2)).status);
    const counted = sent.filter((status) => status === 202).length;
    const extra = (await ofOrganisation.ingested()).filter(({ payload }) => payload.events.length > 10);
    expect(counted * 10 + sum(extra.map(({ payload }) => payload.events.length))).toBeLessThanOrEqual(
      101 + 100,
    );
    await eventually(
      'the warning is recorded',
      async () => (await warnings(ofOrganisation)).length > 0,
      10_000,
    );
    expect((await send(10, 0)).status).toBe(429);
    expect(await warnings(ofOrganisation)).toMatchObject([
      { credential_id: null, quota: 'events_per_day', limit: 100, actor: { kind: 'system' } },
    ]);
  } finally {
    await ofOrganisation.stop();
  }
}, 90_000);

async function warnings({ log }: Rig): Promise<records.QuotaNearlyUsed[]> {
  const found: records.QuotaNearlyUsed[] = [];
  for await (const record of tail(log, 'gateway.events', { from: 'beginning', follow: false }))
    if (record.type === 'QuotaNearlyUsed') found.push(record.payload as records.QuotaNearlyUsed);
  return found;
}
