// The worked example of docs/adding-a-capability.md: the page quotes the files of src/watch-list, and their code works.
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { capabilitiesOf, createServiceProcessor } from '@lead-scoring/capability';
import { openServiceRig, type ServiceRig } from './service-rig.js';
import { countedWatches, watchList } from './watch-list/capability.js';
import { leadUnwatched, leadWatched, unwatchLead, watchLead } from './watch-list/messages.js';
import { watchListQueries } from './watch-list/queries.js';

const root = join(import.meta.dirname, '../../..');
const ouId = randomUUID();
const at = '2026-01-31T09:30:00.000Z';
/** The scoring service with the example's capabilities in place of its own. */
const service = capabilitiesOf('scoring', [watchList, countedWatches] as never);

describe('the watch list', () => {
  let rig: ServiceRig;

  beforeAll(async () => {
    rig = await openServiceRig({
      service: 'scoring',
      collections: service.collections,
      ouId,
      declarations: [watchLead, unwatchLead, leadWatched, leadUnwatched],
    });
    const { log, readModel, logger, onFatal } = rig;
    await rig.run(createServiceProcessor(log, service, { readModel, logger, onFatal }));
    await rig.serve(watchListQueries(readModel));
  }, 120_000);

  afterAll(() => rig.stop(), 60_000);

  const send = (declaration: typeof watchLead | typeof unwatchLead, leadId: string) =>
    rig.request({ declaration, key: leadId, payload: { ou_id: ouId, lead_id: leadId, at } });
  const count = async () => (await rig.get('/watch-list/count')).body;

  test('a command takes effect once, and its caller reads it', async () => {
    const leads = Array.from({ length: 20 }, () => randomUUID());
    for (const lead of leads)
      expect(await send(watchLead, lead)).toEqual({ outcome: 'done', result: { watched: true } });
    expect(await count()).toEqual({ watched: 20 });
    const [first = ''] = leads;
    await send(watchLead, first);
    expect(await count()).toEqual({ watched: 20 });
    expect(await send(unwatchLead, first)).toEqual({ outcome: 'done', result: { watched: false } });
    expect(await send(unwatchLead, first)).toMatchObject({ outcome: 'rejected', code: 'lead_not_found' });
    expect(await count()).toEqual({ watched: 19 });
    expect(await rig.recordsOn('scoring.events')).toHaveLength(21);
  });

  test('a rebuild gives the same documents', async () => {
    const live = await rig.documents();
    await rig.rebuild();
    expect(await rig.documents()).toEqual(live);
  }, 120_000);
});

describe('docs/adding-a-capability.md', () => {
  test('quotes each file of the example word for word', async () => {
    const folder = 'packages/testing/src/watch-list';
    const text = await readFile(join(root, 'docs/adding-a-capability.md'), 'utf8');
    const quoted = new Map(
      [...text.matchAll(/`([\w-]+\.ts)`[^`]*```ts\n([^]*?)```/g)].map(([, name = '', code]) => [name, code]),
    );
    const files = await readdir(join(root, folder));
    expect(files.length).toBeLessThanOrEqual(5);
    for (const name of files)
      expect({ name, code: quoted.get(name) }).toEqual({
        name,
        code: await readFile(join(root, folder, name), 'utf8'),
      });
  });
});
