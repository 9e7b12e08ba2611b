// Answers of any size over real sockets: they end well-formed, or their connection breaks; a reader that stops holds nothing for ever.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { createHttpServer } from './http-server.js';
import { begun, gzipped, sendParts } from './send-parts.js';

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

interface Served {
  url: string;
  port: number;
  /** The outcome of the first answer. */
  outcome: Promise<string>;
}

/** Serves the parts; `zip` with gzip. */
async function serve(
  parts: () => AsyncIterable<string | Uint8Array>,
  { idleMs = 60_000, zip = false } = {},
): Promise<Served> {
  let settle: (outcome: string) => void = () => undefined;
  const outcome = new Promise<string>((resolve) => (settle = resolve));
  const { value, stop } = await createHttpServer({
    name: 'test',
    handler: (_req, res) => {
      if (zip) res.setHeader('Content-Encoding', 'gzip');
      sendParts(res, zip ? gzipped(parts()) : parts(), { idleMs }).then(
        () => {
          settle('resolved');
        },
        (error: unknown) => {
          settle(String(error));
          if (!res.headersSent) res.writeHead(503).end();
        },
      );
    },
    host: '127.0.0.1',
    port: 0,
  }).start();
  running.push(stop);
  return { url: `http://127.0.0.1:${String(value.port)}`, port: value.port, outcome };
}

const part = 'x'.repeat(65_536);
/** Parts without an end; counts those that were asked for, and tells whether they were ended. */
function endless(): {
  seen: { parts: number; ended: boolean };
  parts: () => AsyncGenerator<string>;
} {
  const seen = { parts: 0, ended: false };
  async function* endlessly() {
    try {
      for (;;) {
        seen.parts += 1;
        yield part;
        await delay(0);
      }
    } finally {
      seen.ended = true;
    }
  }
  return {
    seen,
    parts: endlessly,
  };
}

test.each([false, true])('all parts arrive, in their order, and the answer ends (gzip: %s)', async (zip) => {
  const parts = ['a', part, 'b', part, 'c'];
  const { url, outcome } = await serve(() => begunLater(parts), { zip });
  expect(await (await fetch(url)).text()).toBe(parts.join(''));
  expect(await outcome).toBe('resolved');
});

async function* begunLater(parts: string[]) {
  for (const one of parts) {
    await delay(0);
    yield one;
  }
}

test.each([false, true])(
  'an error of a later part breaks the connection, so that no reader takes the answer for a whole one (gzip: %s)',
  async (zip) => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const { url, outcome } = await serve(
      async function* () {
        yield part;
        await answered;
        throw new Error('the database is away');
      },
      { zip },
    );
    const response = await fetch(url);
    expect(response.status).toBe(200);
    answer();
    await expect(response.text()).rejects.toThrow();
    expect(await outcome).toBe('Error: the database is away');
  },
);

test('an HTTP/1.0 reader, to whom the end of the connection is the end of the answer, sees a reset', async () => {
  const { port } = await serve(async function* () {
    yield part;
    await delay(20);
    throw new Error('the database is away');
  });
  const socket = connect(port, '127.0.0.1');
  const end = new Promise((resolve) => {
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code);
    });
    socket.on('end', resolve);
  });
  socket.resume().write('GET / HTTP/1.0\r\n\r\n');
  expect(await end).toBe('ECONNRESET');
});

test('an error of the first part leaves the answer to be given as a problem', async () => {
  const { url, outcome } = await serve(async function* () {
    yield* await begun(
      (async function* () {
        if (await delay(0, true)) throw new Error('the database is away');
        yield part;
      })(),
    );
  });
  expect((await fetch(url)).status).toBe(503);
  expect(await outcome).toBe('Error: the database is away');
});

test('a reader that takes nothing is cut off after the idle limit, and meanwhile few parts are made', async () => {
  const { seen, parts } = endless();
  const { port, outcome } = await serve(parts, { idleMs: 300 });
  const socket = connect(port, '127.0.0.1');
  socket.pause().on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
  expect(await outcome).toBe('resolved');
  expect(seen.ended).toBe(true);
  // What the buffers of both sockets hold: some megabytes of an answer without an end.
  expect(seen.parts * part.length).toBeLessThan(64_000_000);
  socket.destroy();
});

test('a slow reader that goes on taking is not cut off, however long it takes', async () => {
  const parts = Array.from({ length: 400 }, () => part);
  const { port, outcome } = await serve(() => begunLater(parts), { idleMs: 1_000 });
  const socket = connect(port, '127.0.0.1');
  let received = 0;
  socket.write('GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n');
  for await (const chunk of socket) {
    received += (chunk as Buffer).length;
    if (received % 7 === 0) await delay(1);
  }
  expect(received).toBeGreaterThan(parts.length * part.length);
  expect(await outcome).toBe('resolved');
});

test('when the reader goes, no further parts are made', async () => {
  const { seen, parts } = endless();
  const { url, outcome } = await serve(parts);
  const gone = new AbortController();
  const response = await fetch(url, { signal: gone.signal });
  expect(response.status).toBe(200);
  gone.abort();
  expect(await outcome).toBe('resolved');
  expect(seen.ended).toBe(true);
});
