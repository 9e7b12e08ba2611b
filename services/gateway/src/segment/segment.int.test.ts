// The routes of Segment's tracking API over HTTP: who may send, from where, what is answered, and what the log then has.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes } from '@lead-scoring/contracts';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
let limited: Rig;
let writeKey: string;
let readKey: string;

const keyOf = async (scopes: string[]) => {
  const { body } = await rig.call<{ client_id: string; client_secret: string }>('POST', '/secrets', {
    body: { name: `Source ${scopes.join(' ')}`, scopes },
  });
  return `${body.client_id}.${body.client_secret}`;
};

beforeAll(async () => {
  [rig, limited] = await Promise.all([
    startRig(),
    startRig({ environment: { RATE_LIMIT_PER_MINUTE: '1', RATE_LIMIT_BURST: '5' } }),
  ]);
  writeKey = await keyOf(['ingest']);
  readKey = await keyOf(['read']);
}, 120_000);
afterAll(() => Promise.all([rig.stop(), limited.stop()]), 60_000);

const basic = (user: string, password = '') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const track = (more: object = {}) => ({ event: 'Order Completed', userId: 'u1', ...more });
const json = { 'content-type': 'application/json' };

/** Sends without a token. */
const post = (path: string, body: unknown, headers: Record<string, string> = basic(writeKey), on = rig) =>
  on.call('POST', path, {
    token: null,
    headers: { ...json, ...headers },
    body: body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body),
  });

/** The events of a batch in the log. */
async function written({ status, body }: { status: number; body: Record<string, unknown> }) {
  expect({ status, body }).toMatchObject({ status: 200, body: { success: true } });
  const records = await rig.ingested();
  return records
    .filter(({ payload }) => payload.batch_id === body['batch_id'])
    .flatMap(({ payload }) => payload.events);
}

/** The event_ids in the log that begin like this. */
async function idsLike(start: string): Promise<(string | undefined)[]> {
  const records = await rig.ingested();
  return records
    .flatMap(({ payload }) => payload.events.map(({ event_id }) => event_id))
    .filter((id) => id?.startsWith(start) === true)
    .sort();
}

describe('each route', () => {
  test.each([
    ['track', 't', track(), 'Order Completed'],
    ['identify', 'i', { userId: 'u1', traits: { email: 'ada@example.com' } }, 'Identify'],
    ['page', 'p', { userId: 'u1', name: 'Pricing' }, 'Page View'],
    ['screen', 's', { userId: 'u1', name: 'Pricing' }, 'Screen View'],
    ['group', 'g', { userId: 'u1', groupId: 'g1', traits: { name: 'Example' } }, 'Group'],
    ['alias', 'a', { userId: 'u1', previousId: 'a1' }, 'Alias'],
    ['batch', 'b', { batch: [{ ...track(), type: 'track' }] }, 'Order Completed'],
  ])('/v1/%s, which browsers call /v1/%s, makes an event', async (name, short, body, type) => {
    for (const path of [`/v1/${name}`, `/v1/${short}`]) {
      const answer = await post(path, body);
      expect(await written(answer)).toMatchObject([{ event_type: type }]);
      expect(routes.sendSegmentTrack.responses[200].schema.safeParse(answer.body).error).toBeUndefined();
    }
  });

  test('a message becomes an event with its id, aliases, time and metadata', async () => {
    const sent = Date.now();
    const message = track({
      messageId: 'whole-1',
      anonymousId: 'a1',
      // A clock that is a day slow, and a message that has waited for an hour.
      timestamp: new Date(sent - 90_000_000).toISOString(),
      sentAt: new Date(sent - 86_400_000).toISOString(),
      properties: { revenue: 39.95, name: 'Shoe' },
      context: { campaign: { source: 'news' }, traits: { email: 'Ada@Example.com' } },
      writeKey,
    });
    const [event] = await written(await post('/v1/track', message));
    expect(event).toMatchObject({
      aliases: [
        { alias_kind: 'user_id', alias: 'u1' },
        { alias_kind: 'email', alias: 'ada@example.com' },
        { alias_kind: 'anonymous_id', alias: 'a1' },
      ],
      event_id: 'whole-1',
      event_type: 'Order Completed',
      metadata: {
        properties: { revenue: 39.95, name: 'Shoe' },
        context: { campaign: { source: 'news' } },
        traits: { email: 'Ada@Example.com' },
      },
      may_repeat: true,
    });
    const wrongByMs = Date.parse(event?.timestamp ?? '') - (sent - 3_600_000);
    expect(wrongByMs).toBeGreaterThanOrEqual(0);
    expect(wrongByMs).toBeLessThan(60_000);
    expect(JSON.stringify(event)).not.toContain(writeKey);
  });

  test.each([
    'application/json',
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
  ])('takes JSON as %s, and gzip of it', async (type) => {
    const headers = { ...basic(writeKey), 'content-type': type };
    expect((await post('/v1/track', track(), headers)).status).toBe(200);
    const zipped = gzipSync(JSON.stringify(track()));
    expect((await post('/v1/track', zipped, { ...headers, 'content-encoding': 'gzip' })).status).toBe(200);
  });
});

describe('the write key', () => {
  test('is the user of HTTP Basic, or in the body, which pages send; a token and client id and secret work too', async () => {
    const { body } = await rig.call<{ client_id: string; client_secret: string }>('POST', '/secrets', {
      body: { name: 'Other', scopes: ['ingest'] },
    });
    for (const headers of [
      basic(writeKey),
      basic(body.client_id, body.client_secret),
      { authorization: `Bearer ${rig.token}` },
    ])
      expect((await post('/v1/track', track(), headers)).status).toBe(200);
    const batch = { batch: [{ ...track(), type: 'track' }], writeKey };
    for (const type of ['application/json', 'text/plain'])
      for (const [path, sent] of [
        ['/v1/track', track({ writeKey })],
        ['/v1/batch', batch],
      ] as const)
        expect(await written(await post(path, sent, { 'content-type': type }))).toHaveLength(1);
    const zipped = gzipSync(JSON.stringify(batch));
    expect(await written(await post('/v1/batch', zipped, { 'content-encoding': 'gzip' }))).toHaveLength(1);
  });

  test.each<[string, () => object, () => Record<string, string>, string]>([
    ['none at all', () => track(), () => ({}), 'credential_missing'],
    ['one of Segment’s own', () => track({ writeKey: 'abcdef' }), () => ({}), 'credential_invalid'],
    ['one of Segment’s own, as the user', () => track(), () => basic('abcdef'), 'credential_invalid'],
    ['a text that is no JSON', () => new TextEncoder().encode('{'), () => ({}), 'credential_missing'],
    [
      'a key whose secret belongs to another account',
      () => track({ writeKey: `${writeKey.split('.')[0] ?? ''}.${readKey.split('.')[1] ?? ''}` }),
      () => ({}),
      'credential_invalid',
    ],
    [
      'a wrong one in the header, whatever the body says',
      () => track({ writeKey }),
      () => basic('abcdef'),
      'credential_invalid',
    ],
  ])('%s is 401, with advice', async (_title, body, headers, code) => {
    const answer = await post('/v1/track', body(), headers());
    expect(answer).toMatchObject({ status: 401, body: { code } });
    expect(answer.headers.get('www-authenticate')).toMatch(/Basic/);
    expect(JSON.stringify(answer.body)).not.toContain('abcdef');
  });

  test('of an account that may not ingest is 403', async () => {
    for (const headers of [basic(readKey), {}])
      expect(await post('/v1/track', track({ writeKey: readKey }), headers)).toMatchObject({
        status: 403,
        body: { code: 'scope_not_allowed' },
      });
  });

  test('in a body of more than 500 KB is 413; in the header the limit is that of POST /ingest', async () => {
    const large = {
      batch: Array.from({ length: 10 }, () => ({
        ...track({ properties: { text: 'x'.repeat(60_000) } }),
        type: 'track',
      })),
      writeKey,
    };
    expect(await post('/v1/batch', large, {})).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    expect(await written(await post('/v1/batch', large))).toHaveLength(10);
    expect(await post('/v1/batch', ' '.repeat(10_000_001))).toMatchObject({ status: 413 });
  });

  test('that is guessed is limited by the client’s address', async () => {
    const guess = () => post('/v1/track', track({ writeKey: 'abcdef' }), {}, limited);
    const statuses: number[] = [];
    for (let n = 0; n < 8; n += 1) statuses.push((await guess()).status);
    expect(statuses[0]).toBe(401);
    expect(statuses.at(-1)).toBe(429);
    const answer = await guess();
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('pages of other origins', () => {
  const origin = { origin: 'https://shop.example' };

  test('may send: the browser’s question is answered without a credential, and every answer can be read', async () => {
    const asked = await rig.call('OPTIONS', '/v1/t', {
      token: null,
      headers: {
        ...origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-methods')).toBe('POST');
    expect(asked.headers.get('access-control-allow-headers')).toMatch(/Authorization, Content-Type/);
    const answers = [
      asked,
      await post('/v1/track', track(), { ...basic(writeKey), ...origin }),
      await post('/v1/track', track(), origin),
      await post('/v1/track', {}, { ...basic(writeKey), ...origin }),
      await rig.call('GET', '/v1/track', { headers: origin }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([204, 200, 401, 400, 405]);
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('may not call any other route', async () => {
    const { headers } = await rig.call('POST', '/ingest', { headers: origin, body: {} });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    const question = { ...origin, 'access-control-request-method': 'POST' };
    expect((await rig.call('OPTIONS', '/ingest', { headers: question })).status).toBe(405);
    expect((await rig.call('OPTIONS', '/v1/track', { headers: origin })).status).toBe(405);
  });
});

describe('a batch with messages that are not valid', () => {
  const batchOf = (mark: string) => ({
    batch: [
      { ...track({ messageId: `${mark}-0` }), type: 'track' },
      { type: 'track', event: 'x', messageId: `${mark}-1` },
      17,
      { ...track({ messageId: `${mark}-3` }), type: 'page' },
      { ...track({ messageId: `${mark}-4` }), type: 'charge' },
    ],
  });

  test('is 400, which says which and why; the others are in the log, and the batch may come again', async () => {
    for (let n = 0; n < 2; n += 1) {
      const answer = await post('/v1/batch', batchOf('partly'));
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      expect(answer.body['detail']).toContain('3 of 5 messages are not valid; the other 2 were taken');
      expect(answer.body['errors']).toMatchObject([
        { path: 'body.batch[1].userId' },
        { path: 'body.batch[2]' },
        { path: 'body.batch[4].type' },
      ]);
    }
    expect(await idsLike('partly')).toEqual(['partly-0', 'partly-0', 'partly-3', 'partly-3']);
    const ids = (await rig.ingested()).flatMap(({ payload }) =>
      payload.events.filter(({ event_id }) => event_id === 'partly-0').map(({ id }) => id),
    );
    expect(new Set(ids).size).toBe(1);
  });

  test('with an Idempotency-Key is refused whole, because a refused write changes nothing', async () => {
    const answer = await post('/v1/batch', batchOf('key'), {
      ...basic(writeKey),
      'idempotency-key': 'batch-1',
    });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body['detail']).toContain('none was taken');
    expect(await idsLike('key-')).toEqual([]);
  });

  test('the same Idempotency-Key gets the first answer again', async () => {
    const headers = { ...basic(writeKey), 'idempotency-key': 'batch-2' };
    const body = { batch: [{ ...track(), type: 'track' }] };
    const first = await post('/v1/batch', body, headers);
    expect(await post('/v1/batch', body, headers)).toMatchObject({ status: 200, body: first.body });
    expect(await post('/v1/batch', { ...body, sentAt: null }, headers)).toMatchObject({ status: 422 });
  });

  test.each([[[]], [{}], [{ batch: [] }], [{ batch: 17 }], ['{'], ['"x"']])(
    '%j is no batch, and 400',
    async (body) => {
      expect((await post('/v1/batch', body)).status).toBe(400);
    },
  );

  test('a notification of this system that comes back is refused', async () => {
    const headers = { ...basic(writeKey), 'lead-scoring-delivery': 'd1' };
    expect((await post('/v1/track', track(), headers)).status).toBe(508);
  });
});
