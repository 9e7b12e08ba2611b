// The producer against a real HTTP server in this process that fails in various ways.
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EventToSend } from '../ingest.js';
import type { DroppedEvents } from './options.js';
import { createProducer, ProducerClosed } from './producer.js';

interface Taken {
  key: string | undefined;
  events: (EventToSend & { event_id: string; timestamp: string })[];
  encoding: string | undefined;
  bytes: number;
  at: number;
}
type Answered = { status: number; body?: object; headers?: Record<string, string> } | 'none';

let server: Server | undefined;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lead-scoring-producer-'));
});
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A server that answers each request as the test says; `none` breaks the connection after the events were taken. */
async function serve(answer: (nth: number, taken: Taken) => Answered | Promise<Answered>) {
  const requests: Taken[] = [];
  server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const encoding = req.headers['content-encoding'];
      const raw = Buffer.concat(chunks);
      const text = (encoding === 'gzip' ? gunzipSync(raw) : raw).toString();
      const taken: Taken = {
        key: req.headers['idempotency-key'] as string | undefined,
        events: JSON.parse(text) as Taken['events'],
        encoding,
        bytes: text.length,
        at: Date.now(),
      };
      requests.push(taken);
      void Promise.resolve(answer(requests.length, taken)).then((answered) => {
        if (answered === 'none') return req.socket.destroy();
        const body = { accepted: taken.events.length, batch_id: '7f4d3a52-7a0e-4c0b-9d8f-0b6f8a527a0e' };
        return res
          .writeHead(answered.status, { 'content-type': 'application/json', ...answered.headers })
          .end(JSON.stringify(answered.body ?? body));
      });
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return { requests, baseUrl: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

const retries = { attempts: 2, firstDelayMs: 1, maximumDelayMs: 5 };
const accepted = { status: 202 };
const problem = (status: number, code: string) => ({
  status,
  body: { type: 'about:blank', title: 'No', status, detail: 'It is refused.', code, request_id: 'r1' },
});
const visit = (index: number, text = ''): EventToSend => ({
  alias_kind: 'email',
  alias: `someone-${String(index)}@example.com`,
  event_type: 'Page View',
  metadata: { index, text },
});
const indexOf = ({ metadata }: EventToSend) => (metadata as { index: number }).index;
const indexesOf = ({ events }: Taken) => events.map(indexOf);

describe('batches', () => {
  test('are sent when they are full by number or by bytes, and in order', async () => {
    const { requests, baseUrl } = await serve(() => accepted);
    const producer = await createProducer({ baseUrl, batchEvents: 10, batchBytes: 3_000, lingerMs: 60_000 });
    for (let index = 0; index < 25; index += 1) await producer.send(visit(index));
    for (let index = 25; index < 30; index += 1) await producer.send(visit(index, 'x'.repeat(1_000)));
    expect(await producer.close()).toBe(true);
    expect(requests.flatMap(indexesOf)).toEqual(Array.from({ length: 30 }, (_, index) => index));
    expect(Math.max(...requests.map(({ events }) => events.length))).toBe(10);
    expect(Math.max(...requests.map(({ bytes }) => bytes))).toBeLessThan(3_100);
    expect(requests.every(({ encoding, bytes }) => (encoding === 'gzip') === bytes > 1_000)).toBe(true);
  });

  test('that are not full are sent after the linger time, and at once by flush', async () => {
    const { requests, baseUrl } = await serve(() => accepted);
    const producer = await createProducer({ baseUrl, lingerMs: 300 });
    const began = Date.now();
    await producer.send(visit(0));
    await producer.send(visit(1));
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(requests[0]?.at).toBeGreaterThanOrEqual(began + 295);
    expect(indexesOf(requests[0] as Taken)).toEqual([0, 1]);
    await producer.send(visit(2));
    await producer.flush();
    expect(requests.map(indexesOf)).toEqual([[0, 1], [2]]);
    expect(producer.queuedBytes).toBe(0);
    await producer.close();
  });

  test('give each event an id and a time before it is first sent, and keep those of the caller', async () => {
    const { requests, baseUrl } = await serve((nth) => (nth < 3 ? 'none' : accepted));
    const producer = await createProducer({ baseUrl, retries });
    const own = { ...visit(1), event_id: 'order-1', timestamp: '2026-01-31T09:30:00.000Z' };
    await Promise.all([producer.send(visit(0)), producer.send(own)]);
    await producer.close();
    expect(requests).toHaveLength(3);
    const [first] = requests;
    expect(first?.events[0]).toMatchObject({
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      timestamp: expect.stringMatching(/Z$/),
    });
    expect(first?.events[1]).toEqual(own);
    for (const { events, key } of requests) {
      expect(events).toEqual(first?.events);
      expect(key).toBe(first?.key);
    }
  });
});

describe('a service that does not take events', () => {
  test('is waited for as long as its Retry-After asks, and sent the same batch', async () => {
    const { requests, baseUrl } = await serve((nth) =>
      nth === 1 ? { ...problem(429, 'rate_limited'), headers: { 'retry-after': '1' } } : accepted,
    );
    const waits: number[] = [];
    const producer = await createProducer({ baseUrl, retries, onRetry: (_, waitMs) => waits.push(waitMs) });
    await producer.send(visit(0));
    expect(await producer.close()).toBe(true);
    expect(waits).toEqual([1_000]);
    expect((requests[1]?.at ?? 0) - (requests[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('because the credential has ended is tried until it has another, and loses nothing', async () => {
    const { requests, baseUrl } = await serve((nth) =>
      nth < 6 ? problem(401, 'unauthenticated') : accepted,
    );
    const producer = await createProducer({ baseUrl, retries });
    await producer.send(visit(0));
    expect(await producer.close()).toBe(true);
    expect(requests).toHaveLength(6);
  });

  test('since an event is invalid has the event reported, and takes the others', async () => {
    const errors = [{ path: 'alias', message: 'must be an address' }];
    const { baseUrl } = await serve(() => ({
      status: 202,
      body: { accepted: 1, batch_id: 'b', rejected: [{ index: 1, errors }] },
    }));
    const dropped: DroppedEvents[] = [];
    const producer = await createProducer({ baseUrl, onDropped: (one) => dropped.push(one) });
    await Promise.all([producer.send(visit(0)), producer.send(visit(1))]);
    expect(await producer.close()).toBe(true);
    expect(dropped).toEqual([{ reason: 'invalid', events: [expect.objectContaining(visit(1))], errors }]);
  });

  test('since it refuses the request has the batch reported, and gets the next one', async () => {
    const { requests, baseUrl } = await serve((nth) =>
      nth === 1 ? problem(400, 'invalid_request') : accepted,
    );
    const dropped: DroppedEvents[] = [];
    const producer = await createProducer({ baseUrl, batchEvents: 1, onDropped: (one) => dropped.push(one) });
    for (const index of [0, 1]) await producer.send(visit(index));
    expect(await producer.close()).toBe(true);
    expect(requests.map(indexesOf)).toEqual([[0], [1]]);
    expect(dropped).toMatchObject([{ reason: 'refused', events: [visit(0)], cause: { status: 400 } }]);
  });
});

describe('a full queue', () => {
  test('lets events in as earlier ones are answered: it never holds more than it may, and loses none', async () => {
    const { requests, baseUrl } = await serve(() => accepted);
    const producer = await createProducer({ baseUrl, maximumBytes: 2_000, batchEvents: 5, lingerMs: 5 });
    let most = 0;
    const sending = Array.from({ length: 300 }, (_, index) =>
      producer.send(visit(index)).then(() => (most = Math.max(most, producer.queuedBytes))),
    );
    await Promise.all(sending);
    await producer.close();
    expect(most).toBeLessThanOrEqual(2_000);
    expect(requests.flatMap(indexesOf)).toEqual(Array.from({ length: 300 }, (_, index) => index));
  });

  test('turns callers away that do not wait for it, before they fill the memory', async () => {
    const { baseUrl } = await serve(() => new Promise<Answered>(() => {}));
    const producer = await createProducer({ baseUrl, maximumBytes: 1_000 });
    const outcomes = Array.from({ length: 10_100 }, (_, index) =>
      producer.send(visit(index)).catch((error: unknown) => (error as Error).message),
    );
    expect(await outcomes.at(-1)).toContain('wait for each');
    await producer.close({ timeoutMs: 1 });
    expect(await outcomes.at(-200)).toContain('closed');
  });

  test('drops events and says which, where that was chosen', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const { requests, baseUrl } = await serve(() => opened.then(() => accepted));
    const dropped: DroppedEvents[] = [];
    const producer = await createProducer({
      baseUrl,
      maximumBytes: 1_000,
      whenFull: 'drop',
      onDropped: (one) => dropped.push(one),
    });
    for (let index = 0; index < 50; index += 1) await producer.send(visit(index));
    open();
    expect(await producer.close()).toBe(true);
    const sent = requests.flatMap(indexesOf);
    const lost = dropped.map(({ reason, events }) => ({
      reason,
      index: ((events[0] as EventToSend).metadata as { index: number }).index,
    }));
    expect(sent.length).toBeGreaterThan(1);
    expect(lost.every(({ reason }) => reason === 'full')).toBe(true);
    expect([...sent, ...lost.map(({ index }) => index)]).toEqual(
      Array.from({ length: 50 }, (_, index) => index),
    );
  });
});

describe('closing', () => {
  test('ends in time; what was not answered is reported, and further events are refused', async () => {
    const { baseUrl } = await serve(() => new Promise<Answered>(() => {}));
    const dropped: DroppedEvents[] = [];
    const producer = await createProducer({ baseUrl, onDropped: (one) => dropped.push(one) });
    await producer.send(visit(0));
    expect(await producer.close({ timeoutMs: 100 })).toBe(false);
    expect(dropped).toMatchObject([{ reason: 'closed', events: [visit(0)] }]);
    await expect(producer.send(visit(1))).rejects.toThrow(ProducerClosed);
    await producer.flush();
  });

  test('keeps on disk what was not answered, for the next producer, and for no second one at a time', async () => {
    let isAway = true;
    const { requests, baseUrl } = await serve(() => (isAway ? problem(503, 'unavailable') : accepted));
    const first = await createProducer({ baseUrl, retries, disk: { folder } });
    await expect(createProducer({ baseUrl, disk: { folder } })).rejects.toThrow('another producer');
    for (let index = 0; index < 50; index += 1) await first.send(visit(index));
    expect(await first.close({ timeoutMs: 100 })).toBe(false);
    isAway = false;
    const before = requests.length;
    const second = await createProducer({ baseUrl, disk: { folder, sync: true } });
    await second.send(visit(50));
    expect(await second.close()).toBe(true);
    const sent = requests.slice(before);
    expect(sent.flatMap(indexesOf)).toEqual(Array.from({ length: 51 }, (_, index) => index));
    const idOf = new Map(
      sent.flatMap(({ events }) => events).map((event) => [indexOf(event), event.event_id]),
    );
    for (const event of requests[0]?.events ?? []) expect(idOf.get(indexOf(event))).toBe(event.event_id);
    expect((await readdir(folder)).sort()).not.toContain('lock');
  });
});

test.each([
  [{ batchEvents: 5_001 }, 'batchEvents must be a whole number from 1 to 5000'],
  [{ batchBytes: 0 }, 'batchBytes must be'],
  [{ lingerMs: 0.5 }, 'lingerMs must be'],
  [{ whenFull: 'block' as 'wait' }, 'whenFull must be "wait" or "drop"'],
])('an option that is not allowed is named: %j', async (option, message) => {
  await expect(createProducer({ baseUrl: 'http://localhost', ...option })).rejects.toThrow(message);
});

test('a producing process that is killed again and again loses no event that it took, and each comes under one id', async () => {
  // Every third request is taken, and its answer lost.
  const { requests, baseUrl } = await serve((nth) => (nth % 3 === 0 ? 'none' : accepted));
  const client = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href;
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const taken = new Set<number>();
  let next = 0;
  for (const killedAfter of [40, 250, 600, 0]) {
    const program = `
      import { createProducer } from ${JSON.stringify(client)};
      const producer = await createProducer({
        baseUrl: ${JSON.stringify(baseUrl)}, batchEvents: 500, lingerMs: 5,
        retries: { attempts: 2, firstDelayMs: 5, maximumDelayMs: 20 }, disk: { folder: ${JSON.stringify(folder)} },
      });
      const send = async (index) => {
        await producer.send({ alias_kind: 'email', alias: \`\${index}@example.com\`, event_type: 'Page View', metadata: { index } });
        process.stdout.write(\`\${index}\\n\`);
      };
      for (let index = ${next}; index < ${next + (killedAfter === 0 ? 10 : 100_000)}; index += 1) await send(index);
      if (!(await producer.close({ timeoutMs: 100_000 }))) process.exitCode = 1;
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    let seen = 0;
    child.stdout.on('data', (part: Buffer) => {
      const lines = (text + part.toString()).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) taken.add(Number(line));
      seen += lines.length;
      if (killedAfter > 0 && seen >= killedAfter) child.kill('SIGKILL');
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(killedAfter === 0 ? 0 : null);
    // The killed process may have taken events that it did not report: the next process numbers its own above the whole range of this one.
    next += 100_000;
  }
  const sent = requests.flatMap(({ events }) => events);
  const ids = new Map<number, Set<string>>();
  for (const { event_id, metadata } of sent) {
    const { index } = metadata as { index: number };
    ids.set(index, (ids.get(index) ?? new Set()).add(event_id));
  }
  expect([...taken].filter((index) => !ids.has(index))).toEqual([]);
  expect([...ids].filter(([, { size }]) => size > 1)).toEqual([]);
  expect(sent.length).toBeGreaterThan(ids.size);
}, 180_000);
