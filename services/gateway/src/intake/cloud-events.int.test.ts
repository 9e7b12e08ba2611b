// CloudEvents at POST /ingest, as the Python SDK of the specification's authors writes them, in each of its modes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pythonWithPackages, type Python } from '@lead-scoring/testing/python';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
let python: Python;

beforeAll(async () => {
  [rig, python] = await Promise.all([startRig(), pythonWithPackages()]);
}, 180_000);
afterAll(() => rig.stop(), 60_000);

interface Message {
  headers: Record<string, string>;
  body: string;
}
type Attributes = Record<string, unknown> & { data?: unknown };

/** A message of each mode, written by the SDK. */
async function messages({
  data,
  ...attributes
}: Attributes): Promise<Record<'structured' | 'binary', Message>> {
  const script = `
import json, sys
from datetime import datetime
from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent
attributes, data = json.load(sys.stdin)
if "time" in attributes:
    attributes["time"] = datetime.fromisoformat(attributes["time"])
event = CloudEvent(attributes, data)
shown = lambda message: {"headers": message.headers, "body": message.body.decode()}
print(json.dumps({"structured": shown(to_structured_event(event)), "binary": shown(to_binary_event(event))}))
`;
  const { code, output } = await python.run(['-c', script], {
    input: JSON.stringify([attributes, data ?? null]),
  });
  if (code !== 0) throw new Error(output);
  return JSON.parse(output) as Record<'structured' | 'binary', Message>;
}

const send = ({ headers, body }: Message, more: Record<string, string> = {}) =>
  rig.call('POST', '/ingest', { headers: { ...headers, ...more }, body });

async function written(message: Message) {
  const { status, body } = await send(message);
  expect({ status, body }).toMatchObject({ status: 202 });
  return (await rig.ingested())
    .filter(({ payload }) => payload.batch_id === body['batch_id'])
    .flatMap(({ payload }) => payload.events);
}

const attributes = {
  specversion: '1.0',
  id: 'A234-1234-1234',
  source: 'https://shop.example/checkout',
  type: 'Order Placed',
  subject: 'email:Jürgen@Example.com',
  time: '2026-04-05T17:31:00+00:00',
  datacontenttype: 'application/json',
  partitionkey: 'anextension',
};
const data = { amount: 17.5, größe: 'Größe M' };
const expected = {
  aliases: [{ alias_kind: 'email', alias: 'jürgen@example.com' }],
  event_type: 'Order Placed',
  event_id: 'A234-1234-1234',
  timestamp: '2026-04-05T17:31:00.000Z',
  metadata: data,
  may_repeat: true,
};

describe.each(['structured', 'binary'] as const)('%s mode', (mode) => {
  test('the attributes become the fields of an event', async () => {
    expect(await written((await messages({ ...attributes, data }))[mode])).toMatchObject([expected]);
  });

  test('without data and time: no metadata, and the time of the request', async () => {
    const { specversion, id, source, type } = attributes;
    const before = new Date().toISOString();
    const found = await messages({ specversion, id, source, type, subject: 'external_id:a:b' });
    const [event] = await written(found[mode]);
    expect(event).toMatchObject({ aliases: [{ alias_kind: 'external_id', alias: 'a:b' }] });
    expect(event?.metadata).toBeUndefined();
    expect((event?.timestamp ?? '') >= before.slice(0, 19)).toBe(true);
  });

  test.each<[string, Attributes, string]>([
    ['a subject without a kind', { subject: 'ada', data }, 'subject'],
    ['a subject that is no address', { subject: 'email:ada', data }, 'subject'],
    ['data that is a list', { data: [1, 2] }, 'data'],
    ['a type that is too long', { type: 'x'.repeat(101), data }, 'type'],
    ['a time in two days', { time: new Date(Date.now() + 172_800_000).toISOString(), data }, 'time'],
  ])('%s is 400, and the error names the attribute', async (_what, wrong, attribute) => {
    const { status, body } = await send((await messages({ ...attributes, ...wrong }))[mode]);
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(body['errors']).toMatchObject([{ path: `body.events[0].${attribute}` }]);
  });

  test('the same Idempotency-Key gets the first answer again; other attributes make another request', async () => {
    const key = { 'idempotency-key': `cloud-${mode}` };
    const message = (await messages({ ...attributes, data }))[mode];
    const first = await send(message, key);
    expect(await send(message, key)).toMatchObject({ status: 202, body: first.body });
    const other = (await messages({ ...attributes, subject: 'email:bob@example.com', data }))[mode];
    expect(await send(other, key)).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  });
});

test('binary mode without a media type is JSON; another one is refused', async () => {
  const { binary } = await messages({ ...attributes, data });
  const { 'content-type': _, ...headers } = binary.headers;
  // Bytes, to which fetch adds no media type.
  const bytes = { headers, body: Buffer.from(binary.body) as unknown as string };
  expect(await written(bytes)).toMatchObject([expected]);
  expect((await send(binary, { 'content-type': 'text/csv' })).status).toBe(415);
});

describe('a batch', () => {
  const batch = (events: unknown, { type = 'cloudevents-batch', query = '' } = {}) =>
    rig.call('POST', `/ingest${query}`, {
      headers: { 'content-type': `application/${type}+json` },
      body: JSON.stringify(events),
    });
  const event = { ...attributes, data };

  test('is taken whole, or with partial=true as far as it is valid', async () => {
    const events = [event, { ...event, id: 'two', subject: 'phone:+49 151 12345678' }];
    const { status, body } = await batch(events);
    expect({ status, body }).toMatchObject({ status: 202, body: { accepted: 2 } });
    const broken = [
      ...events,
      { ...event, subject: undefined },
      17,
      { ...event, id: '' },
      { ...event, specversion: '0.3' },
      { ...event, data: undefined, data_base64: 'AQID' },
    ];
    expect((await batch(broken)).status).toBe(400);
    const partly = await batch(broken, { query: '?partial=true' });
    expect(partly).toMatchObject({ status: 202, body: { accepted: 2 } });
    const rejected = partly.body['rejected'] as { index: number; errors: { path: string }[] }[];
    expect(rejected.map(({ index, errors }) => [index, errors[0]?.path])).toEqual([
      [2, 'subject'],
      [3, ''],
      [4, 'id'],
      [5, 'specversion'],
      [6, 'data_base64'],
    ]);
  });

  test('that is empty, or no list, is 400, and so is a list where one event is announced', async () => {
    const refused = { status: 400, body: { code: 'invalid_request' } };
    expect(await batch([])).toMatchObject(refused);
    expect(await batch(event)).toMatchObject(refused);
    expect(await batch([event], { type: 'cloudevents' })).toMatchObject(refused);
  });
});
