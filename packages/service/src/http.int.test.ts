// The HTTP edge over real sockets: bodies, refusals, the query port, and stopping a server during requests.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { problem, type Problem } from '@lead-scoring/contracts';
import express, { type Express } from 'express';
import { pino } from 'pino';
import { z } from 'zod';
import { decodeUtf8, parseJson, readBody, readJson } from './body.js';
import { readyWhen } from './health.js';
import { createHttpServer } from './http-server.js';
import { internalAuthorizationHeader, signInternal, type InternalClaims } from './internal-authentication.js';
import { minimumPositionsHeader } from './positions.js';
import { ProblemError, problemHandler } from './problems.js';
import { bindInternalQuery, bindQuery, createQueryServer, type QueryRoute } from './query-server.js';
import { checkPath, methodNotAllowed, notFound } from './routing.js';

const silent = pino({ level: 'silent' });
const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

async function serve(app: Express, requestTimeoutMs?: number) {
  const { value, stop } = await createHttpServer({
    name: 'test',
    handler: app,
    host: '127.0.0.1',
    port: 0,
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
  }).start();
  running.push(stop);
  return { url: `http://127.0.0.1:${String(value.port)}`, port: value.port, stop };
}

async function problemOf(response: Response): Promise<Problem> {
  const body = problem.parse(await response.json());
  expect(body.status).toBe(response.status);
  expect(response.headers.get('x-request-id')).toBe(body.request_id);
  return body;
}

/** Sends hand-written bytes and returns everything that the server sends until it closes. */
async function raw(port: number, text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  socket.write(text);
  await closed(socket);
  return answer;
}

/** Resolves when a connection is closed, also by a reset, which meets a client that sends on: what came before it was read. */
async function closed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
}

describe('bodies', () => {
  const maximumBytes = 2_000;
  let url: string;
  let port: number;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const app = express();
    app.use(checkPath);
    app
      .route('/json')
      .post(async (req, res) => {
        res.json({ got: await readJson(req, { maximumBytes }) });
      })
      .all(methodNotAllowed(['POST']));
    app.post('/lines', async (req, res) => {
      const { type, bytes } = await readBody(req, {
        maximumBytes,
        types: ['application/x-ndjson', 'text/csv'],
      });
      res.json({
        type,
        lines: decodeUtf8(bytes)
          .split('\n')
          .map((line, index) => parseJson(line, { what: `Line ${String(index + 1)}` })),
      });
    });
    app.post('/rate', async (req, res) => {
      const { bytes } = await readBody(req, {
        maximumBytes,
        types: ['application/json'],
        leastRate: { bytes: 10, periodMs: 300 },
      });
      res.json({ bytes: bytes.length });
    });
    app.post('/held', async (req, res) => {
      let held = 0;
      const { bytes } = await readBody(req, {
        maximumBytes,
        types: ['application/json'],
        onHeld: (more) => {
          held += more;
          if (held > 1_500) throw new ProblemError(503, 'log_overloaded', 'No room.');
        },
      });
      res.json({ held, bytes: bytes.length });
    });
    app.get('/items/:id', (req, res) => {
      res.json(req.params);
    });
    app.get('/broken', () => {
      throw new Error('secret internals');
    });
    app.get('/begun', (_req, res) => {
      res.write('{"data":[');
      throw new Error('half way');
    });
    app.use(notFound);
    app.use(problemHandler(silent));
    const server = await serve(app);
    running.pop();
    ({ url, port, stop } = server);
  });
  afterAll(() => stop());

  const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } });

  const head = (path: string, framing: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;

  test.each([
    ['of a known length', 'Content-Length: 1000', '1'],
    ['in chunks', 'Transfer-Encoding: chunked', '1\r\n1\r\n'],
  ])(
    'an upload %s that drips is ended with 408, and its connection with it',
    async (_title, framing, drop) => {
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.write(head('/rate', framing));
      const dripping = setInterval(() => socket.write(drop), 100);
      await closed(socket);
      clearInterval(dripping);
      expect(answer).toMatch(/^HTTP\/1.1 408 /);
      expect(answer).toContain('"code":"request_timeout"');
      expect(answer).toContain('less than 10 bytes in 0.3 s');
    },
  );

  test('an upload that is slower than others but brings the least rate is taken', async () => {
    const socket = connect(port, '127.0.0.1');
    const answered = once(socket, 'data');
    socket.write(head('/rate', 'Content-Length: 80'));
    let sent = 0;
    const sending = setInterval(() => {
      socket.write(' '.repeat(10));
      if ((sent += 10) === 80) clearInterval(sending);
    }, 100);
    const [answer] = (await answered) as [Buffer];
    expect(answer.toString()).toContain('{"bytes":80}');
    socket.destroy();
  });

  test('what is held is told as it arrives and as it is unpacked, and may be refused on the way', async () => {
    const packed = gzipSync(' '.repeat(1_000));
    const gzip = { 'Content-Encoding': 'gzip' };
    expect(await (await post('/held', packed, gzip)).json()).toEqual({
      held: packed.length + 1_000,
      bytes: 1_000,
    });
    expect((await post('/held', gzipSync(' '.repeat(1_600)), gzip)).status).toBe(503);
    expect((await post('/held', ' '.repeat(1_600))).status).toBe(503);
    const unfinished = connect(port, '127.0.0.1');
    unfinished.write(head('/held', 'Content-Length: 1900') + ' '.repeat(1_600));
    const [answer] = (await once(unfinished, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 503 /);
    unfinished.destroy();
  });

  test('a body whose client goes before it is read is incomplete, not slow', async () => {
    const app = express();
    const read = new Promise<unknown>((resolve) => {
      app.post('/', (req, res) => {
        res.once('close', () => {
          setImmediate(() => {
            resolve(
              readBody(req, { maximumBytes, types: ['application/json'] }).catch((error: unknown) => error),
            );
          });
        });
      });
    });
    const served = await serve(app);
    const leaving = connect(served.port, '127.0.0.1');
    leaving.write(head('/', 'Content-Length: 100') + '{');
    setTimeout(() => leaving.destroy(), 50);
    expect(await read).toMatchObject({ code: 'incomplete_body' });
  });

  test('JSON is taken plain and with gzip, with a charset and a byte order mark', async () => {
    const value = { a: ['😀', 1.5, null], __proto__x: true };
    for (const response of [
      await post('/json', JSON.stringify(value)),
      await post('/json', JSON.stringify(value), { 'Content-Type': 'Application/JSON; Charset="UTF-8"' }),
      await post('/json', gzipSync(JSON.stringify(value)), { 'Content-Encoding': 'gzip' }),
      await post('/json', `\uFEFF${JSON.stringify(value)}`),
    ])
      expect([response.status, await response.json()]).toEqual([200, { got: value }]);
  });

  test('every bad body is refused with a code and a sentence', async () => {
    const cases: [string, string | Uint8Array<ArrayBuffer>, Record<string, string>, number, string][] = [
      ['/json', '{"a": bad}', {}, 400, 'malformed_json'],
      ['/json', '', {}, 400, 'malformed_json'],
      ['/json', '['.repeat(100), {}, 400, 'json_too_deep'],
      ['/json', new Uint8Array([0x22, 0xff, 0x22]), {}, 400, 'malformed_utf8'],
      ['/json', new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), {}, 400, 'malformed_utf8'],
      ['/json', '{}', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
      ['/json', '{}', { 'Content-Type': 'application/jsonx' }, 415, 'unsupported_media_type'],
      ['/json', '{}', { 'Content-Type': 'application/json; charset=latin1' }, 415, 'unsupported_charset'],
      ['/json', '{}', { 'Content-Encoding': 'br' }, 415, 'unsupported_content_encoding'],
      ['/json', '{}', { 'Content-Encoding': 'gzip, gzip' }, 415, 'unsupported_content_encoding'],
      ['/json', 'no gzip', { 'Content-Encoding': 'gzip' }, 400, 'malformed_gzip'],
      ['/json', gzipSync('{"a":1}').subarray(0, 15), { 'Content-Encoding': 'gzip' }, 400, 'malformed_gzip'],
      ['/json', `"${'x'.repeat(maximumBytes)}"`, {}, 413, 'body_too_large'],
      [
        '/json',
        gzipSync(Buffer.alloc(100_000_000)).subarray(0, 1_900),
        { 'Content-Encoding': 'gzip' },
        413,
        'body_too_large',
      ],
      [
        '/json',
        gzipSync(Buffer.alloc(maximumBytes + 1)),
        { 'Content-Encoding': 'gzip' },
        413,
        'body_too_large',
      ],
      ['/lines', '{"a":1}\n{', { 'Content-Type': 'application/x-ndjson' }, 400, 'malformed_json'],
    ];
    for (const [path, body, headers, status, code] of cases) {
      const response = await post(path, body, headers);
      expect([response.status, (await problemOf(response)).code]).toEqual([status, code]);
    }
  });

  describe.each([
    '*/*',
    'application/problem+json',
    'text/html, application/problem+json;q=0.5',
    'image/png',
  ])('with Accept: %s', (accept) => {
    const taken = {
      '/json': ['application/json', 'Application/JSON; Charset="UTF-8"', 'application/json;x=y'],
      '/lines': ['application/x-ndjson', 'application/x-ndjson; charset=utf-8'],
    };
    const refused = [
      '',
      'text/plain',
      'text/csv; charset=latin1',
      'multipart/form-data; boundary=x',
      'application/problem+json',
      'application/octet-stream',
      ';',
      'application/json, application/json',
      'application/json; charset=utf-16',
    ];
    const bad: Record<string, [string | Uint8Array<ArrayBuffer>, string[], boolean?]> = {
      'malformed UTF-8': [new Uint8Array([0x22, 0xff, 0x22]), ['malformed_utf8']],
      'a key twice, and then no JSON': ['{"a":1,"a":bad}', ['malformed_json']],
      'too much': [`"${'x'.repeat(maximumBytes)}"`, ['body_too_large']],
      'a gzip bomb': [
        gzipSync(Buffer.alloc(20_000_000)).subarray(0, 1_900),
        ['body_too_large', 'malformed_gzip'],
        true,
      ],
      'gzip that is none': ['no gzip', ['malformed_gzip'], true],
    };
    const isProblem = async (response: Response, codes: readonly string[], title: string) => {
      const named = accept.includes('application/problem+json');
      const text = await response.clone().text();
      expect([title, response.headers.get('content-type')]).toEqual([
        title,
        `application/${named ? 'problem+json' : 'json'}; charset=utf-8`,
      ]);
      const { code, status } = await problemOf(response);
      expect([title, response.status, codes.includes(code) ? 'right' : code]).toEqual([
        title,
        status,
        'right',
      ]);
      expect(text).not.toMatch(/\\n +at |node_modules|\.ts:/);
    };

    test.each(Object.entries(bad))(
      '%s is told as a problem, whatever its type',
      async (title, [body, codes, gzip]) => {
        const packed = gzip === true ? { 'Content-Encoding': 'gzip' } : {};
        for (const [path, types] of Object.entries(taken))
          for (const type of types)
            await isProblem(
              await post(path, body, { 'Content-Type': type, Accept: accept, ...packed }),
              codes,
              `${title} as ${type}`,
            );
        for (const type of refused)
          await isProblem(
            await post('/json', body, { 'Content-Type': type, Accept: accept, ...packed }),
            ['unsupported_media_type', 'unsupported_charset'],
            `${title} as ${type}`,
          );
      },
    );
  });

  test('a body of exactly the limit is taken', async () => {
    expect((await post('/json', `"${'x'.repeat(maximumBytes - 2)}"`)).status).toBe(200);
  });

  test('a complaint about JSON names the place', async () => {
    expect((await problemOf(await post('/json', '{"a":\n  tru}'))).detail).toContain('line 2, column 3');
    const lines = await post('/lines', '{"a":1}\n{"a" 1}', { 'Content-Type': 'application/x-ndjson' });
    expect((await problemOf(lines)).detail).toContain('Line 2 is not valid JSON');
  });

  test('a body that is far too large is answered although the client is still sending', async () => {
    const response = await post('/json', Buffer.alloc(8_000_000, 0x20));
    expect((await problemOf(response)).code).toBe('body_too_large');
  });

  test('so is one whose client sends all of it before it reads, and wants the connection closed', async () => {
    const length = 8_000_000;
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write(
      `POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${String(length)}\r\n\r\n`,
    );
    for (let sent = 0; sent < length; sent += 100_000)
      if (!socket.write(Buffer.alloc(100_000, 0x20))) await once(socket, 'drain');
    socket.resume();
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toContain('HTTP/1.1 413');
    await closed(socket);
  });

  test('a chunked body that grows too large is answered before its end', async () => {
    const head =
      'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const socket = connect(port, '127.0.0.1');
    socket.write(`${head}${(3_000).toString(16)}\r\n${' '.repeat(3_000)}\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toContain('HTTP/1.1 413');
    socket.destroy();
  });

  test('a client that goes away in the middle of its body does no harm', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"',
    );
    await once(socket, 'connect');
    socket.destroy();
    expect((await post('/json', '1')).status).toBe(200);
  });

  test('problems are application/problem+json when Accept names it, else application/json', async () => {
    const plain = await fetch(`${url}/nowhere`);
    expect(plain.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const named = await fetch(`${url}/nowhere`, { headers: { Accept: 'application/problem+json, */*' } });
    expect(named.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect((await problemOf(named)).code).toBe('route_not_found');
  });

  test('a wrong method is 405 with Allow; an unknown route 404; a stray % in a path 400', async () => {
    const wrong = await fetch(`${url}/json`, { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await problemOf(wrong)).code).toBe('method_not_allowed');
    for (const path of ['/items/%', '/items/%zz', '/items/%ff', '/%c3', '/nowhere/%e0%80'])
      expect((await problemOf(await fetch(url + path))).code).toBe('malformed_path');
    expect(await (await fetch(`${url}/items/a%2Fb`)).json()).toEqual({ id: 'a/b' });
  });

  test('an unexpected error is 500 without its text; once the answer has begun, the connection is cut', async () => {
    const broken = await fetch(`${url}/broken`, { headers: { 'X-Request-Id': 'mine' } });
    const body = await problemOf(broken);
    expect([body.code, body.request_id]).toEqual(['internal_error', 'mine']);
    expect(JSON.stringify(body)).not.toContain('secret');
    await expect(fetch(`${url}/begun`).then((response) => response.text())).rejects.toThrow();
  });

  test('what is no HTTP request, and headers that are too large, get a problem too', async () => {
    const refused = async (text: string) => {
      const answer = await raw(port, text);
      const { code, request_id } = problem.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)));
      expect(answer).toContain(`\r\nX-Request-Id: ${request_id}\r\n`);
      return code;
    };
    expect(await refused('nonsense\r\n\r\n')).toBe('malformed_request');
    expect(await refused(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toBe(
      'headers_too_large',
    );
    expect(await refused(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)).toBe('headers_too_large');
    expect(
      await refused('GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'),
    ).toBe('malformed_request');
  });

  test('what Node would answer by itself with nothing is answered with a problem, or as any other request', async () => {
    const get = (method: string, headers: string) =>
      raw(port, `${method} /nothing HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
    const codeOf = (answer: string) =>
      problem.parse(JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))).code;
    const noHost = await get('GET', '');
    expect(noHost).toMatch(/^HTTP\/1\.1 400 /);
    expect(codeOf(noHost)).toBe('malformed_request');
    const tunnel = await raw(port, 'CONNECT host:1 HTTP/1.1\r\nHost: host:1\r\n\r\n');
    expect(tunnel).toMatch(/^HTTP\/1\.1 405 [^]*\r\nAllow: /);
    expect(codeOf(tunnel)).toBe('method_not_allowed');
    for (const [method, headers] of [
      ['GET', 'Host: x\r\nExpect: tea\r\n'],
      ['GET', 'Host: x\r\nExpect: 100-continue\r\n'],
      ['TRACE', 'Host: x\r\n'],
      ['OPTIONS', 'Host: x\r\n'],
    ] as const)
      expect(codeOf(await get(method, headers))).toBe('route_not_found');
  });
});

describe('the end of a server', () => {
  test('requests in progress are finished, further connections refused', async () => {
    const app = express();
    let release: () => void = () => undefined;
    let arrived: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => (arrived = resolve));
    app.get('/slow', (_req, res) => {
      release = () => res.json({ whole: true });
      arrived();
    });
    const { url, stop } = await serve(app);
    running.pop();
    const slow = fetch(`${url}/slow`);
    await inside;
    const stopped = stop();
    await expect(fetch(`${url}/slow`)).rejects.toThrow();
    release();
    const response = await slow;
    expect([await response.json(), response.headers.get('connection')]).toEqual([{ whole: true }, 'close']);
    await stopped;
  });

  test('before it, the query port answers, is not ready, and ends each connection', async () => {
    const ending = new AbortController();
    const server = createQueryServer({
      host: '127.0.0.1',
      port: 0,
      routes: [],
      healthChecks: {},
      internalSecret: 'a secret of this test that is long enough',
      logger: silent,
    });
    const { value, stop } = await server.start(ending.signal);
    running.push(stop);
    const readiness = async () => {
      const answer = await fetch(`http://127.0.0.1:${String(value.port)}/readyz`);
      return [answer.status, answer.headers.get('connection'), await answer.json()];
    };
    expect(await readiness()).toEqual([
      200,
      'keep-alive',
      { status: 'ready', checks: { staying: { ok: true } } },
    ]);
    ending.abort();
    expect(await readiness()).toEqual([
      503,
      'close',
      { status: 'not_ready', checks: { staying: { ok: false, detail: 'the process is about to end' } } },
    ]);
  });
});

describe('the query port', () => {
  const secret = 's'.repeat(32);
  const claims: InternalClaims = {
    ou_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
    organisation_id: '1b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
    credential_id: '2b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
    actor: 'token:2b6f8a52',
    role: 'viewer',
    request_id: 'request-1',
  };
  const getLead = {
    name: 'getLead',
    method: 'GET',
    path: '/leads/{id}',
    parameters: z.strictObject({ id: z.uuid() }),
    query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(25) }),
    responses: { 200: { description: 'Lead', schema: z.strictObject({ id: z.uuid(), limit: z.number() }) } },
  } as const satisfies QueryRoute;
  const searchLeads = {
    name: 'searchLeads',
    method: 'GET',
    path: '/leads/search',
    query: z.strictObject({ q: z.string() }),
    responses: { 200: { description: 'Found', schema: z.array(z.string()) } },
  } as const satisfies QueryRoute;
  const simulate = {
    name: 'simulate',
    method: 'POST',
    path: '/triggers/{id}/simulate',
    parameters: z.strictObject({ id: z.uuid() }),
    body: z.strictObject({ from: z.string() }),
    responses: { 200: { description: 'Found', schema: z.strictObject({ from: z.string() }) } },
  } as const satisfies QueryRoute;
  const visible = {
    name: 'visible',
    method: 'GET',
    path: '/internal/visible',
    responses: { 200: { description: 'Visible' } },
  } as const satisfies QueryRoute;

  async function start(ready = true) {
    const { value, stop } = await createQueryServer({
      host: '127.0.0.1',
      port: 0,
      routes: [
        bindQuery(getLead, ({ params, query, context }) => {
          if (context.role !== 'viewer')
            return Promise.reject(new ProblemError(404, 'lead_not_found', 'There is no such lead.'));
          return Promise.resolve({ id: params.id, limit: query.limit });
        }),
        bindQuery(searchLeads, ({ query, context }) =>
          Promise.resolve([
            query.q,
            context.ouId,
            ...context.minimumPositions.map(({ offset }) => String(offset)),
          ]),
        ),
        bindQuery(simulate, ({ body }) => Promise.resolve({ from: body.from })),
        bindInternalQuery(visible, ({ context }) =>
          Promise.resolve({ request: context.requestId, wrong: undefined }),
        ),
      ],
      healthChecks: {
        'read model': () => (ready ? Promise.resolve() : Promise.reject(new Error('mongodb://secret-host'))),
        log: readyWhen(() => ready, '2 partitions catch up'),
      },
      internalSecret: secret,
      logger: silent,
      checkAnswers: true,
    }).start();
    running.push(stop);
    const url = `http://127.0.0.1:${String(value.port)}`;
    const get = async (path: string, of: InternalClaims = claims, headers: Record<string, string> = {}) =>
      fetch(url + path, {
        headers: {
          [internalAuthorizationHeader]: await signInternal(of, { method: 'GET', target: path }, secret),
          ...headers,
        },
      });
    return { url, get };
  }

  test('serves declared routes to the gateway alone', async () => {
    const { url, get } = await start();
    const id = claims.credential_id;
    expect(await (await get(`/leads/${id}?limit=3`)).json()).toEqual({ id, limit: 3 });
    const withPositions = await get('/leads/search?q=a+b', claims, { [minimumPositionsHeader]: '0:42,3:7' });
    expect(await withPositions.json()).toEqual(['a b', claims.ou_id, '42', '7']);
    expect((await problemOf(await fetch(`${url}/leads/${id}`))).code).toBe('internal_authorization_invalid');
    expect((await get('/leads/search?q=x', { ...claims, request_id: 'r2' })).status).toBe(200);
  });

  test('takes a captured header for the request that it was made for, and for no other', async () => {
    const { url } = await start();
    const path = `/triggers/${claims.credential_id}/simulate`;
    const search = '/leads/search?q=mine';
    const header = await signInternal(claims, { method: 'GET', target: search }, secret);
    const question = { method: 'POST', target: path, body: Buffer.from('{"from":"2026"}') };
    const asked = await signInternal(claims, question, secret);
    const send = async (target: string, authorization: string, body?: string) =>
      fetch(url + target, {
        ...(body !== undefined && { method: 'POST', body }),
        headers: { [internalAuthorizationHeader]: authorization, 'content-type': 'application/json' },
      });
    expect((await send(search, header)).status).toBe(200);
    expect((await send(path, asked, '{"from":"2026"}')).status).toBe(200);
    for (const response of [
      await send('/leads/search?q=yours', header),
      await send('/leads/search', header),
      await send(`/leads/${claims.credential_id}?limit=3`, header),
      await send(path, header, '{"from":"2026"}'),
      await send(path, asked, '{"from":"2025"}'),
      await send(path, asked, ''),
      await send(search, asked),
    ])
      expect([response.status, (await problemOf(response)).code]).toEqual([
        401,
        'internal_authorization_invalid',
      ]);
  });

  test('takes a question as POST with a body, within bounds and as declared, and only so', async () => {
    const { url, get } = await start();
    const path = `/triggers/${claims.credential_id}/simulate`;
    const ask = async (body: string, type = 'application/json') =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          [internalAuthorizationHeader]: await signInternal(
            claims,
            { method: 'POST', target: path, body: Buffer.from(body) },
            secret,
          ),
          'content-type': type,
        },
        body,
      });
    expect(await (await ask('{"from":"2026"}')).json()).toEqual({ from: '2026' });
    expect((await problemOf(await ask('{"from":1}'))).errors).toMatchObject([{ path: 'body.from' }]);
    expect((await problemOf(await ask('{'))).code).toBe('malformed_json');
    expect((await problemOf(await ask('x', 'text/plain'))).code).toBe('unsupported_media_type');
    expect((await problemOf(await ask(' '.repeat(1_000_001)))).code).toBe('body_too_large');
    expect((await problemOf(await get(path))).code).toBe('method_not_allowed');
    expect((await fetch(url + path, { method: 'POST' })).status).toBe(401);
  });

  test('answers 400 with every problem, 404 of a handler, 405, and 400 without an OU', async () => {
    const { get } = await start();
    const bad = await problemOf(await get('/leads/x?limit=1000'));
    expect(bad.errors).toEqual([{ path: 'parameters.id', message: 'must be a valid UUID' }]);
    expect((await problemOf(await get(`/leads/${claims.credential_id}?limit=1000&x=1`))).errors).toEqual([
      { path: 'query.limit', message: 'must be at most 100' },
      { path: 'query.x', message: 'is not a known field; leave it out' },
    ]);
    expect(
      (await problemOf(await get(`/leads/${claims.credential_id}`, { ...claims, role: 'admin' }))).code,
    ).toBe('lead_not_found');
    const { url } = await start();
    expect((await fetch(`${url}/leads/x`, { method: 'POST' })).status).toBe(405);
    const withoutUnit: InternalClaims = { ...claims };
    delete withoutUnit.ou_id;
    expect((await problemOf(await get('/leads/search?q=x', withoutUnit))).code).toBe('org_unit_not_selected');
    expect(await (await get('/internal/visible', withoutUnit)).json()).toEqual({ request: 'request-1' });
  });

  test('an answer that is not as declared is an error while answers are checked', async () => {
    const { value, stop } = await createQueryServer({
      host: '127.0.0.1',
      port: 0,
      routes: [bindQuery(searchLeads, () => Promise.resolve([1 as unknown as string]))],
      healthChecks: {},
      internalSecret: secret,
      logger: silent,
      checkAnswers: true,
    }).start();
    running.push(stop);
    const target = '/leads/search?q=x';
    const response = await fetch(`http://127.0.0.1:${String(value.port)}${target}`, {
      headers: {
        [internalAuthorizationHeader]: await signInternal(claims, { method: 'GET', target }, secret),
      },
    });
    expect(response.status).toBe(500);
  });

  test('says whether it lives and can serve, without naming what is inside', async () => {
    const { url } = await start();
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
      status: 'ready',
      checks: { 'read model': { ok: true }, log: { ok: true }, staying: { ok: true } },
    });
    const broken = await fetch(`${(await start(false)).url}/readyz`);
    expect([broken.status, await broken.json()]).toEqual([
      503,
      {
        status: 'not_ready',
        checks: {
          'read model': { ok: false, detail: 'failed; see the log' },
          log: { ok: false, detail: '2 partitions catch up' },
          staying: { ok: true },
        },
      },
    ]);
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
  });
});
