// The guarantees of the capability runtime, on real servers: an effect whose work the test ends, and a policy that decides on one
// record at a time.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { capabilitiesOf, createServiceProcessor, policy } from '@lead-scoring/capability';
import { defineRecord } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { z } from 'zod';
import { endOf, pageTitles, type Title } from './page-titles/capability.js';
import { fetchTitle, recordTitle, titleAsked, titleFetched } from './page-titles/messages.js';
import { eventually, openServiceRig, type ServiceRig } from './service-rig.js';

const ouId = randomUUID();
const counted = z.strictObject({ ou_id: z.uuid(), count: z.int() });
const count = defineRecord({
  type: 'Count',
  topic: 'site-analysis.commands',
  key: 'ou_id',
  description: 'Count.',
  schema: counted,
});
const wasCounted = defineRecord({
  type: 'WasCounted',
  topic: 'site-analysis.events',
  key: 'ou_id',
  description: 'Counted.',
  schema: counted,
});
const countOf = (number: number) => outgoing(count, { key: ouId, payload: { ou_id: ouId, count: number } });

/** The number of records in each batch that the policy was given. */
const batches: number[] = [];
const counts = policy({
  name: 'counts',
  commands: { Count: count },
  events: { WasCounted: wasCounted },
  collections: [],
  open: () => ({
    decide: (records) => {
      batches.push(records.length);
      if (records.length > 1) return Promise.resolve({ outcome: 'split', reason: 'one count at a time' });
      const events = records.map(({ payload }) =>
        outgoing(wasCounted, { key: ouId, payload: payload as z.infer<typeof counted> }),
      );
      return Promise.resolve({ outcome: 'decided', events });
    },
  }),
});

/** The work that was started, in order of its start, each with the unfinished titles of the index at that time. */
const started: { title: Title; unfinished: Promise<Title[]> }[] = [];
let stops = 0;
const titles = pageTitles((unfinished) => {
  const start = (title: Title) => started.push({ title, unfinished: unfinished() });
  return {
    takeUp: async () => {
      for (const title of await unfinished()) start(title);
    },
    changed: (states) => {
      for (const { state } of states) if (state?.title === null) start(state);
    },
    stop: () => {
      stops += 1;
      return Promise.resolve();
    },
  };
});

/** The site-analysis service with these capabilities in place of its own. */
const service = capabilitiesOf('site-analysis', [titles, counts] as never);

let rig: ServiceRig;
let stopProcessor: () => Promise<void>;

async function startProcessor(): Promise<void> {
  const { log, readModel, logger, onFatal } = rig;
  stopProcessor = await rig.run(createServiceProcessor(log, service, { readModel, logger, onFatal }));
}

beforeAll(async () => {
  rig = await openServiceRig({
    service: 'site-analysis',
    collections: service.collections,
    ouId,
    partitions: 2,
    declarations: [fetchTitle, recordTitle, titleAsked, titleFetched, count, wasCounted],
  });
  await startProcessor();
}, 120_000);
afterAll(() => rig.stop(), 60_000);

const urlOf = (name: string) => `https://${name}.example.com/`;
const fetching = (name: string, page_id: string) =>
  outgoing(fetchTitle, { key: ouId, payload: { ou_id: ouId, page_id, url: urlOf(name) } });
const startsOf = (name: string) => started.filter(({ title }) => title.page.url === urlOf(name));

/** Waits until the work has been started this many times; returns the last start. */
async function start(name: string, times = 1): Promise<(typeof started)[number]> {
  await eventually(`${name} is fetched`, () => startsOf(name).length >= times);
  const last = startsOf(name).at(-1);
  if (!last) throw new Error(`${name} is not fetched`);
  return last;
}

const end = (title: Title, text: string) => rig.write([endOf(title, text)]);
const named = (result: string) => ({ outcome: 'done', result });

describe('an effect', () => {
  test('is started once its event and its index entry are stored, and its end answers its caller', async () => {
    const answer = rig.request(fetching('one', randomUUID()));
    const { title, unfinished } = await start('one');
    expect(await unfinished).toEqual([title]);
    await end(title, 'One');
    expect(await answer).toEqual(named('One'));
    expect((await rig.documents()).titles_being_fetched).toEqual([]);
  });

  test('that is requested again while it runs is started once, and its end answers all callers; a later request gets the stored result', async () => {
    const id = randomUUID();
    const answers = [rig.request(fetching('two', id))];
    const { title } = await start('two');
    answers.push(rig.request(fetching('two', id)), rig.request(fetching('two', id)));
    const other = rig.request(fetching('behind', randomUUID()));
    // Decided after all of the requests above, because it is in their partition.
    const behind = await start('behind');
    await end(title, 'Two');
    await end(behind.title, 'Behind');
    expect(await Promise.all(answers)).toEqual([named('Two'), named('Two'), named('Two')]);
    expect(await other).toEqual(named('Behind'));
    expect(await rig.request(fetching('two', id))).toEqual(named('Two'));
    expect(startsOf('two')).toHaveLength(1);
  });

  test('is stopped with its owner, started again by the next owner, and only its first end counts', async () => {
    const answer = rig.request(fetching('three', randomUUID()));
    const { title } = await start('three');
    await stopProcessor();
    expect(stops).toBeGreaterThan(0);
    await startProcessor();
    const again = await start('three', 2);
    expect(again.title).toEqual(title);
    await end(again.title, 'Three');
    await end(title, 'The title that the earlier owner found');
    expect(await answer).toEqual(named('Three'));
    expect(await rig.request(fetching('three', title.page.page_id))).toEqual(named('Three'));
  });

  test('is started again after a rebuild, which gives the same states and the same index', async () => {
    const answer = rig.request(fetching('four', randomUUID()));
    await start('four');
    const live = await rig.documents();
    expect(live.titles_being_fetched).toHaveLength(1);
    await rig.rebuild();
    expect(await rig.documents()).toEqual(live);
    const { title } = await start('four', 2);
    await end(title, 'Four');
    expect(await answer).toEqual(named('Four'));
  }, 120_000);
});

test('a batch that a policy splits is decided in parts, in order, and a waiting caller is answered once', async () => {
  const id = randomUUID();
  const answers = [rig.request(fetching('five', id))];
  const { title } = await start('five');
  await stopProcessor();
  batches.length = 0;
  answers.push(rig.request(fetching('five', id)));
  await rig.write([1, 2, 3, 4].map(countOf));
  await startProcessor();
  await start('five', 2);
  await eventually('all are counted', async () => (await countedSoFar()).length === 4);
  expect(await countedSoFar()).toEqual([1, 2, 3, 4]);
  expect(Math.max(...batches)).toBeGreaterThan(1);
  await end(title, 'Five');
  expect(await Promise.all(answers)).toEqual([named('Five'), named('Five')]);
  expect((await rig.recordsOn('replies')).filter(({ payload }) => isNamed(payload, 'Five'))).toHaveLength(2);
});

async function countedSoFar(): Promise<number[]> {
  const events = await rig.recordsOn('site-analysis.events');
  return events
    .filter(({ type }) => type === 'WasCounted')
    .map(({ payload }) => (payload as { count: number }).count);
}

function isNamed(payload: unknown, title: string): boolean {
  return (payload as { result?: unknown }).result === title;
}

test('packages/capability/README.md quotes the example word for word', async () => {
  const read = (path: string) => readFile(join(import.meta.dirname, '../../..', path), 'utf8');
  const readme = await read('packages/capability/README.md');
  const example = await read('packages/testing/src/page-titles/capability.ts');
  const quotes = [...readme.matchAll(/```ts\n([^]*?)```/g)].map(([, code = '']) => code);
  expect(quotes.length).toBeGreaterThan(0);
  for (const quote of quotes) expect(example).toContain(quote);
});
