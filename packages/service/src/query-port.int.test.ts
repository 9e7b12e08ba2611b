// A service asks the query port of another, over real sockets.
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { z } from 'zod';
import type { InternalClaims } from './internal-authentication.js';
import { QueryPort } from './query-port.js';
import { bindQuery, createQueryServer } from './query-server.js';

const secret = 'a secret of this test that is long enough';
const ouId = '11111111-1111-4111-8111-111111111111';
const claims: InternalClaims = {
  ou_id: ouId,
  organisation_id: ouId,
  credential_id: ouId,
  actor: 'credential:test',
  role: 'viewer',
  request_id: 'asked-1',
};

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

const echo = bindQuery(
  {
    name: 'echo',
    method: 'POST',
    path: '/echo',
    body: z.strictObject({ text: z.string().max(100) }),
    responses: { 200: { description: 'Echo', schema: z.looseObject({}) } },
  },
  ({ body, context }) =>
    Promise.resolve({ text: body.text, ou: context.ouId, actor: context.actor, request: context.requestId }),
);

/** Another method of the same path. */
const listen = bindQuery(
  {
    name: 'listen',
    method: 'GET',
    path: '/echo',
    responses: { 200: { description: 'Nothing', schema: z.looseObject({}) } },
  },
  () => Promise.resolve({ text: '' }),
);

/** A query port with one path, and its address. */
async function servedEcho(): Promise<string> {
  const server = await createQueryServer({
    host: '127.0.0.1',
    port: 0,
    routes: [echo, listen],
    healthChecks: {},
    internalSecret: secret,
    logger: pino({ level: 'silent' }),
  }).start();
  running.push(server.stop);
  return `http://127.0.0.1:${String(server.value.port)}`;
}

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

function portAt(url: string, { internalSecret = secret, timeoutMs = 5_000 } = {}): QueryPort {
  const port = new QueryPort({ url, internalSecret, timeoutMs });
  running.push(() => port.close());
  return port;
}

const question = {
  method: 'POST',
  body: Buffer.from('{"text":"x"}'),
  headers: { 'content-type': 'application/json' },
} as const;

describe('a question to a query port', () => {
  test('is signed with its body, and carries the caller and the id of the request', async () => {
    const answer = await portAt(await servedEcho()).ask(claims, '/echo', question);
    expect(answer.statusCode).toBe(200);
    expect(await answer.body.json()).toEqual({
      text: 'x',
      ou: ouId,
      actor: 'credential:test',
      request: 'asked-1',
    });
  });

  test('may be one of several methods of a path', async () => {
    const url = await servedEcho();
    expect(await (await portAt(url).ask(claims, '/echo')).body.json()).toEqual({ text: '' });
    const refused = await fetch(`${url}/echo`, { method: 'DELETE' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });

  test('gets the refusals of the service as answers', async () => {
    const answer = await portAt(await servedEcho()).ask(claims, '/nothing');
    expect(answer.statusCode).toBe(404);
    await answer.body.dump();
  });

  test('under another secret is an error of the system, not of the caller', async () => {
    const port = portAt(await servedEcho(), { internalSecret: 'another secret that is long enough too' });
    await expect(port.ask(claims, '/echo', question)).rejects.toThrow(/refused the internal authorization/);
  });

  test('to a service that is away is 503 with the time after which to try again', async () => {
    const url = await served((_, res) => res.end());
    await running.pop()?.();
    await expect(portAt(url).ask(claims, '/echo')).rejects.toMatchObject({
      status: 503,
      code: 'service_unavailable',
      headers: { 'Retry-After': '2' },
    });
  });

  test('is sent once more when the connection breaks before an answer, and only if it is a GET', async () => {
    const methods: (string | undefined)[] = [];
    const url = await served((req, res) => {
      methods.push(req.method);
      if (methods.length === 1 || req.method === 'POST') res.destroy();
      else res.end('{}');
    });
    expect((await portAt(url).ask(claims, '/echo')).statusCode).toBe(200);
    await expect(portAt(url).ask(claims, '/echo', question)).rejects.toMatchObject({ status: 503 });
    expect(methods).toEqual(['GET', 'GET', 'POST']);
  });

  test('that is answered too late is 504', async () => {
    const url = await served(() => undefined);
    await expect(portAt(url, { timeoutMs: 50 }).ask(claims, '/echo')).rejects.toMatchObject({
      status: 504,
      code: 'service_timeout',
    });
  }, 20_000);

  test('ends when its caller has gone', async () => {
    const url = await served(() => undefined);
    const gone = new AbortController();
    const asked = portAt(url).ask(claims, '/echo', { signal: gone.signal });
    gone.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  });
});
