// A record of ingest.events that scoring reads twice, on real servers.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openServicePartition } from '@lead-scoring/capability';
import type { IncomingRecord, PartitionState } from '@lead-scoring/event-log';
import { createRule, deleted, ingested } from './testing/builders.js';
import { serviceOn, startRig, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ partitions: 1 });
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

/** The state of a partition, opened as its next owner would. */
async function opened(): Promise<PartitionState> {
  const state = openServicePartition(serviceOn(rig.readModel), rig.readModel, 0);
  await state.checkpoint();
  return state;
}

const sentAgain = (record: IncomingRecord): IncomingRecord => ({
  ...record,
  type: record.type,
  topic: record.topic,
  partition: record.partition,
  offset: record.offset,
  key: record.key,
  payload: record.payload,
  headers: { ...record.headers, 'dead-letter-topic': 'ingest.events' },
});

test('is decided once: by the same owner, by the next owner, and after a rebuild', async () => {
  await rig.request(createRule('view'));
  await rig.score([ingested('ada', [{}]), ingested('bob', [{}, {}])]);
  await rig.score([deleted('bob')]);
  const happened = (await rig.recordsOn('ingest.events')) as IncomingRecord[];
  expect(happened).toHaveLength(3);

  const next = await opened();
  expect((await next.decide(happened)).events).toEqual([]);

  await rig.rebuild();
  const rebuilt = await opened();
  expect((await rebuilt.decide(happened)).events).toEqual([]);
  const decisions = await rig.recordsOn('scoring.events');
  expect(decisions.filter(({ type }) => type === 'LeadScored')).toHaveLength(2);

  // From the service's own events alone, as in a rebuild.
  const folding = openServicePartition(serviceOn(rig.readModel), rig.readModel, 0);
  await folding.fold(decisions as never);
  expect((await folding.decide(happened)).events).toEqual([]);
}, 60_000);

test('a dead letter that is sent again, however late, is decided once', async () => {
  const [first] = (await rig.recordsOn('ingest.events')) as IncomingRecord[];
  if (!first) throw new Error('nothing has happened');
  const state = await opened();
  const { events } = await state.decide([sentAgain(first), sentAgain(first)]);
  expect(events).toMatchObject([
    {
      payload: { previous_score: 10, score: 20, source: { offset: Number(first.offset), sent_again: true } },
    },
  ]);
  const [event] = events;
  if (!event) throw new Error('nothing was decided');
  await state.fold([
    {
      ...first,
      type: event.declaration.type,
      topic: 'scoring.events',
      partition: 0,
      offset: 1_000n,
      key: event.key,
      payload: event.payload,
      headers: first.headers,
      declaration: event.declaration,
      json: Buffer.from(JSON.stringify(event.payload)),
    },
  ]);
  expect((await state.decide([sentAgain(first)])).events).toEqual([]);
  expect((await (await opened()).decide([sentAgain(first)])).events).toEqual([]);
}, 60_000);
