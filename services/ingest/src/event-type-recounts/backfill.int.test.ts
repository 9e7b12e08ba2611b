// A backfill of event types on real servers: afterwards lists, counts and properties are those of a fresh count, whatever came meanwhile.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventTypeKey, records, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { backfillFrame } from '@lead-scoring/testing/backfill-frame';
import {
  eventTypeDocumentId,
  eventTypes,
  eventUnits,
  toDocument,
  toShare,
} from '../event-types/documents.js';
import { deleteLead, ingest, leadOf, otherOuId, ouId, type SentEvent } from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
let stopProcessor: () => Promise<void>;
beforeAll(async () => {
  rig = await startRig({ partitions: 2, processors: 0, listedTypes: 2, typesPerStep: 1 });
  stopProcessor = await rig.startProcessor();
}, 120_000);
afterAll(() => rig.stop(), 60_000);

const { asked, start, completed, ...frame } = backfillFrame<
  records.StartEventTypeBackfill,
  routeDeclarations.EventTypeBackfillResult
>(() => rig, {
  service: 'ingest',
  kind: 'event-type-backfill',
  command: records.startEventTypeBackfill,
  ouId,
  usual: {},
});

/** A job has sent its last counts when it is completed: each partition takes them a moment later. */
const taken = () =>
  eventually('every partition has taken the counts', async () => {
    const units = Object.values(await rig.documents([eventUnits])).flat();
    return !JSON.stringify(units).includes('recount');
  });
const backfilled = async (...more: Parameters<typeof frame.backfilled>) => {
  const result = await frame.backfilled(...more);
  await taken();
  return result;
};

const happen = (...events: SentEvent[]) => rig.take([ingest(events)]);
const settings = async () => {
  const { body } = await rig.get('/settings/ou/event-types');
  const entries = body as unknown as routeDeclarations.EventTypeSettings[];
  return entries.map(({ name, ou_event_count }) => [name, ou_event_count]);
};
const properties = async (type: string) => {
  const { body } = await rig.get(`/event-types/${encodeURIComponent(type)}/properties`);
  return (body.details as routeDeclarations.EventTypeProperty[]).map(({ name, events }) => [name, events]);
};
const nothing = { differing: [], has_more: false, list_differed: false };
const lead = 'a lead';
const at = (hour: number) => `2026-01-01T0${String(hour)}:00:00.000Z`;

/** Makes the stored counts of a type wrong, as an error in a fold would. */
async function damage(type: string): Promise<void> {
  await stopProcessor();
  const key = eventTypeKey(type);
  const collection = rig.readModel.collection(eventTypes);
  for (let partition = 0; partition < rig.partitions; partition += 1) {
    const _id = eventTypeDocumentId(ouId, key, partition);
    const stored = await collection.findOne({ _id });
    if (!stored) continue;
    const share = { ...toShare(stored), count: 77, properties: [['swrong', 5]] as const };
    await collection.replaceOne({ _id }, toDocument(share, { partition, offset: stored.offset }));
  }
  stopProcessor = await rig.startProcessor();
}

test('nothing differs where everything was counted as it came', async () => {
  await happen(
    { aliases: [lead], event_type: 'Page View', timestamp: at(2), metadata: { path: '/' } },
    { aliases: [lead], event_type: 'page_view', timestamp: at(3), metadata: { path: 1, ref: 'x' } },
    { aliases: [lead], event_type: 'Form Submit', timestamp: at(3) },
    { aliases: ['other lead'], event_type: 'Page View', timestamp: at(1), metadata: { early: true } },
  );
  expect(await backfilled({ dry_run: true })).toEqual({ dry_run: true, ...nothing });
  expect(await backfilled()).toEqual({ dry_run: false, ...nothing });
  expect(await backfilled({ ou_id: otherOuId })).toEqual({ dry_run: false, ...nothing });
}, 60_000);

test('wrong counts are said by a dry run, mended by the next, and count on', async () => {
  await happen({ aliases: [lead], event_type: 'Beyond The List', metadata: { note: 1 } });
  expect(await settings()).toEqual([
    ['Form Submit', 1],
    ['Page View', 3],
  ]);
  await damage('Page View');
  const before = await settings();
  const dry = await backfilled({ dry_run: true });
  expect(dry).toMatchObject({ dry_run: true, has_more: false });
  expect(dry.differing).toMatchObject([
    { event_type: 'Page View', events_after: 3, counts: true, times: false, properties: true },
  ]);
  expect(await settings()).toEqual(before);
  expect((await backfilled()).differing).toEqual(dry.differing);
  expect(await settings()).toEqual([
    ['Form Submit', 1],
    ['Page View', 3],
  ]);
  await happen({ aliases: [lead], event_type: 'Page View', timestamp: at(4), metadata: { path: '/new' } });
  expect(await properties('Page View')).toEqual([
    ['early', 1],
    ['path', 3],
    ['ref', 1],
  ]);
  expect(await backfilled()).toEqual({ dry_run: false, ...nothing });
}, 90_000);

test('events and deletions that come meanwhile count, a service that stops goes on, and two at a time are refused', async () => {
  await happen({ aliases: ['gone'], event_type: 'Page View', timestamp: at(0), metadata: { gone: 1 } });
  await damage('Page View');
  const request = asked();
  await start(request);
  const second = await start(asked());
  await Promise.all(
    Array.from({ length: 5 }, (_, n) =>
      happen({
        aliases: [n % 2 === 0 ? lead : 'other lead'],
        event_type: 'Page View',
        metadata: { late: n },
      }),
    ),
  );
  await rig.request(deleteLead('gone'));
  await stopProcessor();
  stopProcessor = await rig.startProcessor();
  await happen({ aliases: [lead], event_type: 'Page View', metadata: { late: 'last' } });
  await completed(request);
  await taken();
  if (second.outcome === 'rejected') expect(second.code).toBe('job_running');
  expect((await rig.get(`/events/${leadOf('gone')}`)).status).toBe(404);
  expect(await settings()).toContainEqual(['Page View', 10]);
  expect(await properties('Page View')).toEqual([
    ['early', 1],
    ['late', 6],
    ['path', 3],
    ['ref', 1],
  ]);
  const { differing } = await backfilled({ dry_run: true });
  expect(differing.filter(({ counts, properties: wrong }) => counts || wrong)).toEqual([]);
  await backfilled();
}, 90_000);

test('a rebuild gives the same documents', async () => {
  const live = await rig.documents([eventTypes, eventUnits]);
  await rig.rebuild();
  expect(await rig.documents([eventTypes, eventUnits])).toEqual(live);
}, 90_000);
