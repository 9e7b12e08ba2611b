// A service whose documents have a new form: processes of the new version fill an edition of their own beside the live one,
// in a rolling upgrade, and processes of the old version do not write it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { capabilitiesOf, createServiceProcessor, documentProjection } from '@lead-scoring/capability';
import { uuidToBinary, readEditions } from '@lead-scoring/read-model';
import { eventually, openServiceRig, type ServiceRig } from './service-rig.js';
import { countedWatches, watchList } from './watch-list/capability.js';
import { countId, watchCounts, type WatchCountDocument } from './watch-list/documents.js';
import {
  leadUnwatched,
  leadWatched,
  unwatchLead,
  watchLead,
  type WatchEvent,
} from './watch-list/messages.js';
import { watchListQueries } from './watch-list/queries.js';

const ouId = randomUUID();
const at = '2026-01-31T09:30:00.000Z';

/** The same documents, by a changed fold: each watch counts ten. */
const countedInTens = documentProjection<WatchEvent, WatchCountDocument>({
  name: 'watch-counts',
  events: { LeadWatched: leadWatched, LeadUnwatched: leadUnwatched },
  collection: watchCounts,
  idOf: ({ payload }, partition) => countId(payload.ou_id, partition),
  fold: (document, { type, payload }, place) => ({
    _id: countId(payload.ou_id, place.partition),
    ou: uuidToBinary(payload.ou_id),
    watched: (document?.watched ?? 0) + (type === 'LeadWatched' ? 10 : -10),
    ...place,
  }),
});
const before = capabilitiesOf('scoring', [watchList, countedWatches] as never);
const after = capabilitiesOf('scoring', [watchList, countedInTens] as never, { version: 2 });

let rig: ServiceRig;
let stopBefore: () => Promise<void>;

beforeAll(async () => {
  rig = await openServiceRig({
    service: 'scoring',
    collections: before.collections,
    ouId,
    declarations: [watchLead, unwatchLead, leadWatched, leadUnwatched],
  });
  await rig.serve(watchListQueries(rig.readModel));
  stopBefore = await run(before);
}, 120_000);

afterAll(() => rig.stop(), 60_000);

function run(service: typeof before): Promise<() => Promise<void>> {
  const { log, readModel, logger, onFatal } = rig;
  return rig.run(createServiceProcessor(log, service, { readModel, logger, onFatal }));
}

const watch = (leadId = randomUUID()) =>
  rig.request({ declaration: watchLead, key: leadId, payload: { ou_id: ouId, lead_id: leadId, at } });
const watched = async () => (await rig.get('/watch-list/count')).body.watched;

test('reads answer from the old edition until every partition is with the new version, and from the new one then', async () => {
  for (let index = 0; index < 12; index += 1) await watch();
  expect(await watched()).toBe(12);
  await run(after);
  expect(await readEditions(rig.readModel, 'scoring')).toMatchObject({ live: 0, filling: { version: 2 } });
  // Some partitions are still with a process of the old version.
  await watch();
  expect(await readEditions(rig.readModel, 'scoring')).toMatchObject({ live: 0, version: 1 });
  await stopBefore();
  await eventually('the new version is live', async () => {
    const { live, version } = await readEditions(rig.readModel, 'scoring');
    return live === 1 && version === 2;
  });
  await rig.readModel.editions.look();
  expect(await watched()).toBe(130);
  await watch();
  expect(await watched()).toBe(140);
}, 120_000);

test('a process of the old version that is started then writes nothing, and says which one to start', async () => {
  const { log, readModel, logger } = rig;
  const fatal: Error[] = [];
  const old = await createServiceProcessor(log, before, {
    readModel,
    logger,
    onFatal: (error) => fatal.push(error),
  }).start();
  try {
    await eventually('it says so', () =>
      [...old.value.partitions().map(({ error }) => error), ...fatal.map(({ message }) => message)].some(
        (said) => said?.includes('start the newer release'),
      ),
    );
  } finally {
    await old.stop();
  }
  await watch();
  expect(await watched()).toBe(150);
}, 120_000);
