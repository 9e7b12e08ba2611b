// On real sockets: refused requests never arrive, misbehaving servers are cut off, and reading is limited.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import {
  createOutbound,
  OutboundFailed,
  OutboundRefused,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  type OutboundResponse,
} from './index.js';
import type { HostAddress } from './resolve.js';
import { parseUrl } from './rules.js';
import { serveHttp, serveHttps, serveTcp, type TestServer } from './testing/servers.js';
import { hostileNames, refusedUrls } from './testing/spellings.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function up(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting;
  cleanups.push(server.stop);
  return server;
}

function outbound(options: Partial<OutboundOptions> = {}): Outbound {
  const made = createOutbound({
    userAgent: 'LeadScoring-Test/1.0 (+https://example.com/contact)',
    allowedPrivateTargets: [],
    ...options,
  });
  cleanups.push(() => made.close());
  return made;
}

/** An outbound that may reach this server and nothing else. */
function outboundTo({ port }: TestServer, options: Partial<OutboundOptions> = {}): Outbound {
  return outbound({
    allowedPrivateTargets: [{ host: '127.0.0.1', fromPort: port, toPort: port }],
    allowedPorts: [80, 443, port],
    ...options,
  });
}

const at = ({ port }: TestServer, path = '/'): URL => new URL(`http://127.0.0.1:${port}${path}`);
const named = (name: string, { port }: TestServer, path = '/'): URL =>
  new URL(`http://${name}:${port}${path}`);

/** A time limit above what a busy machine needs: only a hanging test reaches it. */
const patient = (): Pick<OutboundRequest, 'signal' | 'maxBytes'> => ({
  signal: AbortSignal.timeout(30_000),
  maxBytes: 100_000,
});

function answersFrom(table: Readonly<Record<string, readonly string[]>>) {
  return (hostname: string): Promise<HostAddress[]> => Promise.resolve(addresses(table[hostname] ?? []));
}

function addresses(list: readonly string[]): HostAddress[] {
  return list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

/** The code or reason of the error, or that there was an answer. */
async function outcome(request: Promise<OutboundResponse>): Promise<string> {
  try {
    return `answered ${String((await request).status)}`;
  } catch (error) {
    if (error instanceof OutboundRefused) return error.code;
    if (error instanceof OutboundFailed) return error.reason;
    throw error;
  }
}

const hello: RequestListener = (_req, res) => res.end('hello');

describe('a request', () => {
  test('sends what it is told, names its sender, and brings back the answer', async () => {
    let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string } | undefined;
    const server = await up(
      serveHttp((req, res) => {
        const chunks: Buffer[] = [];
        req.on('data', (chunk: Buffer) => chunks.push(chunk));
        req.on('end', () => {
          seen = {
            method: req.method ?? '',
            url: req.url ?? '',
            headers: req.headers,
            body: Buffer.concat(chunks).toString(),
          };
          res.writeHead(202, { 'Content-Type': 'text/plain', 'X-Twice': ['a', 'b'] }).end('thanks');
        });
      }),
    );
    const answer = await outboundTo(server).request(at(server, '/hook?a=b#part'), {
      ...patient(),
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'USER-AGENT': 'somebody else', 'Accept-Encoding': 'br' },
      body: '{"ü":1}',
    });
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/hook?a=b',
      body: '{"ü":1}',
      headers: {
        host: `127.0.0.1:${server.port}`,
        'content-type': 'application/json',
        'content-length': '8',
        'user-agent': 'LeadScoring-Test/1.0 (+https://example.com/contact)',
        'accept-encoding': 'gzip',
      },
    });
    expect(answer).toMatchObject({
      status: 202,
      headers: { 'content-type': 'text/plain', 'x-twice': 'a, b' },
      body: Buffer.from('thanks'),
      truncated: false,
      redirects: [],
    });
    expect(answer.url.href).toBe(at(server, '/hook?a=b#part').href);
  });

  test('keeps connections, and asks again once when a kept one has been closed', async () => {
    let requests = 0;
    const server = await up(
      serveHttp((req, res) => {
        requests += 1;
        // The third request finds its kept connection closed.
        if (requests === 3) req.socket.destroy();
        else res.end(`${requests}`);
      }),
    );
    const client = outboundTo(server);
    const bodies: string[] = [];
    for (let index = 0; index < 4; index += 1)
      bodies.push((await client.request(at(server), patient())).body.toString());
    expect(bodies).toEqual(['1', '2', '4', '5']);
    expect(server.connections()).toBeLessThan(requests);
  });

  test('with POST is never repeated', async () => {
    let requests = 0;
    const server = await up(
      serveHttp((req) => {
        requests += 1;
        req.socket.destroy();
      }),
    );
    const request = outboundTo(server).request(at(server), { ...patient(), method: 'POST', body: 'x' });
    expect(await outcome(request)).toBe('unreachable');
    expect(requests).toBe(1);
  });

  test('a header that would break the request is an error of the caller, not of the address', async () => {
    const server = await up(serveHttp(hello));
    const request = outboundTo(server).request(at(server), {
      ...patient(),
      headers: { 'x-a': 'b\r\nx-c: d' },
    });
    await expect(request).rejects.toMatchObject({ code: 'UND_ERR_INVALID_ARG' });
    expect(server.connections()).toBe(0);
  });

  test('closing breaks off what is under way', async () => {
    let asked: (() => void) | undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const server = await up(serveHttp(() => asked?.()));
    const client = outboundTo(server);
    const result = outcome(client.request(at(server), patient()));
    await isAsked;
    await client.close();
    expect(await result).toBe('unreachable');
    await server.idle();
  });
});

describe('addresses that are not public', () => {
  test('in no spelling is a connection opened', async () => {
    const canaries = [await up(serveHttp(hello, '0.0.0.0'))];
    const [first] = canaries as [TestServer];
    // Where the machine has IPv6, its loopback is watched too.
    await serveHttp(hello, '::1', first.port).then(
      (canary) => {
        canaries.push(canary);
        cleanups.push(canary.stop);
      },
      () => undefined,
    );
    const client = outbound({ allowedPorts: [80, 443, first.port], resolve: answersFrom(hostileNames) });
    const expected = [
      ...refusedUrls(first.port),
      ...Object.keys(hostileNames).map(
        (name) => [`http://${name}:${first.port}/`, 'address_not_public'] as const,
      ),
      ...Object.keys(hostileNames).map(
        (name) => [`https://${name}:${first.port}/`, 'address_not_public'] as const,
      ),
    ];
    for (const [url, code] of expected) {
      const checked = (async () => client.request(client.check(url), patient()))();
      expect([url, await outcome(checked)]).toEqual([url, code]);
      // Also without calling check() first.
      const parsed = parseUrl(url);
      if (parsed !== undefined)
        expect([url, await outcome(client.request(parsed, patient()))]).toEqual([url, code]);
    }
    expect(canaries.map((canary) => canary.connections())).toEqual(canaries.map(() => 0));
    // The listener does receive connections: the same address, allowed by name, is answered.
    expect(await outcome(outboundTo(first).request(at(first), patient()))).toBe('answered 200');
    expect(first.connections()).toBe(1);
  });

  test('a name that changes its mind never gets a connection to what was not checked: 1,000 tries', async () => {
    // 127.0.0.2 stands for the public address; 127.0.0.1 must not be reached.
    const allowed = await up(
      serveHttp((req, res) => {
        if (req.url === '/close') res.setHeader('connection', 'close');
        if (req.url === '/redirect')
          res.writeHead(302, { location: `http://again.example:${canary.port}/close` });
        res.end('hello');
      }, '127.0.0.2'),
    );
    const canary = await up(serveHttp(hello, '127.0.0.1', allowed.port));
    let lookups = 0;
    const answers = [
      ['127.0.0.2'],
      ['127.0.0.1'],
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.2'],
      ['127.0.0.2', '::1'],
      ['::ffff:127.0.0.1'],
      ['127.0.0.2', '127.0.0.2'],
    ];
    const client = outbound({
      allowedPrivateTargets: [{ host: '127.0.0.2', fromPort: allowed.port, toPort: allowed.port }],
      allowedPorts: [allowed.port],
      resolve: () => {
        lookups += 1;
        return Promise.resolve(addresses(answers[lookups % answers.length] ?? []));
      },
    });
    const counts: Record<string, number> = {};
    for (let index = 0; index < 1_000; index += 1) {
      const path = ['/close', '/keep', '/redirect', '/close'][index % 4];
      const result = await outcome(
        client.request(named('rebinding.example', allowed, path), { ...patient(), maxRedirects: 5 }),
      );
      counts[result] = (counts[result] ?? 0) + 1;
    }
    expect(canary.connections()).toBe(0);
    expect(Object.keys(counts).sort()).toEqual(['address_not_public', 'answered 200']);
    expect(allowed.connections()).toBeGreaterThan(100);
    expect(lookups).toBeGreaterThan(500);
  });

  test('a redirect to one is refused, whatever it is called', async () => {
    const canary = await up(serveHttp(hello));
    const server = await up(
      serveHttp((req, res) => {
        res.writeHead(302, { location: decodeURIComponent((req.url ?? '').slice(1)) }).end();
      }),
    );
    const client = outboundTo(server, {
      allowedPorts: [80, 443, canary.port],
      resolve: answersFrom({ 'inside.example': ['127.0.0.1'] }),
    });
    for (const [location, code] of [
      [`http://127.0.0.1:${canary.port}/`, 'address_not_public'],
      [`//2130706433:${canary.port}/`, 'address_not_public'],
      [`http://inside.example:${canary.port}/`, 'address_not_public'],
      [`http://localhost:${canary.port}/`, 'address_not_public'],
      ['http://169.254.169.254/latest/meta-data/', 'address_not_public'],
      ['http://example.com:22/', 'port_not_allowed'],
      ['http://user:secret@example.com/', 'credentials_in_url'],
      ['file:///etc/passwd', 'scheme_not_allowed'],
    ] as const) {
      const request = client.request(at(server, `/${encodeURIComponent(location)}`), {
        ...patient(),
        maxRedirects: 5,
      });
      expect([location, await outcome(request)]).toEqual([location, code]);
      await expect(request).rejects.toThrow(/^127\.0\.0\.1:\d+ redirects: /);
    }
    expect(canary.connections()).toBe(0);
  });

  test('a private target is reached under its name, by the system’s own lookup', async () => {
    const server = await up(serveHttp(hello, 'localhost'));
    const client = outbound({
      allowedPrivateTargets: [{ host: 'localhost', fromPort: server.port, toPort: server.port }],
    });
    expect(await outcome(client.request(named('localhost', server), patient()))).toBe('answered 200');
    expect(await outcome(client.request(at(server), patient()))).toBe('address_not_public');
  });
});

describe('redirects', () => {
  /** /n redirects to /n-1; /0 answers. */
  const stairs: RequestListener = (req, res) => {
    const step = Number((req.url ?? '').slice(1));
    if (step > 0) res.writeHead(301, { location: `${step - 1}` }).end('moved');
    else res.end('arrived');
  };

  test('are answered as they came unless they are wanted', async () => {
    const server = await up(serveHttp(stairs));
    const answer = await outboundTo(server).request(at(server, '/1'), patient());
    expect(answer).toMatchObject({ status: 301, headers: { location: '0' }, body: Buffer.from('moved') });
  });

  test('are followed as often as is allowed, and no further', async () => {
    const server = await up(serveHttp(stairs));
    const client = outboundTo(server);
    const answer = await client.request(at(server, '/3'), { ...patient(), maxRedirects: 3 });
    expect(answer.body.toString()).toBe('arrived');
    expect(answer.url.pathname).toBe('/0');
    expect(answer.redirects.map(({ pathname }) => pathname)).toEqual(['/2', '/1', '/0']);
    expect(await outcome(client.request(at(server, '/4'), { ...patient(), maxRedirects: 3 }))).toBe(
      'too_many_redirects',
    );
    // Eight requests, on kept connections.
    expect(server.connections()).toBeLessThan(4);
  });

  test('are refused where the caller says so, and then not requested', async () => {
    const server = await up(serveHttp(stairs));
    const client = outboundTo(server);
    const asked: string[] = [];
    const request = client.request(at(server, '/3'), {
      ...patient(),
      maxRedirects: 5,
      allowRedirect: (from, to) => {
        asked.push(`${from.pathname} ${to.pathname}`);
        return to.pathname !== '/1';
      },
    });
    expect(await outcome(request)).toBe('redirect_refused');
    expect(asked).toEqual(['/3 /2', '/2 /1']);
  });

  test('to what is no address are malformed; without an address they are answers', async () => {
    const server = await up(
      serveHttp((req, res) => {
        res.writeHead(302, req.url === '/nowhere' ? {} : { location: 'http://[' }).end();
      }),
    );
    const client = outboundTo(server);
    expect(await outcome(client.request(at(server), { ...patient(), maxRedirects: 5 }))).toBe('malformed');
    expect(await outcome(client.request(at(server, '/nowhere'), { ...patient(), maxRedirects: 5 }))).toBe(
      'answered 302',
    );
  });

  test('secrets stay with their origin; 307 repeats a POST, 303 asks with GET', async () => {
    const seen: string[] = [];
    const note = (name: string, req: IncomingMessage): void => {
      seen.push(
        `${name} ${req.method ?? ''} ${req.headers.authorization ?? '-'} ${req.headers['content-length'] ?? '-'}`,
      );
    };
    const other = await up(
      serveHttp((req, res) => {
        note('other', req);
        res.end();
      }),
    );
    const server = await up(
      serveHttp((req, res) => {
        note('first', req);
        if (req.url === '/307') res.writeHead(307, { location: '/303' }).end();
        else res.writeHead(303, { location: `http://127.0.0.1:${other.port}/` }).end();
      }),
    );
    const client = outbound({
      allowedPrivateTargets: [server, other].map(({ port }) => ({
        host: '127.0.0.1',
        fromPort: port,
        toPort: port,
      })),
    });
    await client.request(at(server, '/307'), {
      ...patient(),
      method: 'POST',
      headers: { Authorization: 'Bearer secret' },
      body: 'body',
      maxRedirects: 5,
    });
    expect(seen).toEqual(['first POST Bearer secret 4', 'first POST Bearer secret 4', 'other GET - -']);
  });
});

describe('the signal ends everything', () => {
  /** Starts a request, waits for `reached` and aborts its signal: the request must fail at once as `timeout`. */
  async function cutAt(reached: Promise<unknown>, start: (signal: AbortSignal) => Promise<OutboundResponse>) {
    const controller = new AbortController();
    const result = outcome(start(controller.signal));
    await reached;
    controller.abort();
    expect(await result).toBe('timeout');
  }

  test('before it began: nothing is asked', async () => {
    const server = await up(serveHttp(hello));
    const request = outboundTo(server).request(at(server), { ...patient(), signal: AbortSignal.abort() });
    expect(await outcome(request)).toBe('timeout');
    expect(server.connections()).toBe(0);
  });

  test('while the name is looked up', async () => {
    let lookedUp: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => (lookedUp = resolve));
    const client = outbound({
      resolve: () => {
        lookedUp?.();
        return new Promise(() => undefined);
      },
    });
    await cutAt(reached, (signal) =>
      client.request(new URL('http://example.com/'), { ...patient(), signal }),
    );
  });

  test.each<[string, (socket: Socket) => void]>([
    ['nothing is answered', () => undefined],
    ['the headers drip', (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: b')],
    ['only informational answers come', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(3))],
    ['the body drips', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\na')],
    [
      'a compressed body drips',
      (socket) =>
        socket.write(
          Buffer.concat([
            Buffer.from('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n'),
            gzipSync('hello').subarray(0, 12),
          ]),
        ),
    ],
  ])('while %s; the connection is closed', async (_name, misbehave) => {
    let asked: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => (asked = resolve));
    const server = await up(
      serveTcp((socket) => {
        socket.once('data', () => {
          misbehave(socket);
          asked?.();
        });
      }),
    );
    await cutAt(reached, (signal) => outboundTo(server).request(at(server), { ...patient(), signal }));
    await server.idle();
  });

  test('while a TLS handshake is not answered', async () => {
    let asked: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => (asked = resolve));
    const server = await up(serveTcp((socket) => socket.once('data', () => asked?.())));
    await cutAt(reached, (signal) =>
      outboundTo(server).request(new URL(`https://127.0.0.1:${server.port}`), { ...patient(), signal }),
    );
  });

  test('while redirects go on for ever', async () => {
    let asked: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => (asked = resolve));
    const server = await up(
      serveHttp((req, res) => {
        const step = Number((req.url ?? '').slice(1));
        if (step === 20) asked?.();
        res.writeHead(302, { location: `/${step + 1}` }).end();
      }),
    );
    await cutAt(reached, (signal) =>
      outboundTo(server).request(at(server), { ...patient(), signal, maxRedirects: Number.MAX_SAFE_INTEGER }),
    );
  });
});

describe('servers that misbehave', () => {
  test.each<[string, string, RegExp, (socket: Socket) => void]>([
    ['closes at once', 'unreachable', /closed the connection/, (socket) => socket.end()],
    ['resets', 'unreachable', /closed the connection/, (socket) => socket.resetAndDestroy()],
    ['speaks something else', 'malformed', /not HTTP/, (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    ['answers with bytes', 'malformed', /not HTTP/, (socket) => socket.end(Buffer.alloc(5_000, 0xff))],
    [
      'sends headers without end',
      'malformed',
      /more headers/,
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${`x-a: ${'b'.repeat(1_000)}\r\n`.repeat(200)}`),
    ],
    [
      'sends one header without end',
      'malformed',
      /more headers/,
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(200_000)}`),
    ],
    [
      'sends less than it says',
      'unreachable',
      /closed the connection/,
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello'),
    ],
    [
      'breaks off in a chunk',
      'unreachable',
      /closed the connection/,
      (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nhello'),
    ],
    [
      'sends chunks that are none',
      'malformed',
      /not HTTP/,
      (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nhello\r\n'),
    ],
    [
      'says two lengths',
      'malformed',
      /not HTTP/,
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello'),
    ],
    [
      'sends gzip that is none',
      'malformed',
      /cannot be decoded/,
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n<html>hello</html>'),
    ],
    [
      'sends brotli that is none',
      'malformed',
      /cannot be decoded/,
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n<html>hello</html>'),
    ],
    [
      'encodes as nobody asked',
      'malformed',
      /not asked for \("zstd"\)/,
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\n\r\nhello'),
    ],
  ])('one that %s: %s', async (_name, reason, sentence, misbehave) => {
    const server = await up(serveTcp((socket) => socket.once('data', () => misbehave(socket))));
    const request = outboundTo(server).request(at(server), patient());
    expect(await outcome(request)).toBe(reason);
    await expect(request).rejects.toThrow(sentence);
    await server.idle();
  });

  test('one that refuses connections, and names without addresses, are told apart', async () => {
    const server = await up(serveHttp(hello));
    await server.stop();
    cleanups.pop();
    const client = outboundTo(server, {
      resolve: (name) =>
        name === 'none.example'
          ? Promise.resolve([])
          : Promise.reject(
              Object.assign(new Error(), { code: name === 'no.example' ? 'ENOTFOUND' : 'ESERVFAIL' }),
            ),
    });
    for (const [url, message] of [
      [at(server), `127.0.0.1 refuses connections on port ${server.port}.`],
      [new URL('http://no.example'), 'There is no host named no.example.'],
      [new URL('http://none.example'), 'The name none.example leads to no address.'],
      [
        new URL('http://broken.example'),
        'The name broken.example could not be looked up: its name servers do not answer.',
      ],
    ] as const)
      await expect(client.request(url, patient())).rejects.toMatchObject({
        reason: url.port === '' ? 'name_not_found' : 'unreachable',
        message,
      });
  });

  test('a name that nobody has is not found by DNS either', async () => {
    const request = outbound().request(new URL('http://nobody-has-this.invalid/'), patient());
    expect(await outcome(request)).toBe('name_not_found');
  });

  test('the next address is tried when one does not answer', async () => {
    const server = await up(serveHttp(hello, '127.0.0.2'));
    const client = outbound({
      allowedPrivateTargets: ['127.0.0.1', '127.0.0.2'].map((host) => ({
        host,
        fromPort: server.port,
        toPort: server.port,
      })),
      allowedPorts: [server.port],
      resolve: answersFrom({ 'two.example': ['127.0.0.1', '127.0.0.2'] }),
    });
    expect(await outcome(client.request(named('two.example', server), patient()))).toBe('answered 200');
  });
});

describe('TLS', () => {
  const day = 86_400_000;
  const certificateFor = (name: string, notBeforeDate = new Date(Date.now() - day)) =>
    generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      algorithm: 'sha256',
      notBeforeDate,
      notAfterDate: new Date(notBeforeDate.getTime() + 2 * day),
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
      ],
    });

  async function tls(certificate: { private: string; cert: string }, trusted: string[]) {
    const server = await up(serveHttps(certificate, hello));
    const client = outboundTo(server, {
      resolve: answersFrom({ 'site.example': ['127.0.0.1'] }),
      certificateAuthorities: trusted,
    });
    return client.request(new URL(`https://site.example:${server.port}/`), patient());
  }

  test('a certificate that is trusted, of that name and of this day is accepted', async () => {
    const certificate = await certificateFor('site.example');
    expect((await tls(certificate, [certificate.cert])).body.toString()).toBe('hello');
  });

  test.each<[string, RegExp, () => Promise<OutboundResponse>]>([
    [
      'nobody vouches for',
      /certificate of site\.example is not valid/,
      async () => tls(await certificateFor('site.example'), []),
    ],
    [
      'is of another name',
      /not valid \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
      async () => {
        const certificate = await certificateFor('other.example');
        return tls(certificate, [certificate.cert]);
      },
    ],
    [
      'has expired',
      /not valid \(CERT_HAS_EXPIRED\)/,
      async () => {
        const certificate = await certificateFor('site.example', new Date(Date.now() - 10 * day));
        return tls(certificate, [certificate.cert]);
      },
    ],
    [
      'is of the future',
      /not valid \(CERT_NOT_YET_VALID\)/,
      async () => {
        const certificate = await certificateFor('site.example', new Date(Date.now() + 10 * day));
        return tls(certificate, [certificate.cert]);
      },
    ],
  ])('a certificate that %s is not', async (_name, sentence, request) => {
    const result = request();
    expect(await outcome(result)).toBe('tls');
    await expect(result).rejects.toThrow(sentence);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['speaks plain HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('a server that %s instead of a handshake', async (_name, misbehave) => {
    const server = await up(serveTcp((socket) => socket.once('data', () => misbehave(socket))));
    const request = outboundTo(server).request(new URL(`https://127.0.0.1:${server.port}/`), patient());
    expect(await outcome(request)).toBe('tls');
    await expect(request).rejects.toThrow(/^No secure connection to 127\.0\.0\.1 could be made/);
  });
});

describe('memory', () => {
  const megabyte = 1_024 * 1_024;

  /** Writes until the reader has gone. */
  function pour(res: ServerResponse | Socket, chunk: Buffer, times: number): void {
    let left = times;
    const more = (): void => {
      while (left > 0 && !res.destroyed) {
        left -= 1;
        if (!res.write(chunk)) {
          res.once('drain', more);
          return;
        }
      }
      res.end();
    };
    more();
  }

  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;

  /** By how much the memory has grown at most after one of so many requests. What could be collected does not count: when it is, is not ours to decide. */
  async function grownBy(requests: number, request: () => Promise<unknown>): Promise<number> {
    collectGarbage();
    const before = process.memoryUsage.rss();
    let most = before;
    for (let index = 0; index < requests; index += 1) {
      await request();
      collectGarbage();
      most = Math.max(most, process.memoryUsage.rss());
    }
    return most - before;
  }

  test('10 GB of zeros in 10 MB of gzip cost what was asked for, and under 100 MB', async () => {
    const member = gzipSync(Buffer.alloc(10 * megabyte));
    const server = await up(
      serveHttp((_req, res) => {
        res.setHeader('content-encoding', 'gzip');
        pour(res, member, 1_000);
      }),
    );
    const client = outboundTo(server);
    const growth = await grownBy(20, async () => {
      const answer = await client.request(at(server), { ...patient(), maxBytes: 5 * megabyte });
      expect([answer.body.length, answer.truncated]).toEqual([5 * megabyte, true]);
    });
    await server.idle();
    expect(growth).toBeLessThan(100 * megabyte);
  });

  test('a body without end is left at the bound; the connection is closed', async () => {
    const chunk = Buffer.alloc(megabyte, 'a');
    const server = await up(serveHttp((_req, res) => pour(res, chunk, 100_000)));
    const client = outboundTo(server);
    const growth = await grownBy(20, async () => {
      const answer = await client.request(at(server), { ...patient(), maxBytes: 2 * megabyte });
      expect([answer.body.length, answer.truncated]).toEqual([2 * megabyte, true]);
    });
    await server.idle();
    expect(growth).toBeLessThan(100 * megabyte);
  });

  test('a million chunks of a byte cost a megabyte, not an object each', async () => {
    const chunks = Buffer.from('1\r\na\r\n'.repeat(10_000));
    const server = await up(
      serveTcp((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
          pour(socket, chunks, 1_000);
        });
      }),
    );
    const client = outboundTo(server);
    const growth = await grownBy(1, async () => {
      const answer = await client.request(at(server), { ...patient(), maxBytes: megabyte });
      expect([answer.body.length, answer.truncated]).toEqual([megabyte, true]);
    });
    await server.idle();
    expect(growth).toBeLessThan(100 * megabyte);
  });
});
