// The ingest service on real servers: commands come in through the log, and its query port answers reads.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parsePositions } from '@lead-scoring/service';
import { routeDeclarations, type TimeSpan } from '@lead-scoring/contracts';
import { uuidToBinary } from '@lead-scoring/read-model';
import type { Answer } from '@lead-scoring/testing/service-rig';
import { aliasCounts } from './aliases/documents.js';
import { tallyMetadata } from './analytics/read-events.js';
import { tallyLeads } from './analytics/read-leads.js';
import { tallyTypes } from './analytics/read-periods.js';
import { SeriesTally } from './analytics/series-tally.js';
import { statsByTime, statsOfAllTime } from './stats/queries.js';
import { aliasOf, deleteLead, ingest, leadOf, otherOuId, type SentEvent } from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

/** More aliases than the other tests link in one partition. */
const aliasShare = 20;
let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ aliasShare });
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const list = ({ body }: Answer) => body.data as routeDeclarations.StoredEvent[];
const nextCursor = ({ body }: Answer) => body.next_cursor as string | undefined;
const hour = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString();

describe('events', () => {
  const hostile = JSON.parse(
    '{"__proto__": 1, "$where": "x", "a.b": {"": [null, 1e300]}, "_bsontype": "Binary", "nul\\u0000key": "nul\\u0000value", "lone\\ud800": "\\udfff", "constructor": {"prototype": {}}}',
  ) as NonNullable<SentEvent['metadata']>;

  test('an event is stored and returned exactly as it was sent', async () => {
    await rig.take([
      ingest([
        { aliases: ['ada'], event_id: 'e-1', event_type: 'page_view', metadata: hostile, timestamp: hour(1) },
      ]),
    ]);
    const answer = await rig.get(`/events/${leadOf('ada')}`);
    expect(answer.body).toMatchObject({ total: 1, page: 1, limit: 25 });
    const [event] = list(answer);
    expect(event).toMatchObject({
      event_id: 'e-1',
      lead_id: leadOf('ada'),
      alias: aliasOf('ada'),
      event_type: 'page_view',
      timestamp: hour(1),
      received_at: '2026-01-01T12:00:00.000Z',
      source: 'ingest',
    });
    expect(JSON.stringify(event?.metadata)).toBe(JSON.stringify(hostile));
    expect(({} as Record<string, unknown>).path).toBeUndefined();
  });

  test('a repeat is dropped within a batch, across batches, and after a restart', async () => {
    const event = { aliases: ['rosa'], event_id: 'once' };
    await rig.take([ingest([event, event]), ingest([event])]);
    await rig.take([ingest([event])]);
    const stop = await rig.startProcessor();
    await rig.take([ingest([event])]);
    await stop();
    await rig.take([ingest([event])]);
    expect((await rig.get(`/events/${leadOf('rosa')}`)).body).toMatchObject({ total: 1 });
    expect((await rig.get('/events')).body).toMatchObject({ total: 2 });
  }, 60_000);

  test('the repeats of a batch are counted, of several batches added up, and only in their own OU', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const batch = (batchId: string, aliases: string[]) => {
      const command = ingest(aliases.map((alias) => ({ aliases: [alias], event_id: 'counted' })));
      command.payload.batch_id = batchId;
      return command;
    };
    const leads = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6'];
    await rig.take([batch(first, leads)]);
    await rig.take([batch(second, [...leads, 'r7', 'r7'])]);
    const counted = async (ids: string[]) => (await rig.get(`/event-stats?batch_id=${ids.join(',')}`)).body;
    const counts = async () => [
      await counted([first]),
      await counted([second]),
      await counted([first, second, second]),
    ];
    expect(await counts()).toEqual(
      [0, 7, 7].map((repeats) => ({ repeats, differing: 0, aliases_refused: 0 })),
    );
    const elsewhere = await rig.get(`/event-stats?batch_id=${second}`, { ou: otherOuId });
    expect(elsewhere.body).toEqual({ repeats: 0, differing: 0, aliases_refused: 0 });
    expect((await rig.get('/event-stats?batch_id=x')).status).toBe(400);
  }, 60_000);

  test('a repeat with another body is counted as differing, and the stored event stays: in parallel, in a batch, after a restart and a rebuild', async () => {
    const sent = { aliases: ['dora'], event_id: 'same', metadata: { amount: 1, currency: 'EUR' } };
    const other = { ...sent, metadata: { amount: 2, currency: 'EUR' } };
    const ou = randomUUID();
    const batch = (events: Parameters<typeof ingest>[0]) =>
      ingest(events, { ou_id: ou, batch_id: randomUUID() });
    const counted = async ({ payload: { batch_id } }: ReturnType<typeof batch>) =>
      (await rig.get(`/event-stats?batch_id=${batch_id}`, { ou })).body;
    const stored = async () =>
      ((await rig.get(`/events/${leadOf('dora')}`, { ou })).body as { data: { metadata: unknown }[] }).data;

    const inOne = batch([sent, sent, other]);
    await rig.take([inOne]);
    expect(await counted(inOne)).toMatchObject({ repeats: 2, differing: 1 });
    const parallel = Array.from({ length: 5 }, (_, index) => batch([index === 3 ? other : sent]));
    await Promise.all(parallel.map((command) => rig.take([command])));
    expect(await Promise.all(parallel.map(counted))).toMatchObject(
      parallel.map((_, index) => ({ repeats: 1, differing: index === 3 ? 1 : 0 })),
    );
    const stop = await rig.startProcessor();
    const later = batch([{ ...sent, metadata: { currency: 'EUR', amount: 1 } }, other]);
    await rig.take([later]);
    await stop();
    expect(await counted(later)).toMatchObject({ repeats: 2, differing: 1 });
    await rig.rebuild();
    expect(await counted(later)).toMatchObject({ repeats: 2, differing: 1 });
    const rebuilt = batch([other]);
    await rig.take([rebuilt]);
    expect(await counted(rebuilt)).toMatchObject({ repeats: 1, differing: 1 });
    expect((await stored()).map(({ metadata }) => metadata)).toEqual([sent.metadata]);
  }, 60_000);

  test('events of the OU are newest first; pages and cursors return all of them once, in the same order', async () => {
    const events = Array.from({ length: 60 }, (_, index) => ({
      aliases: [`walker${String(index % 9)}`],
      event_type: index % 3 === 0 ? 'Email Open' : 'Page View',
      // Several at the same moment, some before 1970.
      timestamp: index < 5 ? `1969-12-31T0${String(index)}:00:00.000Z` : hour(100 + (index % 20)),
    }));
    await rig.take([ingest(events)]);
    for (const query of [
      '',
      'event_type=email_open&',
      `from=${hour(101)}&`,
      `to=${hour(110)}&event_type=Page%20View&`,
    ]) {
      const byPage: routeDeclarations.StoredEvent[] = [];
      const byCursor: routeDeclarations.StoredEvent[] = [];
      let total: unknown;
      for (let page = 1; ; page += 1) {
        const answer = await rig.get(`/events?${query}limit=7&page=${String(page)}`);
        total = answer.body.total;
        if (list(answer).length === 0) break;
        byPage.push(...list(answer));
      }
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const answer = await rig.get(`/events?${query}limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
        byCursor.push(...list(answer));
        cursor = nextCursor(answer);
      }
      expect(byPage).toHaveLength(Number(total));
      expect(new Set(byPage.map(({ id }) => id)).size).toBe(byPage.length);
      expect(byCursor).toEqual(byPage);
      const times = byPage.map(({ timestamp }) => timestamp);
      expect(times).toEqual([...times].sort().reverse());
    }
  }, 60_000);

  test("a lead's events are paged in the same way, filtered by type and time", async () => {
    const path = `/events/${leadOf('walker1')}`;
    const all = list(await rig.get(`${path}?limit=100`));
    expect(all.length).toBeGreaterThan(5);
    const [first] = all;
    const walked: routeDeclarations.StoredEvent[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const answer = await rig.get(`${path}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      walked.push(...list(answer));
      cursor = nextCursor(answer);
    }
    expect(walked).toEqual(all);
    expect(list(await rig.get(`${path}?from=${first?.timestamp ?? ''}`)).map(({ id }) => id)).toContain(
      first?.id,
    );
    expect(
      list(await rig.get(`${path}?to=${first?.timestamp ?? ''}&limit=100`)).map(({ id }) => id),
    ).not.toContain(first?.id);
    const opened = list(await rig.get(`/events?lead_id=${leadOf('walker1')}&event_type=EMAIL_OPEN`));
    expect(
      opened.every(({ event_type, lead_id }) => event_type === 'Email Open' && lead_id === leadOf('walker1')),
    ).toBe(true);
  });

  test('another OU sees none of them: empty lists, 404 for the lead', async () => {
    expect((await rig.get('/events', { ou: otherOuId })).body).toMatchObject({ total: 0, data: [] });
    expect(await rig.get(`/events/${leadOf('ada')}`, { ou: otherOuId })).toMatchObject({
      status: 404,
      body: { code: 'lead_not_found' },
    });
    expect((await rig.get(`/events?lead_id=${leadOf('ada')}`, { ou: otherOuId })).body).toMatchObject({
      total: 0,
    });
    expect(await rig.get(`/events/${leadOf('nobody')}`)).toMatchObject({ status: 404 });
    const { body } = await rig.get('/events?limit=1');
    expect(await rig.get(`/events?cursor=${String(body.next_cursor)}`, { ou: otherOuId })).toMatchObject({
      status: 400,
    });
  });
});

describe('event types', () => {
  test('are listed by their Title Case names, in alphabetical order, each once', async () => {
    expect((await rig.get('/event-types')).body).toEqual(['Email Open', 'Page View']);
    expect((await rig.get('/event-types', { ou: otherOuId })).body).toEqual([]);
  });

  test('have the metadata keys of their events, for either spelling of the type; an unknown type gets 404', async () => {
    for (const name of ['Page%20View', 'page_view'])
      expect((await rig.get(`/event-types/${name}/properties`)).body).toMatchObject({
        event_type: 'Page View',
        properties: ['$where', '__proto__', '_bsontype', 'a.b', 'constructor', 'lone\ud800', 'nul\u0000key'],
      });
    expect(await rig.get('/event-types/Nothing/properties')).toMatchObject({
      status: 404,
      body: { code: 'event_type_not_found' },
    });
    expect(await rig.get('/event-types/Page%20View/properties', { ou: otherOuId })).toMatchObject({
      status: 404,
    });
  });
});

describe('aliases', () => {
  test('events of a linked alias go to the lead that claimed it, those from before the link too, keep their alias, and are found by it', async () => {
    await rig.take([ingest([{ aliases: ['cookie:77'], event_id: 'before' }])]);
    await rig.take([ingest([{ aliases: ['grace', 'cookie:77'], event_id: 'together' }])]);
    await rig.take([ingest([{ aliases: ['cookie:77'], event_id: 'after' }])]);
    // Repeats of both, after the alias was linked.
    await rig.take([
      ingest([
        { aliases: ['cookie:77'], event_id: 'before' },
        { aliases: ['cookie:77'], event_id: 'after' },
      ]),
    ]);
    const of = async (path: string) =>
      list(await rig.get(path)).map(({ event_id, alias }) => [event_id, alias.alias]);
    expect((await of(`/events/${leadOf('grace')}`)).sort()).toEqual([
      ['after', '77'],
      ['before', '77'],
      ['together', 'grace@example.com'],
    ]);
    expect((await rig.get(`/events/${leadOf('cookie:77')}`)).status).toBe(404);
    expect((await of('/events?alias=77')).sort()).toEqual([
      ['after', '77'],
      ['before', '77'],
    ]);
    expect(await of('/events?alias=Grace@Example.com')).toEqual([['together', 'grace@example.com']]);
    expect(await of('/events?alias=nobody')).toEqual([]);
  }, 60_000);

  test('aliases above the limit of an OU are not linked; they are counted by batch, their events are kept, and a rebuild gives the same', async () => {
    const ou = randomUUID();
    const batch = (events: Parameters<typeof ingest>[0]) =>
      ingest(events, { ou_id: ou, batch_id: randomUUID() });
    const refusedIn = async ({ payload: { batch_id } }: ReturnType<typeof batch>) =>
      (await rig.get(`/event-stats?batch_id=${batch_id}`, { ou })).body as { aliases_refused: number };
    const naming = (from: number, count: number) =>
      batch(
        Array.from({ length: count }, (_, index) => ({
          aliases: ['fay', `user_id:f-${String(from + index)}`],
        })),
      );
    const [most, more] = [naming(0, aliasShare - 1), naming(aliasShare - 1, 4)];
    await rig.take([most, more]);
    expect([await refusedIn(most), await refusedIn(more)]).toMatchObject([
      { aliases_refused: 0 },
      { aliases_refused: 3 },
    ]);
    await rig.rebuild();
    expect(await refusedIn(more)).toMatchObject({ aliases_refused: 3 });
    const last = naming(100, 2);
    await rig.take([last]);
    expect(await refusedIn(last)).toMatchObject({ aliases_refused: 2 });
    const [count] = await rig.readModel
      .collection(aliasCounts)
      .find({ ou: uuidToBinary(ou) })
      .toArray();
    expect(count?.count).toBe(aliasShare);
    expect((await rig.get(`/events/${leadOf('fay')}`, { ou })).body).toMatchObject({ total: aliasShare + 5 });
  }, 90_000);

  test('two people whom events name together stay two, and lose and double no event', async () => {
    const pair = ['hana', 'ines'];
    await rig.take([
      ingest([{ aliases: pair, event_id: '1' }]),
      ingest([{ aliases: [...pair].reverse(), event_id: '1' }]),
    ]);
    await rig.take([ingest(pair.map((name) => ({ aliases: [name], event_id: '2' })))]);
    await rig.take([ingest(pair.map((name) => ({ aliases: [name], event_id: '2' })))]);
    const both = await Promise.all(pair.map((name) => rig.get(`/events/${leadOf(name)}`)));
    expect(both.flatMap(list)).toHaveLength(4);
    for (const [index, answer] of both.entries())
      expect(list(answer).map(({ lead_id }) => lead_id)).toEqual(Array(2).fill(leadOf(pair[index] ?? '')));
    const { body } = await rig.get('/lead-conflicts');
    expect(body).toMatchObject({ total: 1, data: [{ merge: { source_ids: [expect.any(String)] } }] });
  }, 60_000);
});

describe('positions', () => {
  test('events up to a position are visible once the wait for it is answered, and the answer has the positions for scoring', async () => {
    const position = await rig.send([
      ingest([{ aliases: ['jonas'] }, { aliases: ['kofi'] }, { aliases: ['lea'] }]),
    ]);
    const { status, body } = await rig.get(`/internal/visible?position=${position}`);
    expect(status).toBe(200);
    const partitions = new Set(['jonas', 'kofi', 'lea'].map((name) => rig.log.partitionOf(leadOf(name))));
    const positions = parsePositions(String(body.positions));
    expect(new Set(positions.map(({ partition }) => partition))).toEqual(partitions);
    expect(positions.every(({ offset }) => offset > 0n)).toBe(true);
    for (const name of ['jonas', 'kofi', 'lea'])
      expect((await rig.get(`/events/${leadOf(name)}`)).body).toMatchObject({ total: 1 });
  });

  test('a position that is not reached gets 503, an invalid one 400', async () => {
    expect(await rig.get('/internal/visible?position=0-zzzzz')).toMatchObject({
      status: 503,
      body: { code: 'position_not_reached' },
    });
    for (const position of ['%21', 'zz-1', ''])
      expect(await rig.get(`/internal/visible?position=${position}`)).toMatchObject({ status: 400 });
  });
});

describe('a deleted lead', () => {
  const ofType = (event_type: string) => ({ event_type, metadata: { [`key of ${event_type}`]: 1 } });
  const properties = (type: string) => rig.get(`/event-types/${encodeURIComponent(type)}/properties`);

  test('is gone from every read once the deletion is answered; data of other leads stays', async () => {
    await rig.take([
      ingest([
        { aliases: ['erased'], ...ofType('Shared'), event_id: '1' },
        { aliases: ['erased'], ...ofType('Own') },
        { aliases: ['erased'], event_type: 'Shared', metadata: { 'only here': 1 } },
        { aliases: ['stays'], ...ofType('Shared') },
      ]),
    ]);
    const total = (await rig.get('/events')).body.total as number;
    expect(await rig.request(deleteLead('erased'))).toEqual({ outcome: 'done' });
    expect(await rig.get(`/events/${leadOf('erased')}`)).toMatchObject({
      status: 404,
      body: { code: 'lead_not_found' },
    });
    expect((await rig.get('/events')).body.total).toBe(total - 3);
    expect((await rig.get('/events?event_type=shared')).body).toMatchObject({ total: 1 });
    expect((await rig.get('/events?alias=erased@example.com')).body).toMatchObject({ total: 0, data: [] });
    expect((await properties('Shared')).body).toMatchObject({
      event_type: 'Shared',
      properties: ['key of Shared'],
    });
    expect((await properties('Own')).status).toBe(404);
    expect((await rig.get('/event-types')).body).not.toContain('Own');
    expect((await rig.get(`/events/${leadOf('stays')}`)).body).toMatchObject({ total: 1 });
  });

  test('is not brought back by a repeated event; a new event begins a new lead', async () => {
    await rig.take([ingest([{ aliases: ['erased'], event_id: '1' }])]);
    expect((await rig.get(`/events/${leadOf('erased')}`)).status).toBe(404);
    await rig.take([ingest([{ aliases: ['erased'], event_id: '2' }])]);
    expect((await rig.get(`/events/${leadOf('erased')}`)).body).toMatchObject({ total: 1 });
    // The same deletion again, as after a lost answer.
    expect(await rig.request(deleteLead('erased'))).toEqual({ outcome: 'done' });
    expect((await rig.get(`/events/${leadOf('erased')}`)).body).toMatchObject({ total: 1 });
  });

  test('that does not exist, or is of another OU, is not found', async () => {
    for (const command of [deleteLead('never seen'), deleteLead('stays', { ou_id: otherOuId })])
      expect(await rig.request(command)).toMatchObject({ outcome: 'rejected', code: 'lead_not_found' });
    expect((await rig.get(`/events/${leadOf('stays')}`)).body).toMatchObject({ total: 1 });
  });

  test('is deleted with its linked aliases, by any of their names; then each alias is a lead of its own', async () => {
    await rig.take([ingest([{ aliases: ['cookie:old'], event_id: 'before the link' }])]);
    await rig.take([ingest([{ aliases: ['linked', 'cookie:old', 'cookie:new'] }])]);
    await rig.take([ingest([{ aliases: ['cookie:new', 'cookie:far'], event_id: 'forwarded' }])]);
    await rig.take([
      ingest([
        { aliases: ['cookie:far'], event_id: 'forwarded' },
        { aliases: ['cookie:far'], event_id: 'far' },
      ]),
    ]);
    const leads = ['linked', 'cookie:old', 'cookie:new', 'cookie:far'].map((name) => leadOf(name));
    const totals = () =>
      Promise.all(leads.map((lead) => rig.get(`/events/${lead}`).then(({ body }) => body.total)));
    expect(await totals()).toEqual([5, undefined, undefined, undefined]);
    const named = (name: string) =>
      rig.get(`/internal/named-lead/${leadOf(name)}`).then(({ body }) => body.lead_id);
    for (const linked of ['cookie:old', 'cookie:new', 'cookie:far'])
      expect(await named(linked)).toBe(leadOf('linked'));
    expect(await named('never seen')).toBe(leadOf('never seen'));
    expect(await rig.request(deleteLead('cookie:far'))).toEqual({ outcome: 'done' });
    expect((await rig.get(`/events/${leadOf('linked')}`)).status).toBe(404);
    expect((await rig.get(`/events/${leadOf('cookie:new')}`)).status).toBe(404);
    // Repeats of all events, under their original aliases.
    await rig.take([
      ingest([
        { aliases: ['cookie:old'], event_id: 'before the link' },
        { aliases: ['cookie:new'], event_id: 'forwarded' },
        { aliases: ['cookie:far'], event_id: 'forwarded' },
        { aliases: ['cookie:far'], event_id: 'far' },
      ]),
    ]);
    for (const lead of leads) expect((await rig.get(`/events/${lead}`)).status).toBe(404);
    await rig.take([
      ingest(['linked', 'cookie:old', 'cookie:new', 'cookie:far'].map((name) => ({ aliases: [name] }))),
    ]);
    expect(await totals()).toEqual([1, 1, 1, 1]);
  });
});

describe('the same state by other ways', () => {
  test('a rebuild gives the same documents as live', async () => {
    const live = await rig.documents();
    expect(live.event_seconds?.length).toBeGreaterThan(1);
    expect(live.redirects?.length).toBeGreaterThan(1);
    expect(live.alias_counts?.length).toBeGreaterThan(1);
    expect(live.refused_aliases?.length).toBeGreaterThan(0);
    expect(live.repeat_counts?.length).toBeGreaterThan(1);
    await rig.rebuild();
    expect(await rig.documents()).toEqual(live);
  }, 90_000);

  test('folding records again, after a crash between fold and checkpoint, changes nothing', async () => {
    const live = await rig.documents();
    await rig.readModel.db
      .collection<{ _id: string; offset: number }>('checkpoints')
      .updateMany({}, { $set: { offset: 0 } });
    const stop = await rig.startProcessor();
    await stop();
    expect(await rig.documents()).toEqual(live);
    await rig.take([
      ingest([
        { aliases: ['ada'], event_id: 'e-1' },
        { aliases: ['ada'], event_id: 'e-2' },
      ]),
    ]);
    expect((await rig.get(`/events/${leadOf('ada')}`)).body).toMatchObject({ total: 2 });
  }, 90_000);
});

describe('GET /events-analytics', () => {
  const ou = randomUUID();
  const paths = ['/a', '/b', null, '/c', 7];
  const sent = Array.from({ length: 120 }, (_, index) => ({
    alias: ['ada', 'bob', 'eve'][index % 3] ?? '',
    event_type: ['Page View', 'page_view', 'Form Submit', 'Call'][index % 4] ?? '',
    // Around the day on which the clocks of Berlin are changed, with several in one second.
    timestamp: new Date(Date.UTC(2026, 2, 27, 21, 30) + Math.floor(index / 2) ** 2 * 97_250).toISOString(),
    path: paths[index % 5] ?? null,
  }));
  beforeAll(async () => {
    await rig.take([
      ingest(
        sent.map(({ alias, event_type, timestamp, path }) => ({
          aliases: [alias],
          lead_id: leadOf(alias, ou),
          event_type,
          timestamp,
          ...(path !== null && { metadata: { path } }),
        })),
        { ou_id: ou },
      ),
    ]);
  });
  const ask = async (query: string) => {
    const { status, body } = await rig.get(`/events-analytics?${query}`, { ou });
    expect([status, body.code]).toEqual([200, undefined]);
    return body as unknown as routeDeclarations.EventsAnalytics;
  };

  test.each(['events', 'leads'])(
    'counts the same %s as the list of events, by type and by metadata',
    async (metric) => {
      for (const [group_by, valueOf] of [
        ['event_type', ({ event_type }) => (event_type === 'page_view' ? 'Page View' : event_type)],
        ['metadata.path', ({ path }) => (path === null ? null : String(path))],
      ] as [string, (one: (typeof sent)[number]) => string | null][])
        for (const granularity of ['hour', 'day', 'week', 'month']) {
          const time = 'from=2026-03-28&to=2026-03-31T05:00:30.500Z&timezone=Europe/Berlin';
          const answer = await ask(
            `metric=${metric}&group_by=${group_by}&granularity=${granularity}&${time}`,
          );
          const numberOf = (of: typeof sent) =>
            metric === 'events' ? of.length : new Set(of.map(({ alias }) => alias)).size;
          const within = sent.filter(({ timestamp }) => timestamp >= answer.from && timestamp <= answer.to);
          const byBucket = (of: typeof sent) =>
            answer.buckets.map(({ starts_at, at }) =>
              numberOf(of.filter(({ timestamp }) => timestamp >= starts_at && timestamp <= at)),
            );
          expect([answer.total, answer.totals]).toEqual([numberOf(within), byBucket(within)]);
          expect(answer.series.map(({ value }) => value).sort()).toEqual(
            [...new Set(within.map(valueOf))].sort(),
          );
          for (const { value, total, values } of answer.series) {
            const own = within.filter((one) => valueOf(one) === value);
            expect([total, values]).toEqual([numberOf(own), byBucket(own)]);
          }
          expect(answer.other).toBeNull();
        }
    },
  );

  test('a day has 23 hours, days without events are there, and a type is one in both spellings', async () => {
    const { buckets, series } = await ask(
      'event_type=page_view&from=2026-03-01&to=2026-04-01&timezone=Europe/Berlin',
    );
    expect(buckets).toHaveLength(31);
    expect(buckets[28]).toEqual({
      label: '2026-03-29',
      starts_at: '2026-03-28T23:00:00.000Z',
      at: '2026-03-29T21:59:59.999Z',
    });
    expect(series.map(({ value, values }) => [value, values[0], values.length])).toEqual([
      ['Page View', 0, 31],
    ]);
  });

  test('another OU has none of them, and a wrong time or grouping is refused', async () => {
    const { body } = await rig.get('/events-analytics?from=2026-03-01&to=2026-04-01', { ou: randomUUID() });
    expect(body).toMatchObject({ total: 0, series: [], other: null });
    for (const wrong of [
      'timezone=Berlin',
      'group_by=lead',
      'granularity=minute',
      'from=1990-01-01',
      'metric=x',
    ])
      expect([wrong, (await rig.get(`/events-analytics?${wrong}`, { ou })).status]).toEqual([wrong, 400]);
  });

  test('counts by time agree with those of the seconds, in every time zone and with very many types', async () => {
    const unit = randomUUID();
    const zones = ['UTC', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns', 'Africa/Monrovia'];
    const minute = 60_000;
    const timesOf = (start: number, step: number) =>
      Array.from({ length: 60 }, (_, index) => new Date(start + index * step).toISOString());
    const events = [
      ...timesOf(Date.UTC(2025, 9, 4), 17 * minute + 77_777),
      // The spans of Monrovia began within a quarter of an hour.
      ...timesOf(Date.UTC(1971, 11, 31, 20), 11 * minute),
    ].map((timestamp, index) => ({ timestamp, event_type: ['Page View', 'Call', 'Email'][index % 3] ?? '' }));
    const manyTypes = timesOf(Date.UTC(2025, 10, 1), minute).flatMap((timestamp, index) =>
      ['x', 'y'].map((kind) => ({ timestamp, event_type: `${kind}${String(index)}` })),
    );
    const send = (sentEvents: typeof events, name: string) =>
      rig.take([
        ingest(
          sentEvents.map((event) => ({ aliases: [name], lead_id: leadOf(name, unit), ...event })),
          { ou_id: unit },
        ),
      ]);
    await send(events, 'ada');
    await send([...events.slice(0, 40), ...manyTypes], 'bob');
    const compare = async (of: typeof events) => {
      for (const timezone of zones)
        for (const [granularity, from, to] of [
          ['hour', '2025-10-04', '2025-10-06T03:10:07Z'],
          ['day', '2025-09-30', '2025-11-05'],
          ['day', '2025-10-04T05:07:30Z', '2025-11-01T00:31:00Z'],
          ['day', '1971-12-20', '1972-01-10'],
          ['week', '2025-10-01', '2025-11-10'],
          ['month', '1971-01-01', '2025-12-01'],
        ]) {
          const query = `granularity=${granularity}&from=${from}&to=${to}&timezone=${timezone}`;
          const { body } = await rig.get(`/events-analytics?${query}`, { ou: unit });
          const answer = body as unknown as routeDeclarations.EventsAnalytics;
          const byBucket = answer.buckets.map(
            ({ starts_at, at }) =>
              of.filter(({ timestamp }) => timestamp >= starts_at && timestamp <= at).length,
          );
          expect([query, answer.totals]).toEqual([query, byBucket]);
          const calls = of.filter(
            ({ event_type, timestamp }) => event_type === 'Call' && timestamp >= answer.from,
          );
          expect(answer.series.find(({ value }) => value === 'Call')?.total ?? 0).toBe(
            calls.filter(({ timestamp }) => timestamp <= answer.to).length,
          );
        }
    };
    await compare([...events, ...events.slice(0, 40), ...manyTypes]);
    const deletion = deleteLead('bob', {
      ou_id: unit,
      lead_id: leadOf('bob', unit),
      deletion_id: randomUUID(),
    });
    expect(await rig.request(deletion)).toEqual({ outcome: 'done' });
    await compare(events);
  });

  test('what the counts by time answer needs no seconds, and an edition of before has its seconds read', async () => {
    const limits = { ...routeDeclarations.analyticsLimits, seconds: 0 };
    const asked = {
      ouId: ou,
      metric: 'events',
      typeKey: null,
      spans: [{ from: '2026-03-01T00:00:00.000Z', at: '2026-04-30T23:59:59.999Z', label: '' }],
    } as const;
    const tally = SeriesTally.of('events', 1);
    await tallyTypes(rig.readModel, asked, limits, tally);
    expect(tally.result(50).total).toBe(sent.length);
    const before = { ...rig.readModel, editions: { version: () => 1 } };
    const refused = expect.objectContaining({ code: 'range_too_large' });
    await expect(tallyTypes(before, asked, limits, SeriesTally.of('events', 1))).rejects.toEqual(refused);
    const bySeconds = SeriesTally.of('events', 1);
    await tallyTypes(before, asked, routeDeclarations.analyticsLimits, bySeconds);
    expect(bySeconds.result(50)).toEqual(tally.result(50));
    await expect(
      tallyTypes(rig.readModel, asked, { ...limits, periods: 0 }, SeriesTally.of('events', 1)),
    ).rejects.toEqual(refused);
  });

  test.each(['events', 'leads'])('of some leads: their %s alone, by type and by metadata', async (metric) => {
    const names = ['ada', 'eve'];
    const leads = [...names.map((name) => leadOf(name, ou)), leadOf('ada', ou), randomUUID(), leadOf('ada')];
    for (const [group_by, valueOf] of [
      ['event_type', ({ event_type }) => (event_type === 'page_view' ? 'Page View' : event_type)],
      ['metadata.path', ({ path }) => (path === null ? null : String(path))],
    ] as [string, (one: (typeof sent)[number]) => string | null][])
      for (const only of ['', '&event_type=page_view']) {
        const time = 'from=2026-03-28&to=2026-03-31T05:00:30.500Z&timezone=Asia/Kathmandu';
        const path = `/internal/events-analytics?metric=${metric}&group_by=${group_by}&${time}${only}`;
        const { status, body } = await rig.post(path, { leads }, { ou });
        expect(status).toBe(200);
        const answer = body as unknown as routeDeclarations.EventsAnalytics;
        const within = sent.filter(
          (one) =>
            names.includes(one.alias) &&
            one.timestamp >= answer.from &&
            one.timestamp <= answer.to &&
            (only === '' || valueOf({ ...one }) === 'Page View' || /^page/i.test(one.event_type)),
        );
        const numberOf = (of: typeof sent) =>
          metric === 'events' ? of.length : new Set(of.map(({ alias }) => alias)).size;
        expect(answer.total).toBe(numberOf(within));
        expect(answer.totals).toEqual(
          answer.buckets.map(({ starts_at, at }) =>
            numberOf(within.filter(({ timestamp }) => timestamp >= starts_at && timestamp <= at)),
          ),
        );
        for (const { value, total } of answer.series)
          expect([value, total]).toEqual([value, numberOf(within.filter((one) => valueOf(one) === value))]);
      }
  });

  test('of leads with very many events it is refused', async () => {
    const asked = {
      ouId: ou,
      metric: 'events',
      typeKey: null,
      spans: [{ from: '2026-03-01T00:00:00.000Z', at: '2026-04-30T23:59:59.999Z', label: '' }],
    } as const;
    const limits = { ...routeDeclarations.analyticsLimits, eventsOfFilter: 10 };
    const tally = SeriesTally.of('events', 1);
    await expect(
      tallyLeads(rig.readModel, 'event_type', asked, [leadOf('ada', ou)], limits, tally),
    ).rejects.toMatchObject({ code: 'range_too_large', detail: expect.stringContaining('fewer leads') });
  });

  test('is a picture where Accept prefers one, with the same numbers in words', async () => {
    const path = '/events-analytics?from=2026-03-28&to=2026-03-31&timezone=Europe/Berlin';
    const { total } = (await rig.get(path, { ou })).body;
    for (const [asked, title] of [
      [path, 'Events by type, 28 March 2026 to 30 March 2026'],
      [`${path}&group_by=metadata.path`, 'Events by metadata.path, 28 March 2026 to 30 March 2026'],
      [path.replace('/events-analytics', '/event-stats'), 'Events by type, 28 March 2026 to 30 March 2026'],
      ['/event-stats', 'Events by type, of all time'],
      [`/event-stats?batch_id=${randomUUID()}`, 'Repeats, of the batches asked for'],
    ] as const) {
      const answer = await rig.open(asked, { ou, headers: { Accept: 'image/svg+xml' } });
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
        200,
        'image/svg+xml; charset=utf-8',
        'Accept',
      ]);
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      const picture = await answer.text();
      expect(picture).toContain(`<title id="picture-title">${title}</title>`);
      if (asked === path) expect(picture).toContain(`>${String(total)} events.`);
    }
    const refused = await rig.open('/events-analytics?width=10', {
      ou,
      headers: { Accept: 'image/svg+xml' },
    });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      400,
      expect.stringContaining('json'),
    ]);
  });

  test('what one answer cannot count is refused with what to narrow', async () => {
    const small = {
      periods: 2,
      seconds: 10,
      eventsOfLeads: 30,
      eventsWithMetadata: 50,
      filteredLeads: 1,
      eventsOfFilter: 1,
      quartersWithRepeats: 1,
    };
    const narrow = (timestamp: string) =>
      [{ from: '2026-03-27T00:00:00.000Z', at: timestamp, label: '' }] as [TimeSpan];
    const all = narrow('2026-05-01T00:00:00.000Z');
    const asked = { ouId: ou, metric: 'leads', typeKey: null, spans: all } as const;
    const refused = { code: 'range_too_large', detail: expect.stringContaining('Ask for a shorter time') };
    const tally = () => SeriesTally.of('leads', 1);
    await expect(tallyTypes(rig.readModel, asked, small, tally())).rejects.toMatchObject(refused);
    await expect(
      tallyTypes(rig.readModel, asked, { ...small, seconds: 1_000 }, tally()),
    ).rejects.toMatchObject(refused);
    await expect(tallyMetadata(rig.readModel, 'metadata.path', asked, small, tally())).rejects.toMatchObject(
      refused,
    );
    const first = { ...asked, spans: narrow('2026-03-27T21:40:00.000Z') };
    await tallyTypes(rig.readModel, first, small, tally());
    await tallyMetadata(rig.readModel, 'metadata.path', first, small, tally());
  });
});

describe('GET /event-stats', () => {
  let ou = randomUUID();
  const eventsOf = (unit: string) =>
    (
      [
        ['bob', 'Page View', '2026-03-28T22:30:00.000Z'],
        ['ada', 'page_view', '2026-03-28T22:59:59.999Z'],
        ['ada', 'Page View', '2026-03-28T23:00:00.000Z'],
        ['ada', 'Call', '2026-03-29T10:00:00.250Z'],
        ['bob', 'Call', '2026-03-29T10:00:00.900Z'],
        ['bob', 'Only', '2026-03-29T12:00:00.000Z'],
        ['ada', 'Form Submit', '2026-03-30T09:00:00.000Z'],
        ['bob', 'Page View', '2026-03-31T09:00:00.000Z'],
      ] as const
    ).map(([alias, event_type, timestamp], index) => ({
      aliases: [alias],
      lead_id: leadOf(alias, unit),
      event_type,
      timestamp,
      event_id: String(index),
    }));
  let sent: ReturnType<typeof eventsOf> = [];
  const batch = (events: SentEvent[]) => ingest(events, { ou_id: ou, batch_id: randomUUID() });
  const ask = async (query = '', from = ou) => {
    const { status, body } = await rig.get(`/event-stats${query}`, { ou: from });
    expect([status, body.code]).toEqual([200, undefined]);
    return body as unknown as routeDeclarations.EventStats;
  };
  const noRepeats = { repeats: 0, differing: 0, aliases_refused: 0 };
  beforeAll(async () => {
    // In one partition, so that its statistics are of events of the deleted lead and of those that stay.
    const partitionOf = (alias: string) => rig.log.partitionOf(leadOf(alias, ou));
    while (partitionOf('ada') !== partitionOf('bob')) ou = randomUUID();
    sent = eventsOf(ou);
    await rig.take([batch(sent)]);
  });

  test('of all time: the events of each type, the most frequent first, both spellings as one, with the first and the last', async () => {
    expect(await ask()).toEqual({
      ...noRepeats,
      events: 8,
      event_types: [
        ['Page View', 4, '2026-03-28T22:30:00.000Z', '2026-03-31T09:00:00.000Z'],
        ['Call', 2, '2026-03-29T10:00:00.250Z', '2026-03-29T10:00:00.900Z'],
        ['Form Submit', 1, '2026-03-30T09:00:00.000Z', '2026-03-30T09:00:00.000Z'],
        ['Only', 1, '2026-03-29T12:00:00.000Z', '2026-03-29T12:00:00.000Z'],
      ].map(([event_type, count, first_seen, last_seen]) => ({ event_type, count, first_seen, last_seen })),
      other: null,
    });
  });

  test('repeats count of all time, in the hour in which they came, and in their batch', async () => {
    const [again, other] = [
      batch([...sent]),
      batch(sent.slice(0, 1).map((one) => ({ ...one, event_type: 'Call' }))),
    ];
    await rig.take([again]);
    await rig.take([other]);
    const repeats = { repeats: 9, differing: 1, aliases_refused: 0 };
    expect(await ask()).toMatchObject({ ...repeats, events: 8 });
    expect(await ask(`?batch_id=${other.payload.batch_id}`)).toEqual({
      ...noRepeats,
      repeats: 1,
      differing: 1,
    });
    const { buckets = [], ...byHour } = await ask('?granularity=hour');
    expect(byHour).toMatchObject({ ...repeats, events: 0, event_types: [], other: null });
    expect(buckets).toHaveLength(48);
    // The hour may have changed since.
    const last = buckets.slice(-2);
    expect(last.reduce((sum, one) => sum + one.repeats, 0)).toBe(9);
    expect(last.reduce((sum, one) => sum + one.differing, 0)).toBe(1);
    expect(await ask('?from=2026-03-28&to=2026-04-01')).toMatchObject(noRepeats);
  });

  test('events of a deleted lead do not count, nor are they the first or the last; its repeats stay', async () => {
    const deletion = deleteLead('bob', { ou_id: ou, lead_id: leadOf('bob', ou), deletion_id: randomUUID() });
    expect(await rig.request(deletion)).toEqual({ outcome: 'done' });
    const left = [
      ['Page View', 2, '2026-03-28T22:59:59.999Z', '2026-03-28T23:00:00.000Z'],
      ['Call', 1, '2026-03-29T10:00:00.250Z', '2026-03-29T10:00:00.250Z'],
      ['Form Submit', 1, '2026-03-30T09:00:00.000Z', '2026-03-30T09:00:00.000Z'],
    ].map(([event_type, count, first_seen, last_seen]) => ({ event_type, count, first_seen, last_seen }));
    expect(await ask()).toEqual({
      repeats: 9,
      differing: 1,
      aliases_refused: 0,
      events: 4,
      event_types: left,
      other: null,
    });
    expect(await ask('?from=2026-03-01&to=2026-04-01')).toMatchObject({ events: 4, event_types: left });
  });

  test('by time: days of the time zone without gaps, one with 23 hours, and the first and last event within the time', async () => {
    const answer = await ask('?from=2026-03-27&to=2026-03-29T10:00:00.250Z&timezone=Europe/Berlin');
    expect(answer).toMatchObject({
      granularity: 'day',
      timezone: 'Europe/Berlin',
      from: '2026-03-26T23:00:00.000Z',
      to: '2026-03-29T10:00:00.249Z',
      events: 2,
      event_types: [
        {
          event_type: 'Page View',
          count: 2,
          first_seen: '2026-03-28T22:59:59.999Z',
          last_seen: '2026-03-28T23:00:00.000Z',
          values: [0, 1, 1],
        },
      ],
    });
    expect(answer.buckets?.map(({ label, events }) => [label, events])).toEqual([
      ['2026-03-27', 0],
      ['2026-03-28', 1],
      ['2026-03-29', 1],
    ]);
    const whole = await ask('?from=2026-03-29&to=2026-03-30&timezone=Europe/Berlin');
    expect(whole.buckets).toEqual([
      {
        label: '2026-03-29',
        starts_at: '2026-03-28T23:00:00.000Z',
        at: '2026-03-29T21:59:59.999Z',
        events: 2,
        ...noRepeats,
      },
    ]);
  });

  test('another OU has none of them, and a wrong question is refused', async () => {
    const elsewhere = randomUUID();
    const nothing = { ...noRepeats, events: 0, event_types: [], other: null };
    expect(await ask('', elsewhere)).toEqual(nothing);
    expect(await ask('?from=2026-03-01&to=2026-04-01', elsewhere)).toMatchObject(nothing);
    expect(await ask('?granularity=hour', elsewhere)).toMatchObject(nothing);
    for (const wrong of [
      'granularity=minute',
      'timezone=Berlin',
      'from=1990-01-01',
      'from=2026-04-01&to=2026-03-01',
      `batch_id=${ou}&granularity=day`,
      `batch_id=${ou}&from=2026-03-01`,
      'batch_id=x',
    ])
      expect([wrong, (await rig.get(`/event-stats?${wrong}`, { ou })).status]).toEqual([wrong, 400]);
  });

  test('types beyond those listed are counted together, a time that is too far to look for is null, and too long a time is refused', async () => {
    const few = await statsOfAllTime(rig.readModel, ou, { seconds: 1, types: 1 });
    expect(few).toMatchObject({
      event_types: [{ event_type: 'Page View', count: 2, last_seen: null }],
      other: { event_types: 2, count: 2 },
    });
    const time = { granularity: 'day', timezone: 'UTC', latest: new Date().toISOString() } as const;
    const limits = {
      periods: 100,
      seconds: 100,
      eventsOfLeads: 100,
      eventsWithMetadata: 100,
      filteredLeads: 1,
      eventsOfFilter: 1,
      quartersWithRepeats: 100,
    };
    const march = { ...time, from: '2026-03-01', to: '2026-04-01' };
    expect(await statsByTime(rig.readModel, ou, march, limits)).toMatchObject({ events: 4 });
    const refused = { code: 'range_too_large', detail: expect.stringContaining('Ask for a shorter time') };
    await expect(statsByTime(rig.readModel, ou, march, { ...limits, seconds: 2 })).rejects.toMatchObject(
      refused,
    );
    await expect(
      statsByTime(rig.readModel, ou, time, { ...limits, quartersWithRepeats: 0 }),
    ).rejects.toMatchObject(refused);
  });
});
