// POST /import through a gateway on real servers, and a stand-in for ingest: what the log and the job are told of an upload.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { leadIdOf, type records } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import { startRig, type CommandAnswer, type Reply, type Rig } from './testing/rig.js';

let rig: Rig;
let ouId: string;

beforeAll(async () => {
  rig = await startRig();
  ouId = (await rig.call<{ data: { id: string }[] }>('GET', '/org-units')).body.data[0]?.id ?? '';
}, 90_000);
afterAll(() => rig.stop(), 60_000);
beforeEach(() => {
  rig.ingestReplies(running);
});

const running: CommandAnswer = ({ type }) =>
  type === 'IngestEvents' ? null : { outcome: 'done', result: { status: 'running' } };

interface Sent {
  body: string | Uint8Array;
  type?: string;
  query?: string;
  headers?: Record<string, string>;
}

const send = ({ body, type = 'application/x-ndjson', query = '?partial=true', headers }: Sent) =>
  rig.call('POST', `/import${query}`, {
    body,
    headers: { 'content-type': type, ...headers },
  });

const eventOf = (n: number, more: object = {}) => ({
  alias_kind: 'email',
  alias: `person.${String(n)}@example.com`,
  event_type: 'Page View',
  timestamp: '2019-05-01T00:00:00Z',
  ...more,
});
const linesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify(eventOf(n))}\n`).join('');

/** What the job of an upload was told, in the order of the log. */
const toldTo = (reply: Reply<Record<string, unknown>>) =>
  rig.commands.filter(
    ({ type, payload }) =>
      type !== 'IngestEvents' && (payload as { job_id: string }).job_id === reply.body.batch_id,
  );
const lastPart = () => {
  const parts = rig.commands.filter(({ type }) => type === 'TakeImportPart');
  return parts.at(-1)?.payload as records.TakeImportPart;
};
const ingestedOf = async (reply: Reply<Record<string, unknown>>) =>
  (await rig.ingested()).filter(({ payload }) => payload.batch_id === reply.body.batch_id);

describe('an upload of any size', () => {
  test('goes to the log in parts, of each of which the job is told; 202 comes when the log has all', async () => {
    const bad = '{"alias_kind":"email"}\nnot JSON\n\n';
    const reply = await send({ body: linesOf(2_500) + bad + linesOf(3_500) });
    expect(reply).toMatchObject({ status: 202, body: { accepted: 6_000, failed: 2 } });
    expect(reply.body.rejected).toMatchObject([{ index: 2_500 }, { index: 2_501 }]);
    expect(reply.body.job_id).toBe(`ingest-${String(reply.body.batch_id)}`);
    const [start, ...parts] = toldTo(reply);
    expect(start).toMatchObject({ type: 'StartImport', payload: { ou_id: ouId, fire_triggers: false } });
    const told = parts.map(({ payload }) => payload as records.TakeImportPart);
    expect(told.map(({ part }) => part)).toEqual(told.map((_, index) => index));
    expect(told.reduce((sum, { done }) => sum + done, 0)).toBe(6_002);
    expect(told.flatMap(({ errors }) => errors.map(({ row, code }) => [row, code]))).toEqual([
      [2_501, 'invalid_event'],
      [2_502, 'invalid_event'],
    ]);
    expect(told.map(({ ends }) => ends?.as).filter(Boolean)).toEqual(['completed']);
    const events = (await ingestedOf(reply)).flatMap(({ payload }) => payload.events);
    expect(events).toHaveLength(6_000);
  });

  test('with an Idempotency-Key has the same ids of events again, however it is cut', async () => {
    const headers = { 'idempotency-key': `key-${String(Date.now())}` };
    const idsOf = async (reply: Reply<Record<string, unknown>>) =>
      (await ingestedOf(reply)).flatMap(({ payload }) => payload.events.map(({ id }) => id)).sort();
    const first = await send({ body: linesOf(1_500), headers });
    const once = await idsOf(first);
    const again = await send({ body: linesOf(1_500), headers });
    expect(again.body.batch_id).toBe(first.body.batch_id);
    expect(await idsOf(again)).toEqual(once.flatMap((id) => [id, id]));
  });

  test('whose job has completed is not taken again; another one under its key is refused', async () => {
    const headers = { 'idempotency-key': `completed-${String(Date.now())}` };
    const first = await send({ body: linesOf(10), headers });
    const { ends } = lastPart();
    rig.ingestReplies((command) =>
      command.type === 'StartImport'
        ? {
            outcome: 'done',
            result: { status: 'completed', digest: ends?.as === 'completed' ? ends.digest : '' },
          }
        : running(command),
    );
    const before = rig.commands.length;
    const again = await send({ body: linesOf(10), headers });
    expect(again).toMatchObject({ status: 202, body: { accepted: 10, job_id: first.body.job_id } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const other = await send({ body: linesOf(11), headers });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    expect(rig.commands.slice(before).map(({ type }) => type)).toEqual(['StartImport', 'StartImport']);
  });

  test('ends with 409 when its job is cancelled', async () => {
    rig.ingestReplies((command) =>
      command.type === 'TakeImportPart'
        ? { outcome: 'done', result: { status: 'cancelled' } }
        : running(command),
    );
    expect(await send({ body: linesOf(20_000) })).toMatchObject({ status: 409, body: { code: 'job_ended' } });
  });

  test('goes on while ingest does not reply', async () => {
    rig.ingestReplies(() => null);
    const reply = await send({ body: linesOf(3_000) });
    expect(reply).toMatchObject({ status: 202, body: { accepted: 3_000 } });
    expect(toldTo(reply).length).toBeGreaterThan(3);
  }, 30_000);
});

describe('a hostile upload', () => {
  const csv = 'alias_kind,alias,event_type\nemail,ada@example.com,Page View\n';
  test.each<[string, Sent, number, string]>([
    ['a line without an end', { body: linesOf(3) + 'x'.repeat(3_000_000) }, 400, 'invalid_request'],
    [
      'a quote that never closes',
      { body: `${csv}"${'x'.repeat(3_000_000)}`, type: 'text/csv' },
      400,
      'invalid_request',
    ],
    ['a quote that never closes, in short', { body: `${csv}"x`, type: 'text/csv' }, 400, 'invalid_request'],
    ['an unknown column', { body: 'alias_kind,what\na,b\n', type: 'text/csv' }, 400, 'invalid_request'],
    ['bytes that are no UTF-8', { body: Buffer.from([0x7b, 0xff, 0x0a]) }, 400, 'malformed_utf8'],
    ['nothing', { body: '\n\n' }, 400, 'invalid_request'],
    [
      'a gzip bomb',
      { body: gzipSync('\n'.repeat(60_000_000)), headers: { 'content-encoding': 'gzip' } },
      413,
      'body_too_large',
    ],
    ['broken gzip', { body: 'no gzip', headers: { 'content-encoding': 'gzip' } }, 400, 'malformed_gzip'],
    ['more than may be taken whole', { body: linesOf(5_001), query: '' }, 400, 'invalid_request'],
    [
      'more bytes than may be taken whole',
      { body: ' '.repeat(10_000_001), query: '' },
      413,
      'body_too_large',
    ],
  ])('%s is refused', async (_, sent, status, code) => {
    const reply = await send(sent);
    expect(reply).toMatchObject({ status, body: { code } });
    if (sent.query === '') expect(reply.body.detail).toContain('partial=true');
  });

  test('ends its job as failed, with the reason', async () => {
    await send({ body: linesOf(1_500) + 'x'.repeat(3_000_000) });
    const failed = await eventually('the job is told', () => {
      const { ends } = lastPart();
      return ends?.as === 'failed' && ends.error.message.includes('Row 1501') && ends.error;
    });
    expect(failed.code).toBe('invalid_request');
  });

  test('has NUL in texts: rows that cannot be events are named, the others are taken', async () => {
    const reply = await send({
      type: 'text/csv',
      body: 'alias_kind,alias,event_type,metadata.note\nemail,a\0@example.com,Page View,\nemail,ada@example.com,Page View,a\0b\n',
    });
    expect(reply).toMatchObject({ status: 202, body: { accepted: 1, rejected: [{ index: 0 }] } });
    expect(lastPart().errors).toEqual([]);
  });
});

test('a table that an export has written is read back: its own columns are passed over, and events keep their ids', async () => {
  const reply = await send({
    type: 'text/csv',
    body:
      '\uFEFFtimestamp,event_type,lead_id,alias_kind,alias,metadata,source,received_at,id,event_id,batch_id,cursor\r\n' +
      `2020-01-01T00:00:00.000Z,Page View,x,phone,'+491511234567,"{""a"":[1,""'=x""]}",ingest,x,id-1,,x,c1\r\n` +
      `2020-01-01T00:00:01.000Z,'=Sum,x,email,ada@example.com,,ingest,x,id-2,order-1,x,c2\r\n`,
  });
  expect(reply).toMatchObject({ status: 202, body: { accepted: 2 } });
  const events = (await ingestedOf(reply)).flatMap(({ payload }) => payload.events);
  expect(events.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1))).toMatchObject([
    {
      event_id: 'id-1',
      lead_id: leadIdOf(ouId, 'phone', '+491511234567'),
      metadata: { a: [1, "'=x"] },
      timestamp: '2020-01-01T00:00:00.000Z',
    },
    { event_id: 'order-1', event_type: '=Sum' },
  ]);
});
