// The service on real servers: requests and their answers, processes that stop while analyses run, and the list.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import { tail } from '@lead-scoring/event-log';
import { analyzed, analyzeSite, at, idOf, otherOuId, ouId } from './testing/builders.js';
import { maximumAtOnce, startRig, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
}, 90_000);
afterAll(async () => {
  await rig.stop();
}, 90_000);
afterEach(() => {
  rig.clock.aheadMs = 0;
});

const urlOf = (name: string) => analyzeSite(name).url;
const done = (name: string): records.CommandReplied => ({ outcome: 'done', result: { ...analyzed(name) } });

/** Requests an analysis and lets it succeed. */
async function analyse(name: string, ou = ouId): Promise<records.CommandReplied> {
  const reply = rig.request(analyzeSite(name, { ou_id: ou }));
  (await rig.beginning(urlOf(name))).succeed(analyzed(name));
  return reply;
}

const list = async (query = '', ou = ouId) => {
  const { status, body } = await rig.get(`/site-scoring/analyses${query}`, { ou });
  return {
    status,
    code: body.code,
    total: body.total,
    ids: (body.data as routeDeclarations.SiteAnalysisEntry[] | undefined)?.map(({ id }) => id),
    next: body.next_cursor as string | undefined,
    data: body.data,
  };
};

describe('an analysis', () => {
  test('is answered with its result, is on the log, and is listed only in its unit', async () => {
    expect(await analyse('first')).toEqual(done('first'));
    expect(await list()).toMatchObject({
      status: 200,
      total: 1,
      data: [
        {
          id: idOf('first'),
          url: urlOf('first'),
          requested_at: at,
          analyzed_at: at,
          ...analyzed('first'),
        },
      ],
    });
    expect(await list('', otherOuId)).toMatchObject({ status: 200, total: 0, ids: [] });
    const types: string[] = [];
    for await (const { type } of tail(rig.log, 'site-analysis.events', { from: 'beginning', follow: false }))
      types.push(type);
    expect(types).toEqual(['SiteAnalysisRequested', 'SiteAnalyzed']);
  });

  test('that fails is answered with the reason and is in no list', async () => {
    const before = await list();
    const reply = rig.request(analyzeSite('gone'));
    (await rig.beginning(urlOf('gone'))).fail(new RangeError('nobody there'));
    expect(await reply).toEqual({ outcome: 'rejected', code: 'site_unreachable', message: 'nobody there' });
    expect((await list()).ids).toEqual(before.ids);
  });

  test('of a refused address is rejected and never starts', async () => {
    expect(await rig.request(analyzeSite('refused', { url: 'ftp://example.com' }))).toMatchObject({
      outcome: 'rejected',
      code: 'scheme_not_allowed',
    });
    expect(rig.started.filter(({ url }) => url.startsWith('ftp:'))).toEqual([]);
  });

  test('does not wait for others: the second is answered while the first runs', async () => {
    const slow = rig.request(analyzeSite('slow'));
    const first = await rig.beginning(urlOf('slow'));
    expect(await analyse('quick')).toEqual(done('quick'));
    first.succeed(analyzed('slow'));
    expect(await slow).toEqual(done('slow'));
  });

  test('above the limit is rejected until one ends', async () => {
    const names = Array.from({ length: maximumAtOnce }, (_, n) => `full-${String(n)}`);
    const replies = names.map((name) => rig.request(analyzeSite(name)));
    const runs = await Promise.all(names.map((name) => rig.beginning(urlOf(name))));
    expect(await rig.request(analyzeSite('surplus'))).toMatchObject({ code: 'too_many_analyses' });
    for (const [index, name] of names.entries()) runs[index]?.succeed(analyzed(name));
    expect(await Promise.all(replies)).toEqual(names.map(done));
    expect(await analyse('surplus')).toEqual(done('surplus'));
  });

  test('that is requested again while it runs, runs once and answers both; afterwards a repeat is answered at once', async () => {
    const replies = [rig.request(analyzeSite('twice')), rig.request(analyzeSite('twice'))];
    const run = await rig.beginning(urlOf('twice'));
    // Decided after both of the above, because all are in one partition.
    expect(await analyse('between')).toEqual(done('between'));
    run.succeed(analyzed('twice'));
    expect(await Promise.all(replies)).toEqual([done('twice'), done('twice')]);
    expect(await rig.request(analyzeSite('twice'))).toEqual(done('twice'));
    expect(rig.started.filter(({ url }) => url === urlOf('twice'))).toHaveLength(1);
  });
});

describe('a process that stops while an analysis runs', () => {
  test('leaves it to the next one, which answers the caller', async () => {
    const reply = rig.request(analyzeSite('taken-over'));
    await rig.beginning(urlOf('taken-over'));
    await rig.restart();
    (await rig.beginning(urlOf('taken-over'), 2)).succeed(analyzed('taken-over'));
    expect(await reply).toEqual(done('taken-over'));
  });

  test('and is away until the caller no longer waits: the analysis ends as interrupted, and a repeated request starts it again', async () => {
    const reply = rig.request(analyzeSite('late'));
    await rig.beginning(urlOf('late'));
    rig.clock.aheadMs = 30_000;
    await rig.restart();
    expect(await reply).toMatchObject({ outcome: 'rejected', code: 'analysis_interrupted' });
    const again = rig.request(analyzeSite('late', { requested_at: '2026-01-01T12:00:30.000Z' }));
    (await rig.beginning(urlOf('late'), 2)).succeed(analyzed('late'));
    expect(await again).toEqual(done('late'));
  });
});

describe('the list', () => {
  test('is newest first, and pages by number and by cursor have every analysis once', async () => {
    const names = ['one', 'two', 'three', 'four', 'five'].map((name) => `listed-${name}`);
    for (const name of names) await analyse(name, otherOuId);
    const newestFirst = names.map(idOf).reverse();
    expect(await list('', otherOuId)).toMatchObject({ total: 5, ids: newestFirst, next: undefined });
    const pages = await Promise.all(
      [1, 2, 3].map((page) => list(`?limit=2&page=${String(page)}`, otherOuId)),
    );
    expect(pages.flatMap(({ ids }) => ids)).toEqual(newestFirst);
    const second = await list(`?limit=2&cursor=${pages[0]?.next ?? ''}`, otherOuId);
    const third = await list(`?limit=2&cursor=${second.next ?? ''}`, otherOuId);
    expect([second.ids, third.ids, third.next, third.total]).toEqual([
      newestFirst.slice(2, 4),
      newestFirst.slice(4),
      undefined,
      5,
    ]);
  });

  test("another unit's cursor, or an invalid one, gets 400", async () => {
    const { next } = await list('?limit=1', otherOuId);
    for (const cursor of [next ?? '', 'abc', 'A'.repeat(32)])
      expect(await list(`?cursor=${cursor}`)).toMatchObject({ status: 400, code: 'invalid_cursor' });
  });
});

test('a rebuild gives the same documents, and running analyses go on', async () => {
  const reply = rig.request(analyzeSite('meanwhile'));
  const run = await rig.beginning(urlOf('meanwhile'));
  const before = await rig.documents();
  expect(before.running_analyses).toHaveLength(1);
  expect(before.analysis_places?.length).toBeGreaterThan(5);
  await rig.rebuild();
  expect(await rig.documents()).toEqual(before);
  run.succeed(analyzed('meanwhile'));
  expect(await reply).toEqual(done('meanwhile'));
  expect((await rig.documents()).running_analyses).toEqual([]);
});
