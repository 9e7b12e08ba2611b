// Clients that keep their connection open and send, or take, almost nothing: they take no memory from other tenants.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { secretFrom } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import { startRig, type Rig } from '../testing/rig.js';

const otherTenant = secretFrom('lsp_', randomBytes(32));
const uploads = 50;
const maximumBodyBytes = 10_000_000;
let rig: Rig;

beforeAll(async () => {
  rig = await startRig({
    gateways: 2,
    environment: {
      INTAKE_MAXIMUM_BYTES: '40000000',
      REQUESTS_IN_FLIGHT_PER_CREDENTIAL: String(uploads),
      ANSWER_IDLE_MS: '500',
    },
    // The other gateway creates a second organisation in the same system.
    environmentOf: (gateway) =>
      gateway === 1 ? { BOOTSTRAP_ORGANISATION: 'Other tenant', BOOTSTRAP_TOKEN: otherTenant } : {},
  });
}, 90_000);

const sockets: Socket[] = [];
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  return rig.stop();
}, 60_000);

interface Upload {
  socket: Socket;
  answer: () => string;
}

/** Sends the head of a POST /ingest and the first bytes of its body. */
async function begin(framing: string, body: string | Buffer): Promise<Upload> {
  const { hostname, port } = new URL(rig.urls[0] ?? '');
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `POST /ingest HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${rig.token}\r\n` +
      `Content-Type: application/json\r\n${framing}\r\n\r\n`,
  );
  socket.write(body);
  return { socket, answer: () => answer };
}

const event = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };
const sendAs = (token: string) => rig.call('POST', '/ingest', { token, body: event });

/** Ever smaller lengths, so that memory reserved by announced length would be full to the last byte. */
function framingOf(n: number): string {
  if (n < 25) return 'Transfer-Encoding: chunked';
  return `Content-Length: ${String(Math.max(1, Math.floor(maximumBodyBytes / 2 ** (n - 25))))}`;
}

test('with 50 dripping uploads of one token, another tenant never gets 503', async () => {
  const drip = (n: number) => begin(framingOf(n), n < 25 ? '1\r\n[\r\n' : '');
  const dripping = await Promise.all(Array.from({ length: uploads }, (_, n) => drip(n)));
  // All are in flight together: the token may have no further request. An upload that was ended as too slow starts again.
  await eventually('the uploads are under way', async () => {
    for (const [n, { answer }] of dripping.entries()) if (answer() !== '') dripping[n] = await drip(n);
    const { status, body } = await sendAs(rig.token);
    return status === 429 && (body as { code?: string }).code === 'too_many_in_flight';
  });
  const statuses: number[] = [];
  for (let n = 0; n < 20; n += 1) statuses.push((await sendAs(otherTenant)).status);
  expect(statuses).toEqual(Array(20).fill(202));
  for (const { socket } of dripping) socket.destroy();
  await eventually('the token may send again', async () => (await sendAs(rig.token)).status === 202);
}, 60_000);

test('one token that fills its share with bytes gets 503, and leaves memory for another tenant', async () => {
  const size = 4_000_000;
  const fill = () => begin(`Content-Length: ${String(size + 1)}`, Buffer.alloc(size, ' '));
  const filling: Upload[] = [];
  for (let n = 0; n < 12; n += 1) filling.push(await fill());
  await eventually('the token is told that its share is full', async () => {
    const answers = filling.map(({ answer }) => answer().split('\r\n')[0] ?? '');
    if (answers.some((answer) => answer.startsWith('HTTP/1.1 503'))) return true;
    // An upload that was ended as too slow, or that came while those of the test before were still ending, starts again.
    for (const [n, answer] of answers.entries()) if (answer !== '') filling[n] = await fill();
    throw new Error(`the answers so far: ${answers.join(', ')}`);
  });
  const statuses: number[] = [];
  for (let n = 0; n < 20; n += 1) statuses.push((await sendAs(otherTenant)).status);
  expect(statuses).toEqual(Array(20).fill(202));
  for (const { socket } of filling) socket.destroy();
  await eventually('the token may send again', async () => (await sendAs(rig.token)).status === 202);
}, 60_000);

describe('an answer of any size', () => {
  const part = Buffer.alloc(65_536, 'x');

  test('is passed on as it comes, as gzip where the caller accepts it, and its end is its end', async () => {
    rig.ownerAnswers(({ headers }, res) => {
      const zipped = headers['accept-encoding'] === 'gzip';
      res.writeHead(200, {
        'content-type': 'text/csv',
        vary: 'Accept-Encoding',
        ...(zipped && { 'content-encoding': 'gzip' }),
      });
      res.write(zipped ? gzipSync('first') : 'first');
      setTimeout(() => res.end(), 50);
    });
    for (const encoding of ['identity', 'gzip']) {
      const answer = await rig.call('GET', '/events/export', { headers: { 'accept-encoding': encoding } });
      expect([answer.status, answer.body, answer.headers.get('content-encoding')]).toEqual([
        200,
        'first',
        encoding === 'gzip' ? 'gzip' : null,
      ]);
    }
  });

  test('that breaks off breaks the caller’s connection; one that breaks off before its first part is a problem', async () => {
    rig.ownerAnswers((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/csv', 'content-encoding': 'identity' }).write(part);
      setTimeout(() => res.destroy(), 50);
    });
    await expect(rig.call('GET', '/events/export')).rejects.toThrow();
    rig.ownerAnswers((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/csv', 'content-encoding': 'gzip' }).flushHeaders();
      setTimeout(() => res.destroy(), 50);
    });
    expect(await rig.call('GET', '/events/export')).toMatchObject({
      status: 500,
      body: { code: 'internal_error' },
    });
  });

  test('of which the caller takes nothing is ended after the idle limit, for the caller and for the owner', async () => {
    let sent = 0;
    const ended = new Promise<void>((resolve) => {
      rig.ownerAnswers((_req, res) => {
        res.writeHead(200, { 'content-type': 'text/csv' }).on('close', resolve);
        const send = () => {
          while (!res.destroyed) {
            sent += part.length;
            if (!res.write(part)) break;
          }
        };
        res.on('drain', send);
        send();
      });
    });
    const { hostname, port } = new URL(rig.urls[0] ?? '');
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.pause().on('error', () => undefined);
    socket.write(`GET /events/export HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${rig.token}\r\n\r\n`);
    await ended;
    // What the buffers of four sockets hold: some megabytes of an answer without an end.
    expect(sent).toBeLessThan(64_000_000);
  });
});
