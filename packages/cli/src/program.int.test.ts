// The command line against a server in this process: its requests, its output and its exit codes.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { leadIdOf } from '@lead-scoring/contracts';
import { csvMapping } from './csv-mapping.js';
import { exitCodes, run } from './index.js';

const directory = mkdtempSync(join(tmpdir(), 'lead-scoring-cli-'));
const ouId = '11111111-1111-4111-8111-111111111111';
const leadId = '22222222-2222-4222-8222-222222222222';
afterAll(() => {
  rmSync(directory, { recursive: true });
});

interface ReceivedRequest {
  method: string;
  url: string;
  headers: Record<string, unknown>;
  body: unknown;
}
let server: Server;
let url: string;
let seen: ReceivedRequest[];
let answer: (request: ReceivedRequest) => {
  status?: number;
  body: unknown;
  headers?: Record<string, string>;
};

beforeEach(async () => {
  seen = [];
  server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const raw = Buffer.concat(chunks);
      const text = (req.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString();
      const request = {
        method: req.method ?? '',
        url: req.url ?? '',
        headers: req.headers,
        body: bodyOf(req.headers['content-type'] ?? '', text),
      };
      seen.push(request);
      const { status = 200, body, headers } = answer(request);
      res.writeHead(status, { 'content-type': 'application/json', ...headers });
      if (headers?.['content-type'] === undefined) res.end(JSON.stringify(body));
      // A text that ends with `!` breaks the connection before its end.
      else if (!String(body).endsWith('!')) res.end(body);
      else
        res.write(String(body).slice(0, -1), () => {
          res.destroy();
        });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function bodyOf(type: string, text: string): unknown {
  if (text === '') return null;
  if (type.startsWith('text/csv')) return text;
  if (!type.startsWith('application/x-ndjson')) return JSON.parse(text) as unknown;
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

async function command(
  words: string[],
  options: { stdin?: string; environment?: NodeJS.ProcessEnv; directory?: string } = {},
) {
  let written = '';
  let noted = '';
  const exitCode = await run(words, {
    environment: options.environment ?? {
      LEAD_SCORING_URL: url,
      LEAD_SCORING_TOKEN: 'lsp_x',
      LEAD_SCORING_OU: ouId,
    },
    directory: options.directory ?? directory,
    stdin: Readable.from([Buffer.from(options.stdin ?? '')]),
    output: { write: (text) => (written += text), note: (text) => (noted += text), terminal: null },
  });
  return { exitCode, written, noted };
}

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const taking = ({ url: path, body }: ReceivedRequest) =>
  path.startsWith('/event-stats')
    ? { body: { repeats: 0, differing: 0, aliases_refused: 0 } }
    : { status: 202, body: { accepted: (body as unknown[]).length, batch_id: leadId, position: '0-1' } };
const sentEvents = () => seen.filter(({ method }) => method === 'POST').map(({ body }) => body);
const visit = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };
const problem = (status: number, code: string) => ({
  status,
  body: { type: 'about:blank', title: 'No', status, detail: 'It is not so.', code, request_id: 'r1' },
});

describe('ingest', () => {
  test.each([
    ['JSON list', 'a.json', JSON.stringify([visit, visit])],
    ['JSON with events', 'b.json', JSON.stringify({ events: [visit, visit] }, null, 2)],
    ['NDJSON', 'c.ndjson', `${JSON.stringify(visit)}\n\n${JSON.stringify(visit)}\n`],
    ['NDJSON without an extension', 'd', `${JSON.stringify(visit)}\n${JSON.stringify(visit)}`],
    ['JSON without an extension', 'e', JSON.stringify([visit, visit], null, 2)],
    [
      'CSV with the columns of /import',
      'f.csv',
      'alias_kind,alias,event_type\r\nemail,ada@example.com,Page View\r\nemail,ada@example.com,"Page View"\r\n',
    ],
  ])('sends a file of %s', async (_, name, content) => {
    answer = taking;
    const result = await command(['ingest', file(name, content)]);
    expect([result.exitCode, result.noted]).toEqual([exitCodes.done, '']);
    expect(result.written).toContain('2 events accepted');
    expect(sentEvents()).toEqual([[visit, visit]]);
    expect(seen[0]).toMatchObject({
      url: '/ingest?partial=true',
      headers: { authorization: 'Bearer lsp_x', 'x-ou-id': ouId },
    });
  });

  test('sends standard input', async () => {
    answer = taking;
    const result = await command(['ingest', '-'], { stdin: JSON.stringify(visit) });
    expect([result.exitCode, seen[0]?.body]).toEqual([exitCodes.done, [visit]]);
  });

  describe('of history', () => {
    const path = () =>
      file('history.csv', '\ufeffE-mail,When,Times,Page\nada@example.com,2020-01-01T00:00:00Z,2,/pricing\n');
    const columns = ['--alias-column', 'E-mail', '--event-type', 'Page View', '--timestamp-column', 'When'];
    const flags = [...columns, '--repeat-column', 'Times', '--history'];
    const importing =
      (more: object = {}) =>
      (request: ReceivedRequest) =>
        request.method === 'GET'
          ? taking(request)
          : {
              status: 202,
              body: {
                accepted: (request.body as unknown[]).length,
                rejected: [],
                failed: 0,
                job_id: `ingest-${leadId}`,
                batch_id: leadId,
                position: '0-1',
                ...more,
              },
            };
    const keys = () =>
      seen.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']);

    test('is one upload, with the columns that flags name, under the name of the run', async () => {
      answer = importing();
      const result = await command(['ingest', path(), ...flags, '--run', 'march']);
      expect([result.exitCode, result.noted]).toEqual([
        exitCodes.done,
        `The import is job ingest-${leadId}.\n`,
      ]);
      expect(result.written).toMatch(/^2 events accepted .*: 2 new, 0 repeats\n$/);
      const event = { ...visit, timestamp: '2020-01-01T00:00:00Z', metadata: { page: '/pricing' } };
      expect(seen[0]).toMatchObject({ url: '/import?partial=true', headers: { 'idempotency-key': 'march' } });
      expect(seen[0]?.body).toEqual([
        { ...event, event_id: 'page_view-1' },
        { ...event, event_id: 'page_view-2' },
      ]);
    });

    test('has one key for one content read in one way in one unit, and a random one for standard input', async () => {
      answer = importing();
      await command(['ingest', path(), ...flags]);
      await command(['ingest', path(), ...flags]);
      await command(['ingest', path(), ...columns, '--history']);
      await command(['ingest', path(), ...flags, '--ou', leadId]);
      for (let n = 0; n < 2; n += 1)
        await command(['ingest', '-', '--history'], { stdin: JSON.stringify(visit) });
      const [first, again, ...others] = keys();
      expect(again).toBe(first);
      expect(new Set([first, ...others]).size).toBe(5);
    });

    test('names the lines of invalid events and counts all of them', async () => {
      const rejected = [{ index: 1, errors: [{ path: 'alias', message: 'is wrong' }] }];
      answer = importing({ accepted: 1, rejected, failed: 7_000 });
      const lines = file('h.ndjson', `${JSON.stringify(visit)}\n\n${JSON.stringify(visit)}\n`);
      const { noted, exitCode } = await command(['ingest', lines, '--history']);
      expect(exitCode).toBe(exitCodes.incomplete);
      expect(noted).toMatch(/line 3: alias is wrong\n7000 rejected/);
      const { written } = await command(['--json', 'ingest', lines, '--history']);
      expect(JSON.parse(written)).toMatchObject({
        job: `ingest-${leadId}`,
        failed: 7_000,
        rejected: [{ line: 3, index: 1 }],
      });
    });

    test('is sent again from the beginning under its key when the connection breaks', async () => {
      let tried = 0;
      answer = (request) => {
        if (request.method === 'POST') tried += 1;
        return tried < 3 && request.method === 'POST'
          ? { body: '!', headers: { 'content-type': 'text/plain' } }
          : importing()(request);
      };
      const result = await command(['ingest', path(), ...flags]);
      expect(result.written).toContain('2 events accepted');
      expect(result.noted).toContain('2 requests had to be sent again.');
      expect(keys()).toEqual([keys()[0], keys()[0], keys()[0]]);
      expect(sentEvents()[2]).toEqual(sentEvents()[0]);
    });

    test('from standard input has one try, and a failure says how to send it again', async () => {
      answer = () => problem(503, 'log_unavailable');
      const result = await command(['ingest', '-', '--history'], { stdin: JSON.stringify(visit) });
      expect([result.exitCode, seen.length]).toEqual([exitCodes.unavailable, 1]);
      expect(result.noted).toContain('--run');
    });

    test('of another content under the name of a run is refused with the remedy', async () => {
      answer = () => problem(422, 'idempotency_key_reused');
      const result = await command(['ingest', path(), ...flags, '--run', 'march']);
      expect([result.exitCode, result.noted]).toEqual([
        exitCodes.data,
        expect.stringContaining('a name of its own'),
      ]);
    });

    test('has no batches', async () => {
      const result = await command(['ingest', path(), ...flags, '--batch', '10']);
      expect([result.exitCode, seen]).toEqual([exitCodes.usage, []]);
    });
  });

  test('with --dry-run writes the events and sends nothing', async () => {
    const result = await command(['ingest', file('dry.json', JSON.stringify([visit])), '--dry-run']);
    expect([result.written, seen]).toEqual([`${JSON.stringify(visit)}\n`, []]);
  });

  test('lists the rejected events, and its exit code says that not all were accepted', async () => {
    answer = () => ({
      status: 202,
      body: {
        accepted: 1,
        rejected: [{ index: 1, errors: [{ path: 'alias', message: 'must be an e-mail address' }] }],
        batch_id: leadId,
        position: '0-1',
      },
    });
    const result = await command([
      'ingest',
      file('bad.json', JSON.stringify([visit, { ...visit, alias: 'ada' }])),
    ]);
    expect(result.exitCode).toBe(exitCodes.incomplete);
    expect(result.noted).toContain('event 2: alias must be an e-mail address');
  });

  const refusing =
    (...refused: number[]) =>
    (request: ReceivedRequest) =>
      request.method === 'GET'
        ? { body: { repeats: 0, differing: 0, aliases_refused: 0 } }
        : {
            status: 202,
            body: {
              accepted: 1,
              rejected: refused.map((index) => ({ index, errors: [{ path: 'alias', message: 'is wrong' }] })),
              batch_id: leadId,
              position: '0-1',
            },
          };

  test('names the line of each rejected event', async () => {
    answer = refusing(1, 2);
    const lines = `${JSON.stringify(visit)}\n\n${JSON.stringify(visit)}\n${JSON.stringify(visit)}\n`;
    expect((await command(['ingest', file('bad.ndjson', lines)])).noted).toMatch(
      /line 3: alias is wrong\nline 4: alias is wrong/,
    );
    const csv = 'E-mail,Times\nada@example.com,2\n"b\nc",1\n,1\n';
    const words = ['--alias-column', 'E-mail', '--event-type', 'Visit', '--repeat-column', 'Times'];
    const { noted } = await command(['ingest', file('bad.csv', csv), ...words]);
    // The second event of line 2, the row that ends in line 4, and the row that could not be sent.
    expect(noted).toMatch(/line 5: E-mail is empty\nline 2: alias is wrong\nline 4: alias is wrong/);
  });

  test('names the first line of a batch that was refused as a whole', async () => {
    answer = () => problem(413, 'body_too_large');
    const result = await command(['ingest', file('whole.ndjson', `\n${JSON.stringify(visit)}\n`)]);
    expect([result.exitCode, result.noted]).toEqual([
      exitCodes.data,
      expect.stringContaining('line 2 of the file'),
    ]);
  });

  describe('repeats', () => {
    const batch = (number: number) => `2222222${String(number)}-2222-4222-8222-222222222222`;

    test('are counted separately from new events, once all are decided, for many batches at a time', async () => {
      let sent = 0;
      answer = ({ method, body }) => {
        if (method === 'GET') return { body: { repeats: 30, differing: 0, aliases_refused: 0 } };
        sent += 1;
        const accepted = (body as unknown[]).length;
        return { status: 202, body: { accepted, batch_id: batch(sent % 10), position: `0-${String(sent)}` } };
      };
      const events = file('many.json', JSON.stringify(Array.from({ length: 60 }, () => visit)));
      const result = await command(['ingest', events, '--batch', '1', '--concurrency', '1']);
      expect(result.written).toMatch(/^60 events accepted in .*: 0 new, 60 repeats\n$/);
      const asked = seen
        .filter(({ method }) => method === 'GET')
        .map(({ url: path }) => new URL(path, url).searchParams);
      expect(asked.map((query) => query.get('batch_id')?.split(',').length)).toEqual([50, 10]);
      expect(asked.map((query) => query.get('min_position'))).toEqual(['0-60', '0-60']);
    });

    test('are all events of a batch that was sent before under the same key', async () => {
      answer = (request) => ({ ...taking(request), headers: { 'idempotent-replayed': 'true' } });
      const result = await command(['ingest', file('again.json', JSON.stringify([visit])), '--run', 'march']);
      expect(result.written).toContain('0 new, 1 repeats');
      expect(seen.filter(({ method }) => method === 'GET')).toEqual([]);
    });

    test('that cannot be counted are no failure: the events are accepted', async () => {
      answer = (request) => (request.method === 'GET' ? problem(403, 'role_not_allowed') : taking(request));
      const result = await command(['ingest', file('blind.json', JSON.stringify([visit]))]);
      expect([result.exitCode, result.written]).toEqual([
        exitCodes.done,
        expect.stringContaining('1 events accepted'),
      ]);
      expect(result.noted).toContain('The number of repeats among them is not known yet: It is not so.');
    });

    test('are in the JSON output as well', async () => {
      answer = (request) =>
        request.method === 'GET'
          ? { body: { repeats: 1, differing: 1, aliases_refused: 3 } }
          : taking(request);
      const { written } = await command(['--json', 'ingest', file('j.json', JSON.stringify([visit, visit]))]);
      expect(JSON.parse(written)).toMatchObject({
        accepted: 2,
        new: 1,
        repeats: 1,
        differing: 1,
        aliases_refused: 3,
      });
    });

    test('aliases that were not linked are reported', async () => {
      answer = (request) =>
        request.method === 'GET'
          ? { body: { repeats: 0, differing: 0, aliases_refused: 3 } }
          : taking(request);
      const { noted } = await command(['ingest', file('full.json', JSON.stringify([visit]))]);
      expect(noted).toContain('3 aliases were not linked');
    });
  });

  describe('an empty cell where the time should be', () => {
    const csv = 'E-mail,When\nada@example.com,\n';
    const words = [
      '--alias-column',
      'E-mail',
      '--event-type',
      'Visit',
      '--timestamp-column',
      'When',
      '--dry-run',
    ];

    test('is an error that names the remedy', async () => {
      const result = await command(['ingest', file('when.csv', csv), ...words]);
      expect([result.exitCode, result.written]).toEqual([exitCodes.incomplete, '']);
      expect(result.noted).toMatch(/line 2: When is empty: .*--empty-timestamp now/);
    });

    test('means the time of sending with --empty-timestamp now', async () => {
      const result = await command(['ingest', file('when.csv', csv), ...words, '--empty-timestamp', 'now']);
      expect(JSON.parse(result.written)).toEqual({
        alias_kind: 'email',
        alias: 'ada@example.com',
        event_type: 'Visit',
      });
    });

    test('is treated the same in a CSV with the columns of /import', async () => {
      const plain = file(
        'plain-when.csv',
        'alias_kind,alias,event_type,timestamp\nemail,a@example.com,Visit,\n',
      );
      const refused = await command(['ingest', plain, '--dry-run']);
      expect([refused.exitCode, refused.noted]).toEqual([
        1,
        expect.stringContaining('line 2: timestamp is empty'),
      ]);
      const taken = await command(['ingest', plain, '--dry-run', '--empty-timestamp', 'now']);
      expect(JSON.parse(taken.written)).toMatchObject({ alias: 'a@example.com' });
    });
  });

  test('warns about a column that resembles a field of the lead under another name, with the entry for rename', async () => {
    answer = taking;
    const csv = file('names.csv', 'E-mail,Full Name,Company\nada@example.com,Ada Lovelace,Acme\n');
    const words = ['--alias-column', 'E-mail', '--event-type', 'Visit'];
    const { noted } = await command(['ingest', csv, ...words]);
    expect(noted).toContain(
      '"Full Name" becomes the metadata key full_name, which is not a field of the lead',
    );
    expect(noted).toContain('"rename": {"Full Name": "name"}');
    expect(noted).not.toContain('"Company"');
  });

  test('keeps the columns of --text-columns as text', async () => {
    const csv = file('text.csv', 'E-mail,Code,Amount\nada@example.com,12,3\n');
    const words = ['--alias-column', 'E-mail', '--event-type', 'Visit', '--dry-run'];
    const metadata = async (...more: string[]) =>
      (JSON.parse((await command(['ingest', csv, ...words, ...more])).written) as { metadata: unknown })
        .metadata;
    expect(await metadata('--text-columns', 'Code')).toEqual({ code: '12', amount: 3 });
    expect(await metadata('--text-columns', 'all')).toEqual({ code: '12', amount: '3' });
  });

  describe('--init-mapping', () => {
    const csv =
      'Prospect ID,TotalVisits,Last Activity,Full Name,Source\n' +
      'p-1,2,Email Opened,Ada,Select\np-2,0,Page Visited,Bob,Ads\np-3,1,Email Opened,Eve,Ads\n';

    test('writes a mapping with which the same file can be sent', async () => {
      const path = file('init.csv', csv);
      const to = join(directory, 'proposed.mapping.json');
      const proposed = await command(['ingest', path, '--init-mapping', to]);
      expect([proposed.exitCode, proposed.written]).toEqual([exitCodes.done, '']);
      expect(proposed.noted).toContain('3 rows give 6 events');
      answer = taking;
      const sent = await command(['ingest', path, '--mapping', to]);
      expect([sent.exitCode, sent.noted]).toEqual([exitCodes.done, '']);
      expect(sentEvents()).toMatchObject([
        [
          { alias: 'p-1', event_type: 'Email Opened', event_id: 'Email Opened', metadata: { name: 'Ada' } },
          { alias: 'p-1', event_type: 'Page View', event_id: 'page_view-1' },
          { alias: 'p-1', event_type: 'Page View', event_id: 'page_view-2' },
          { alias: 'p-2', event_type: 'Page Visited', metadata: { name: 'Bob', source: 'Ads' } },
          { alias: 'p-3', event_type: 'Email Opened' },
          { alias: 'p-3', event_type: 'Page View' },
        ],
      ]);
      const again = await command(['ingest', path, '--init-mapping', to]);
      expect([again.exitCode, again.noted]).toEqual([
        exitCodes.usage,
        expect.stringContaining('exists already'),
      ]);
    });

    test('without a file name writes the mapping to standard output, and sends nothing', async () => {
      const { written } = await command(['ingest', file('init.csv', csv), '--init-mapping']);
      expect(JSON.parse(written)).toMatchObject({ alias: { kind: 'external_id', column: 'Prospect ID' } });
      expect(seen).toEqual([]);
    });

    test('fails for a file in which no column names the leads', async () => {
      const result = await command(['ingest', file('no-lead.csv', 'a,b\n1,2\n1,2\n'), '--init-mapping']);
      expect([result.exitCode, result.noted]).toEqual([
        exitCodes.data,
        expect.stringContaining('no column names the leads'),
      ]);
    });
  });

  test('--help shows a valid mapping', async () => {
    const { written } = await command(['ingest', '--help']);
    const example = written.slice(written.indexOf('\n  {\n'), written.indexOf('\n  }\n') + 5);
    expect(csvMapping.safeParse(JSON.parse(example)).error).toBeUndefined();
  });

  test.each<[string, string, string, number, string]>([
    ['a file that is not there', 'gone.json', '', exitCodes.data, 'There is no file'],
    ['a broken line', 'broken.ndjson', `${JSON.stringify(visit)}\n{`, exitCodes.data, 'Line 2 is not JSON'],
    ['a CSV without a mapping', 'plain.csv', 'a,b\n1,2\n', exitCodes.data, '--mapping'],
  ])('refuses %s', async (_, name, content, exitCode, sentence) => {
    answer = taking;
    const path = content === '' ? join(directory, name) : file(name, content);
    const result = await command(['ingest', path]);
    expect([result.exitCode, result.noted]).toEqual([exitCode, expect.stringContaining(sentence)]);
  });
});

test('leads are a table, or JSON', async () => {
  const lead = {
    id: leadId,
    name: 'Ada\u001b[31m',
    aliases: [],
    score: 87,
    scores: { engagement: 87, profile: 40 },
    profile_level: { id: leadId, name: 'Best fit', color: '#2b8a3e' },
    level: { id: leadId, name: 'Hot', color: '#e8590c' },
    rulesets: [],
    event_count: 3,
    last_activity_at: '2026-01-31T09:30:00.000Z',
    created_at: '2026-01-31T09:30:00.000Z',
  };
  answer = () => ({ body: { data: [lead], total: 1, page: 1, limit: 25 } });
  const shown = await command([
    'leads',
    '--min-score',
    '10',
    '--level',
    'Hot',
    '--grid',
    'a1',
    '--search',
    'ada',
  ]);
  expect(shown.written.split('\n')[1]).toMatch(/^ {3}87 {2}Hot {4}Ada \[31m .*2026-01-31 09:30/);
  expect(seen[0]?.url).toBe('/leads?limit=25&page=1&sort=-score&min_score=10&level=Hot&grid=A1&q=ada');
  expect(JSON.parse((await command(['--json', 'leads'])).written)).toMatchObject({ total: 1 });
  const byProfile = await command(['leads', '--score-type', 'profile']);
  expect(byProfile.written.split('\n')[1]).toMatch(/^ {3}40 {2}Best fit {2}Ada/);
  expect(seen.at(-1)?.url).toBe('/leads?limit=25&page=1&sort=-score&score_type=profile');
  const byAccount = await command(['leads', '--score-type', 'account']);
  expect(byAccount.written.split('\n')[1]).toMatch(/^ {4}0 {9}Ada/);
});

describe('jobs', () => {
  const job = {
    id: `notification-${leadId}`,
    kind: 'redelivery',
    status: 'running',
    total: 600,
    done: 250,
    failed: 2,
    rate: 50,
    eta: '2026-01-31T09:30:07.000Z',
    started_at: '2026-01-31T09:29:55.000Z',
    ended_at: null,
  };
  const listOf = (...data: unknown[]) => ({ body: { data, total: data.length, page: 1, limit: 25 } });

  test('are a table with their progress, or JSON', async () => {
    const ended = { ...job, status: 'failed', total: null, ended_at: '2026-01-31T10:00:00.000Z', eta: null };
    answer = () => listOf(job, ended);
    const { exitCode, written, noted } = await command(['jobs', '--status', 'running', '--limit', '5']);
    expect(exitCode).toBe(exitCodes.done);
    expect(seen[0]?.url).toBe('/jobs?limit=5&page=1&status=running');
    const [, running, failed] = written.split('\n');
    expect(running).toMatch(/^running +redelivery +250\/600 +2 .*about .*notification-2222/);
    expect(failed).toMatch(/^failed +redelivery +250 +2 /);
    expect(failed).not.toContain('about');
    expect(noted).toBe('2 of 2 jobs\n');
    expect(JSON.parse((await command(['--json', 'jobs'])).written)).toMatchObject({ total: 2 });
  });

  test('of a service that does not answer are said to be missing', async () => {
    answer = () => ({ body: { ...listOf(job).body, unavailable: ['scoring'] } });
    const { exitCode, noted } = await command(['jobs']);
    expect([exitCode, noted]).toEqual([
      exitCodes.done,
      expect.stringContaining('Jobs of scoring are missing'),
    ]);
  });

  test('that do not exist are said so; an unknown status is wrong usage', async () => {
    answer = () => listOf();
    expect(await command(['jobs'])).toMatchObject({ exitCode: exitCodes.done, written: 'No jobs.\n' });
    expect(await command(['jobs', '--status', 'queued'])).toMatchObject({
      exitCode: exitCodes.usage,
      noted: expect.stringContaining('--status must be one of running, completed, failed, cancelled'),
    });
    expect(seen).toHaveLength(1);
  });
});

/** The id of the job that `startingJob` answers. */
const jobId = `scoring-${leadId}`;
/** A POST begins a job, which is in the next of these stages whenever it is looked at; other reads have `others`. */
function startingJob(
  stages: object[],
  others: (path: string) => ReturnType<typeof answer> | null = () => null,
) {
  const times = { started_at: '2026-01-31T09:29:55.000Z', ended_at: null };
  const job = { id: jobId, kind: 'a kind', failed: 0, errors: [], rate: null, eta: null, ...times };
  const left = [...stages];
  answer = ({ method, url: path }) => {
    if (method === 'POST') return { status: 202, body: { job_id: jobId } };
    return others(path) ?? { body: { ...job, ...left.shift() } };
  };
}
const running = { status: 'running', total: 10, done: 5 };
const completed = { status: 'completed', total: 10, done: 10 };
const failed = {
  status: 'failed',
  total: 10,
  done: 0,
  errors: [{ code: 'step_failed', message: 'Step 1 failed.' }],
};
/** Moves of leads in the results of jobs that compare them. */
const moves = {
  configuration_version: 7,
  overtaken: false,
  leads: 1_200,
  rising: 2,
  falling: 1,
  unchanged: 1_197,
  level_changes: 1,
};
const hot = { id: leadId, name: 'Hot' };
const posted = () => seen.filter(({ method }) => method === 'POST').map(({ url: path }) => path);

describe('rescore', () => {
  const result = {
    dry_run: true,
    ...moves,
    now: { distribution: [], levels: [{ ...hot, leads: 3 }] },
    rescored: { distribution: [], levels: [{ ...hot, leads: 4 }] },
    movers: [
      {
        lead_id: leadId,
        name: 'Ada\u001b[31m',
        now: 27,
        rescored: 53,
        why: [{ kind: 'rule', id: leadId, label: 'Pricing', now: 14, rescored: 40 }],
      },
    ],
  };
  const rulesets = [
    { id: leadId, name: 'Intent', score_type: 'engagement' },
    { id: ouId, name: 'Companies', score_type: 'account' },
  ];
  const starting = (...stages: object[]) => {
    startingJob(stages, (path) =>
      path.startsWith('/rulesets') ? { body: { data: rulesets, total: 2 } } : null,
    );
  };

  test('waits for its job, and says who would rise and fall and why', async () => {
    starting(running, { ...completed, result });
    const { exitCode, written, noted } = await command(['rescore', 'scores', '--dry-run']);
    expect(exitCode).toBe(exitCodes.done);
    expect(posted()).toEqual(['/backfill/scores?dry_run=true']);
    expect(noted).toContain(jobId);
    expect(written).toContain(
      'Of 1,200 leads 2 would rise, 1 fall and 1,197 stay; 1 would be in another level.',
    );
    expect(written).toMatch(/Hot +3 +4/);
    expect(written).toMatch(/27 +53 {2}Ada \[31m +Pricing 14 → 40/);
  });

  test('of profiles, and of a ruleset by its name, asks for that; as JSON it writes the job', async () => {
    starting({ ...completed, result });
    await command(['rescore', 'profiles', '--dry-run']);
    starting({ ...completed, result });
    const { written } = await command(['--json', 'rescore', 'intent', '--dry-run']);
    expect(posted()).toEqual([
      '/backfill/profiles?dry_run=true',
      `/scoring/rulesets/engagement/${leadId}/score-now?dry_run=true`,
    ]);
    expect(JSON.parse(written)).toMatchObject({ status: 'completed', result: { rising: 2 } });
  });

  test('says why a job that has failed did, and what to name in place of a ruleset that it cannot take', async () => {
    starting(failed);
    expect(await command(['rescore', 'scores', '--dry-run'])).toMatchObject({
      exitCode: exitCodes.incomplete,
      noted: expect.stringContaining('The job is failed: Step 1 failed.'),
    });
    for (const [what, sentence] of [
      ['unknown', 'Name scores, profiles, or one of: Intent, Companies'],
      ['Companies', 'a ruleset of account scores'],
    ] as const)
      expect(await command(['rescore', what, '--dry-run'])).toMatchObject({
        exitCode: exitCodes.data,
        noted: expect.stringContaining(sentence),
      });
    expect(posted()).toHaveLength(1);
  });

  test('without a dry run says that the new scores are in force', async () => {
    starting(running, { ...completed, result: { ...result, dry_run: false } });
    const { exitCode, written } = await command(['rescore', 'scores', '--fire-triggers']);
    expect(exitCode).toBe(exitCodes.done);
    expect(posted()).toEqual(['/backfill/scores?fire_triggers=true']);
    expect(written).toContain(
      'Of 1,200 leads 2 rose, 1 fell and 1,197 stayed; 1 came into another level. The new scores are in force.',
    );
  });
});

describe('backfill accounts', () => {
  const result = {
    ...{ dry_run: true, joining: 1_200, moving: 3 },
    ...{ refreshed: 20, unchanged: 0, without_account: 7 },
  };

  test('waits for its job, and says how many leads come to an account', async () => {
    startingJob([running, { ...completed, result }], () => null);
    const { exitCode, written, noted } = await command(['backfill', 'accounts', '--dry-run']);
    expect(exitCode).toBe(exitCodes.done);
    expect(posted()).toEqual(['/backfill/accounts?dry_run=true&fire_triggers=false']);
    expect(noted).toContain(jobId);
    expect(written).toBe(
      '1,200 leads come to an account, 3 to another one, 20 count anew in theirs, 0 stay as they are, and 7 belong to none. Nothing was changed.\n',
    );
  });

  test('lets triggers fire only where asked to, and says why a job that has failed did', async () => {
    startingJob([{ ...completed, result: { ...result, dry_run: false } }], () => null);
    const { written } = await command(['backfill', 'accounts', '--fire-triggers']);
    expect(written).not.toContain('Nothing was changed');
    startingJob([failed], () => null);
    expect(await command(['backfill', 'accounts'])).toMatchObject({
      exitCode: exitCodes.incomplete,
      noted: expect.stringContaining('The job is failed: Step 1 failed.'),
    });
    expect(posted()).toEqual([
      '/backfill/accounts?dry_run=false&fire_triggers=true',
      '/backfill/accounts?dry_run=false&fire_triggers=false',
    ]);
  });
});

describe('backfill event-types', () => {
  const differing = {
    ...{ event_type: 'Page View', events_before: 77, events_after: 3 },
    ...{ counts: true, times: false, properties: true },
  };
  const result = { dry_run: true, differing: [differing], has_more: true, list_differed: true };
  test('says what differed, and asks for a dry run', async () => {
    startingJob([running, { ...completed, result }], () => null);
    const { exitCode, written } = await command(['backfill', 'event-types', '--dry-run']);
    expect([exitCode, posted()]).toEqual([exitCodes.done, ['/backfill/event-types?dry_run=true']]);
    expect(written).toMatch(
      /Page View +77 +3 +counts, properties\nMore types differed\.\n.*Nothing was changed/s,
    );
  });

  test('says so when nothing did', async () => {
    const same = { dry_run: false, differing: [], has_more: false, list_differed: false };
    startingJob([{ ...completed, result: same }], () => null);
    const { written } = await command(['backfill', 'event-types']);
    expect(written).toBe('Nothing differs from a fresh count.\n');
  });
});

describe('backfill levels', () => {
  const nobody = { entering: 0, moving: 0, leaving: 0, unchanged: 0, levels: [] };
  const hot = { id: '5a4b7c1e-0000-4000-8000-000000000001', name: 'Hot', leads: 1_200, told: 0 };
  const engagement = { ...nobody, entering: 1_200, unchanged: 7, levels: [hot] };
  const result = { dry_run: true, engagement, profile: nobody };

  test('waits for its job, and says of how many leads the level would be told', async () => {
    startingJob([running, { ...completed, result }], () => null);
    const { exitCode, written } = await command(['backfill', 'levels', '--dry-run']);
    expect(exitCode).toBe(exitCodes.done);
    expect(posted()).toEqual(['/backfill/levels?dry_run=true']);
    expect(written.split('\n')).toEqual([
      'By engagement score, 1,200 leads come into a level, 0 into another one, 0 leave theirs, and of 7 the level was told.',
      'LEVEL  TOLD  LEADS',
      'Hot       0  1,200',
      'By profile score, 0 leads come into a level, 0 into another one, 0 leave theirs, and of 0 the level was told.',
      'Nothing was told.',
      '',
    ]);
  });

  test('says why a job that has failed did', async () => {
    startingJob([failed], () => null);
    expect(await command(['backfill', 'levels'])).toMatchObject({
      exitCode: exitCodes.incomplete,
      noted: expect.stringContaining('The job is failed: Step 1 failed.'),
    });
    expect(posted()).toEqual(['/backfill/levels?dry_run=false']);
  });
});

describe('what-if', () => {
  const side = {
    distribution: [],
    auc: 0.6,
    auc_interval: { low: 0.55, high: 0.65 },
    lift_top_decile: 1.5,
    at_threshold: { threshold: 20, leads: 1_100, precision: 0.125, recall: 1 },
  };
  const draftSide = {
    ...side,
    auc: 0.8234,
    auc_interval: { low: 0.7961, high: 0.85 },
    lift_top_decile: 3,
    at_threshold: { threshold: 20, leads: 0, precision: null, recall: 0 },
  };
  const result = {
    ...moves,
    live: { ...side, levels: [{ ...hot, leads: 3 }] },
    draft: { ...draftSide, levels: [{ id: ouId, name: 'Blazing', leads: 4 }] },
    movers: [
      {
        lead_id: leadId,
        name: 'Ada\u001b[31m',
        live: 27,
        draft: 53,
        why: [
          { kind: 'rule', id: leadId, label: 'Pricing', live: 14, draft: 40 },
          { kind: 'decay', label: 'Old', live: 3, draft: 0 },
        ],
      },
    ],
    triggers: [{ id: leadId, name: 'Hot\u001b[31m lead', kind: 'milestone', live: 1_200, draft: 3 }],
  };
  const form = `# what if pricing counted more
changes:
  - op: add
    rule: { event_type: Page View, weight: 0, label: Pricing }
outcome: { event_type: Deal Won }
threshold: 20
`;

  test('sends the file, waits for its job, and says who would move and why, and how well each side finds the outcome', async () => {
    startingJob([running, { ...completed, result }]);
    const { exitCode, written, noted } = await command(['what-if', file('draft.yaml', form)]);
    expect(exitCode).toBe(exitCodes.done);
    expect(seen[0]).toMatchObject({
      url: '/scoring/what-if',
      body: {
        changes: [{ op: 'add', rule: { event_type: 'Page View', weight: 0, label: 'Pricing' } }],
        outcome: { event_type: 'Deal Won' },
        threshold: 20,
      },
    });
    expect(noted).toContain(`Job ${jobId} replays the history. It goes on if this command is interrupted.`);
    expect(noted).toContain(`what-if apply ${jobId}`);
    expect(written)
      .toBe(`Of 1,200 leads 2 would rise, 1 fall and 1,197 stay; 1 would be in another level. Nothing was changed.

LEVEL    LIVE  DRAFT
Hot         3
Blazing            4

LIVE  DRAFT  NAME      WHY
  27     53  Ada [31m  Pricing 14 → 40, Old 3 → 0

OUTCOME                           LIVE                    DRAFT
AUC (95 % interval)               0.600 (0.550 to 0.650)  0.823 (0.796 to 0.850)
lift of the best tenth            1.50                    3.00
leads with 20 points or more      1,100                   0
precision with 20 points or more  12.5 %                  none
recall with 20 points or more     100 %                   0 %

TRIGGER        KIND        LIVE  DRAFT
Hot [31m lead  milestone  1,200      3
`);
  });

  test('without an outcome it has no figures about one; where all leads are of one kind there is no AUC', async () => {
    const bare = { distribution: [], levels: [] };
    startingJob([{ ...completed, result: { ...result, movers: [], triggers: [], live: bare, draft: bare } }]);
    const { written } = await command(['what-if', '-'], { stdin: '{"changes":[]}' });
    expect(seen[0]?.body).toEqual({ changes: [] });
    expect(written.split('\n')).toHaveLength(2);
    const oneKind = { ...bare, auc: null, auc_interval: null, lift_top_decile: null };
    startingJob([
      { ...completed, result: { ...result, movers: [], triggers: [], live: oneKind, draft: oneKind } },
    ]);
    const judged = (await command(['what-if', '-'], { stdin: '{"changes":[]}' })).written;
    expect(judged).toMatch(/AUC \(95 % interval\) +none +none\nlift of the best tenth +none +none\n$/);
  });

  test('one that a change of the rules overtook says so, and does not advise to apply it', async () => {
    startingJob([{ ...completed, result: { ...result, overtaken: true } }]);
    const { exitCode, written, noted } = await command(['what-if', file('draft.yaml', form)]);
    expect(exitCode).toBe(exitCodes.done);
    expect(written).toContain('The rules have changed since');
    expect(noted).not.toContain('apply');
  });

  test('as JSON it writes the job; of one that was cancelled or has failed the exit code is 1, with the reason', async () => {
    startingJob([{ ...completed, result }]);
    const { written } = await command(['--json', 'what-if', file('draft.yaml', form)]);
    expect(JSON.parse(written)).toMatchObject({ status: 'completed', result: { rising: 2 } });
    startingJob([failed]);
    expect(await command(['what-if', file('draft.yaml', form)])).toMatchObject({
      exitCode: exitCodes.incomplete,
      written: '',
      noted: expect.stringContaining('The job is failed: Step 1 failed.'),
    });
    startingJob([{ ...completed, status: 'cancelled' }]);
    expect(await command(['what-if', file('draft.yaml', form)])).toMatchObject({
      exitCode: exitCodes.incomplete,
      noted: expect.stringContaining('The job is cancelled.'),
    });
  });

  test('a fault is shown with its line in the file, and a file that is not there sends nothing', async () => {
    const errors = [{ path: 'body.changes[0].rule.weight', message: 'must not be 0' }];
    answer = () => ({ status: 400, body: { ...problem(400, 'invalid_request').body, errors } });
    const refused = await command(['what-if', file('draft.yaml', form)]);
    expect([refused.exitCode, refused.noted]).toEqual([
      exitCodes.data,
      expect.stringContaining('line 4, changes number 1, rule, weight: must not be 0'),
    ]);
    seen = [];
    expect((await command(['what-if', join(directory, 'none.yaml')])).exitCode).toBe(exitCodes.data);
    expect((await command(['what-if'])).exitCode).toBe(exitCodes.usage);
    expect(seen).toEqual([]);
  });

  test('apply makes the draft of a job live, and says what refused it', async () => {
    answer = () => ({ body: { job_id: jobId, version: 8 } });
    const { exitCode, written } = await command(['what-if', 'apply', jobId]);
    expect([exitCode, posted()]).toEqual([exitCodes.done, [`/scoring/what-if/${jobId}/apply`]]);
    expect(written).toContain('the configuration has version 8');
    expect(JSON.parse((await command(['--json', 'what-if', 'apply', jobId])).written)).toEqual({
      job_id: jobId,
      version: 8,
    });
    answer = () => problem(409, 'rules_changed');
    expect(await command(['what-if', 'apply', jobId])).toMatchObject({
      exitCode: exitCodes.data,
      noted: expect.stringContaining('It is not so.'),
    });
  });

  describe('challenger', () => {
    const challenger = {
      ...{ id: leadId, name: 'Pricing\u001b[31m', started_at: '2026-01-01T00:00:00.000Z' },
      ...{ score_type: 'engagement', configuration_version: 7, overtaken: false },
      as_of: '2026-02-01T00:00:00.000Z',
    };
    const changes = {
      ...{ id: leadId, dry_run: false, version: 8, total: 1 },
      sections: [{ section: 'engagement_rulesets', added: 1, changed: 0, removed: 0 }],
      changes: [{ section: 'engagement_rulesets', kind: 'rule', action: 'add', name: 'Pricing' }],
    };

    test('start sends the file with the given name, and says how to see the figures', async () => {
      answer = () => ({ status: 201, body: { ...challenger, as_of: null } });
      const { exitCode, written } = await command([
        ...['challenger', 'start', '--name', 'Shadow'],
        file('draft.yaml', form),
      ]);
      expect(exitCode).toBe(exitCodes.done);
      expect(seen[0]).toMatchObject({
        url: '/scoring/challengers',
        body: { name: 'Shadow', outcome: { event_type: 'Deal Won' } },
      });
      expect(written).toContain(`challenger show ${leadId}`);
      answer = () => problem(409, 'limit_reached');
      const refused = await command(['challenger', 'start', file('draft.yaml', form)]);
      expect(refused.exitCode).toBe(exitCodes.data);
    });

    test('list and show say what runs, up to when, and the figures of a what-if', async () => {
      answer = () => ({ body: { data: [challenger] } });
      const listed = await command(['challenger', 'list']);
      expect(listed.written).toContain(`${leadId}  Pricing [31m  2026-01-01`);
      answer = () => ({ body: { data: [] } });
      expect((await command(['challenger', 'list'])).noted).toContain('No challenger runs.');
      answer = () => ({ body: { ...challenger, changes: [], figures: result } });
      const shown = await command(['challenger', 'show', leadId]);
      expect(shown.written).toContain('Of 1,200 leads 2 would rise, 1 fall and 1,197 stay');
      expect(shown.noted).toContain(`challenger apply ${leadId}`);
      expect(JSON.parse((await command(['--json', 'challenger', 'show', leadId])).written)).toMatchObject({
        figures: { leads: 1_200 },
      });
      answer = () => ({ body: { ...challenger, as_of: null, changes: [], figures: null } });
      expect((await command(['challenger', 'show', leadId])).noted).toContain('no figures yet');
    });

    test('apply says what changes, as a dry run first, and end ends it', async () => {
      answer = () => ({ body: { ...changes, dry_run: true } });
      const dry = await command(['challenger', 'apply', leadId, '--dry-run']);
      expect(dry.exitCode).toBe(exitCodes.incomplete);
      expect(dry.written).toContain('engagement_rulesets: 1 added');
      answer = () => ({ body: changes });
      const applied = await command(['challenger', 'apply', leadId]);
      expect([applied.exitCode, posted()]).toEqual([
        exitCodes.done,
        [
          `/scoring/challengers/${leadId}/apply?dry_run=true`,
          `/scoring/challengers/${leadId}/apply?dry_run=false`,
        ],
      ]);
      expect(applied.noted).toContain('the configuration has version 8');
      answer = () => ({ status: 204, body: undefined });
      expect((await command(['challenger', 'end', leadId])).exitCode).toBe(exitCodes.done);
      answer = () => problem(404, 'challenger_not_found');
      expect((await command(['challenger', 'end', leadId])).exitCode).toBe(exitCodes.data);
    });
  });
});

describe('suggest', () => {
  const support = {
    with: { leads: 200, won: 50 },
    without: { leads: 1_000, won: 40 },
    odds_ratio: 2.296,
  };
  const goneId = '33333333-3333-4333-8333-333333333333';
  const changes = [
    { op: 'add', rule: { event_type: 'Form Submit', weight: 12, max_count: 1 } },
    { op: 'change', rule_id: leadId, rule: { weight: 5, max_count: 1 } },
    { op: 'change', rule_id: goneId, rule: { active: false } },
  ];
  const result = {
    changes,
    support: [support, support, { ...support, with: { leads: 0, won: 0 }, odds_ratio: 1 }],
    learned_from: { leads: 1_200, won: 90 },
    held_out: {
      leads: 400,
      won: 30,
      auc: 0.8,
      auc_interval: { low: 0.7, high: 0.9 },
      live: { auc: null, auc_interval: null },
    },
    configuration_version: 7,
    overtaken: false,
  };
  const rules = (path: string) => {
    if (path === `/rules/${leadId}`) return { body: { id: leadId, event_type: 'Page View', label: 'Views' } };
    return path.startsWith('/rules/') ? problem(404, 'rule_not_found') : null;
  };
  const words = ['suggest', '--outcome', 'Deal Won'];

  test('waits for its job, and shows each change with its support and effect, and the AUC on leads held out', async () => {
    startingJob([running, { ...completed, result }], rules);
    const { exitCode, written, noted } = await command(words);
    expect(exitCode).toBe(exitCodes.done);
    expect(seen[0]).toMatchObject({
      url: '/scoring/suggest',
      body: { outcome: { event_type: 'Deal Won' }, dimension: 'engagement' },
    });
    expect(noted).toContain(`Job ${jobId} learns from the history.`);
    expect(written).toBe(`Learned from 1,200 leads, of which 90 had the outcome.

CHANGE      POINTS  RULE                                  OUTCOME WITH IT       WITHOUT    ODDS
add             12  Form Submit                               25 % of 200  4 % of 1,000  × 2.30
change           5  Views                                     25 % of 200  4 % of 1,000  × 2.30
switch off          33333333-3333-4333-8333-333333333333                   4 % of 1,000  × 1.00

Of 400 leads that were held out, 30 had the outcome. AUC of the suggestion: 0.800 (0.700 to 0.900); of the live rules: none.
`);
  });

  test('a rule without a label is named by its conditions; --dimension profile asks for profile rules', async () => {
    const conditions = [{ field: 'title', operator: 'equals', value: 'CTO' }];
    const added = [{ op: 'add', rule: { ruleset_id: ouId, conditions, weight: 7 } }];
    startingJob([{ ...completed, result: { ...result, changes: added, support: [support] } }]);
    const { written } = await command([...words, '--dimension', 'profile']);
    expect(seen[0]?.body).toMatchObject({ dimension: 'profile' });
    expect(written).toMatch(/^add +7 +title .*"CTO"/m);
  });

  test.each(['engagement', 'profile'])(
    '--out writes what what-if takes, with the %s score',
    async (dimension) => {
      startingJob([{ ...completed, result }], rules);
      const out = join(directory, `suggested-${dimension}.yaml`);
      const { exitCode, noted } = await command([...words, '--dimension', dimension, '--out', out]);
      expect([exitCode, noted]).toEqual([exitCodes.done, expect.stringContaining(`what-if ${out}`)]);
      startingJob([failed]);
      seen = [];
      await command(['what-if', out]);
      expect(seen[0]?.body).toEqual({ score_type: dimension, outcome: { event_type: 'Deal Won' }, changes });
      seen = [];
      expect(await command([...words, '--out', out])).toMatchObject({
        exitCode: exitCodes.usage,
        noted: expect.stringContaining('exists already'),
      });
      expect((await command([...words, '--out', join(directory, 'none', 'x.yaml')])).exitCode).toBe(
        exitCodes.data,
      );
      expect(seen).toEqual([]);
    },
  );

  test('says when nothing is suggested, and when the rules have changed since; as JSON it writes the job', async () => {
    startingJob([{ ...completed, result: { ...result, changes: [], support: [], overtaken: true } }]);
    const { exitCode, written } = await command(words);
    expect(exitCode).toBe(exitCodes.done);
    expect(written).toContain('no rule is suggested');
    expect(written).toContain('The rules have changed since');
    startingJob([{ ...completed, result }]);
    const json = await command(['--json', ...words]);
    expect(JSON.parse(json.written)).toMatchObject({ result: { held_out: { auc: 0.8 } } });
  });

  test('a job that has failed has the exit code 1 and writes no file; wrong usage sends nothing', async () => {
    startingJob([failed]);
    const out = join(directory, 'unwritten.yaml');
    expect(await command([...words, '--out', out])).toMatchObject({
      exitCode: exitCodes.incomplete,
      noted: expect.stringContaining('The job is failed: Step 1 failed.'),
    });
    expect(existsSync(out)).toBe(false);
    seen = [];
    expect(await command(['suggest'])).toMatchObject({
      exitCode: exitCodes.usage,
      noted: expect.stringContaining('Give --outcome'),
    });
    expect((await command([...words, '--dimension', 'deal'])).exitCode).toBe(exitCodes.usage);
    expect(seen).toEqual([]);
  });
});

test('a lead to explain may be named by its e-mail address', async () => {
  answer = () => ({
    body: {
      lead_id: leadId,
      lead_name: 'Ada',
      score: 20,
      level: { id: leadId, name: 'Warm', color: '#f59f00' },
      top_drivers: [
        {
          rule_id: leadId,
          event_type: 'Page View',
          count: 2,
          weight: 10,
          total: 20,
          filter_label: 'path contains "/pricing"',
          rule_version: 1,
        },
      ],
      snapshot: [],
      decay_applied: 0,
      range_hours: 720,
      at: '2026-01-31T09:30:00.000Z',
      unattributed: 0,
      entries: [],
      entries_total: 0,
    },
  });
  const result = await command(['explain', ' Ada@Example.com']);
  expect(seen[0]?.url).toBe(`/lead/${leadIdOf(ouId, 'email', 'ada@example.com')}/score-explain`);
  expect(result.written).toContain('Ada has 20 points, level Warm (');
  expect(result.written).toMatch(/20 {2}2 × 10 {2}Page View {2}path contains "\/pricing"/);
  await command(['explain', 'ada@example.com', '--at', '2026-01-31', '--known-at', '2026-02-01T00:00:00Z']);
  expect(seen[1]?.url).toMatch(/\?at=2026-01-31&known_at=2026-02-01T00%3A00%3A00Z$/);
  await command(['explain', 'ada@example.com', '--score-type', 'profile']);
  expect(seen[2]?.url).toMatch(/\?score_type=profile$/);
  await expect(command(['explain', 'ada@example.com', '--score-type', 'fit'])).resolves.toMatchObject({
    exitCode: 64,
    noted: expect.stringContaining('--score-type must be one of engagement, profile, deal, account.'),
  });
});

describe('export', () => {
  const header = '\uFEFFtimestamp,cursor\r\n';
  const cursorOf = (index: number) => `${'c'.repeat(60)}${String(index)}`;
  const line = (index: number) => `"2026\r\n${String(index)}",${cursorOf(index)}\r\n`;
  const all = header + [1, 2, 3, 4].map(line).join('');
  const path = (name: string) => join(directory, name);
  /** Answers the export in pieces. */
  const pieces = (...sent: string[]) => {
    answer = ({ url: asked }) =>
      asked.startsWith('/events?')
        ? { body: { data: [], total: 4, page: 1, limit: 1 } }
        : { headers: { 'content-type': 'text/csv' }, body: sent.shift() ?? '' };
  };
  const exports = () => seen.filter(({ url: asked }) => asked.startsWith('/events/export'));

  test('writes a new file with the events that flags pick, and refuses to write over one', async () => {
    pieces(all);
    const words = ['export', path('new.csv'), '--type', 'Page View', '--columns', 'metadata.path'];
    const { exitCode, noted } = await command(words);
    expect([exitCode, noted]).toEqual([exitCodes.done, `4 events are in ${path('new.csv')}.\n`]);
    expect(exports()[0]?.url).toBe('/events/export?event_type=Page+View&columns=metadata.path');
    expect(exports()[0]?.headers).toMatchObject({ accept: 'text/csv' });
    expect(readFileSync(path('new.csv'), 'utf8')).toBe(all);
    const again = await command(words);
    expect([again.exitCode, again.noted]).toEqual([exitCodes.usage, expect.stringContaining('--resume')]);
    expect(readFileSync(path('new.csv'), 'utf8')).toBe(all);
  });

  test('goes on where a connection broke, also within a line and behind the header, and repeats nothing', async () => {
    pieces(`${header}"20!`, `${all.slice(0, (header + line(1) + line(2)).length + 5)}!`, line(3) + line(4));
    const { exitCode, written } = await command(['export']);
    expect([exitCode, written]).toEqual([exitCodes.done, all]);
    expect(exports().map(({ url: asked }) => new URL(asked, url).searchParams.get('cursor'))).toEqual([
      null,
      null,
      cursorOf(2),
    ]);
  });

  test('--resume goes on after the last whole line of a file', async () => {
    const partly = file('partly.csv', header + line(1) + line(2) + line(3).slice(0, 9));
    pieces(line(3) + line(4));
    expect((await command(['export', partly, '--resume'])).exitCode).toBe(exitCodes.done);
    expect(readFileSync(partly, 'utf8')).toBe(all);
    expect(exports()[0]?.url).toBe(`/events/export?cursor=${cursorOf(2)}`);
    const other = file('other.csv', 'a,b\r\n1,2\r\n');
    expect((await command(['export', other, '--resume'])).exitCode).toBe(exitCodes.data);
    expect(readFileSync(other, 'utf8')).toBe('a,b\r\n1,2\r\n');
  });

  test('NDJSON is asked for by its media type, and takes no columns', async () => {
    const lines = `{"cursor":"${cursorOf(1)}"}\n`;
    pieces(lines);
    expect(await command(['export', '--as', 'ndjson'])).toMatchObject({
      exitCode: exitCodes.done,
      written: lines,
    });
    expect(exports()[0]?.headers).toMatchObject({ accept: 'application/x-ndjson' });
    const refused = await command(['export', '--as', 'ndjson', '--columns', 'metadata.path']);
    expect(refused.exitCode).toBe(exitCodes.usage);
  });

  test('what the service refuses is told, and not tried again', async () => {
    answer = ({ url: asked }) =>
      asked.startsWith('/events?')
        ? { body: { data: [], total: 4, page: 1, limit: 1 } }
        : problem(400, 'invalid_request');
    expect(await command(['export'])).toMatchObject({
      exitCode: exitCodes.data,
      noted: expect.stringContaining('It is not so.'),
    });
    expect(exports()).toHaveLength(1);
  });
});

describe('the history of a score', () => {
  const ada = leadIdOf(ouId, 'email', 'ada@example.com');

  test('is a table with a row for each day', async () => {
    const point = { starts_at: '2026-03-27T23:00:00.000Z', at: '2026-03-28T22:59:59.999Z' };
    answer = () => ({
      body: {
        lead_id: leadId,
        lead_name: 'Ada',
        score_type: 'engagement',
        granularity: 'day',
        timezone: 'Europe/Berlin',
        from: point.starts_at,
        to: point.at,
        score_before: 0,
        score: 16,
        level: { id: leadId, name: 'Warm', color: '#f59f00' },
        levels: [],
        points: [
          { ...point, label: '2026-03-28', added: 20, taken: 0, score: 20 },
          { ...point, label: '2026-03-29', added: 0, taken: -4, score: 16 },
        ],
      },
    });
    const flags = ['--from', '2026-03-28', '--timezone', 'Europe/Berlin', '--by', 'day'];
    const { exitCode, written } = await command(['history', 'ada@example.com', ...flags]);
    expect(seen[0]?.url).toBe(
      `/lead/${ada}/score-history?granularity=day&from=2026-03-28&timezone=Europe%2FBerlin`,
    );
    expect([exitCode, written]).toEqual([
      exitCodes.done,
      [
        'Ada has 16 points, level Warm at the end of this time (Europe/Berlin).',
        '',
        'DAY         ADDED  TAKEN  SCORE',
        '2026-03-28     20      0     20',
        '2026-03-29      0     -4     16',
        '',
      ].join('\n'),
    ]);
  });

  test('is a picture in the file that is named', async () => {
    const picture = join(directory, 'history.svg');
    answer = () => ({ body: '<svg/>', headers: { 'content-type': 'image/svg+xml' } });
    const { exitCode, written } = await command([
      'history',
      'ada@example.com',
      '--svg',
      picture,
      '--width',
      '400',
    ]);
    expect(seen[0]?.url).toBe(`/lead/${ada}/score-history.svg?width=400`);
    expect([exitCode, written, readFileSync(picture, 'utf8')]).toEqual([exitCodes.done, '', '<svg/>']);
  });

  test.each([
    ['--by', 'week', '--by must be one of hour, day.'],
    ['--score-type', 'account', '--score-type must be one of engagement, profile, deal.'],
  ])('is not asked for with %s %s', async (flag, value, message) => {
    const result = await command(['history', 'ada@example.com', flag, value]);
    expect(result).toMatchObject({ exitCode: exitCodes.usage, noted: expect.stringContaining(message) });
    expect(seen).toEqual([]);
  });
});

test('a score is restarted from zero, for a reason, and the score that it ended is named', async () => {
  answer = () => ({
    body: { lead_id: leadId, previous_score: 87, score: 0, score_reset_at: '2026-01-31T09:30:00.000Z' },
  });
  const result = await command(['reset', 'ada@example.com', '--reason', 'Back to marketing']);
  const id = leadIdOf(ouId, 'email', 'ada@example.com');
  expect(seen).toMatchObject([
    { method: 'POST', url: `/leads/${id}/reset-scores`, body: { reason: 'Back to marketing' } },
  ]);
  expect([result.exitCode, result.noted]).toEqual([
    exitCodes.done,
    `Lead ${leadId} had 87 points and has 0; its history stays.\n`,
  ]);
});

test('a lead to delete may be named by any of its aliases', async () => {
  answer = () => ({ status: 204, body: undefined });
  const result = await command(['delete', 'cookie:77']);
  expect(seen).toMatchObject([{ method: 'DELETE', url: `/lead/${leadIdOf(ouId, 'cookie', '77')}` }]);
  expect([result.exitCode, result.written]).toEqual([exitCodes.done, '']);
  expect(result.noted).toContain('is deleted');
});

describe('organizational units', () => {
  const units = ['Europe', 'America'].map((name, n) => ({
    id: `${n}${ouId.slice(1)}`,
    name,
    active: n === 0,
    created_at: '2026-01-31T09:30:00.000Z',
  }));
  beforeEach(() => {
    answer = ({ method, body }) => {
      if (method === 'DELETE') return { status: 204, body: undefined };
      if (method === 'PATCH') return { body: { ...units[1], ...(body as object) } };
      return { body: { data: units, total: 2, page: 1, limit: 100 } };
    };
  });

  test('are listed, the active one marked', async () => {
    const { written, exitCode } = await command(['ou', 'list']);
    expect(exitCode).toBe(exitCodes.done);
    expect(written).toMatch(/Europe +yes +.*0111[^]*America +2026/);
    expect(JSON.parse((await command(['ou', 'list', '--json'])).written)).toEqual(units);
  });

  test('are renamed by name or id', async () => {
    for (const unit of ['America', units[1]?.id ?? '']) {
      const result = await command(['ou', 'rename', unit, 'The Americas']);
      expect(seen.at(-1)).toMatchObject({
        method: 'PATCH',
        url: `/org-units/${units[1]?.id ?? ''}`,
        body: { name: 'The Americas' },
      });
      expect([result.exitCode, result.noted]).toEqual([
        exitCodes.done,
        'America is now called The Americas.\n',
      ]);
    }
  });

  test('end only with --yes, and only if they exist', async () => {
    const unsure = await command(['ou', 'end', 'America']);
    expect([unsure.exitCode, seen.every(({ method }) => method === 'GET')]).toEqual([exitCodes.usage, true]);
    expect(unsure.noted).toMatch(/would end America .*--yes/);
    const nowhere = await command(['ou', 'end', 'Asia', '--yes']);
    expect(nowhere.exitCode).toBe(exitCodes.data);
    expect(nowhere.noted).toContain('There are: Europe, America.');
    const ended = await command(['ou', 'end', 'America', '--yes']);
    expect(seen.at(-1)).toMatchObject({ method: 'DELETE', url: `/org-units/${units[1]?.id ?? ''}` });
    expect([ended.exitCode, ended.noted]).toEqual([exitCodes.done, expect.stringContaining('has ended')]);
  });
});

describe('members', () => {
  const ada = {
    id: `0${ouId.slice(1)}`,
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    role: 'editor',
    ou_ids: null,
    status: 'active',
    built_in: false,
    invitation_expires_at: null,
    created_at: '2026-01-31T09:30:00.000Z',
  };
  const invitation_url = 'https://app.example.com/invitations/lsi_x';
  beforeEach(() => {
    answer = ({ method, body }) => {
      if (method === 'DELETE') return { status: 204, body: undefined };
      if (method === 'PATCH') return { body: { ...ada, ...(body as object) } };
      if (method === 'POST') return { status: 201, body: { ...ada, ...(body as object), invitation_url } };
      return { body: { data: [ada], total: 1, page: 1, limit: 100 } };
    };
  });

  test('are listed', async () => {
    const { written, exitCode } = await command(['members', 'list']);
    expect(exitCode).toBe(exitCodes.done);
    expect(written).toMatch(/Ada Lovelace +ada@example.com +editor +all +active/);
    expect(JSON.parse((await command(['members', 'list', '--json'])).written)).toEqual([ada]);
  });

  test('are invited: the link alone is on standard output', async () => {
    const one = await command(['members', 'invite', 'eve@example.com', 'Eve', 'viewer', '--units', ouId]);
    expect(seen.at(-1)).toMatchObject({
      method: 'POST',
      url: '/members',
      body: { email: 'eve@example.com', name: 'Eve', role: 'viewer', ou_ids: [ouId] },
    });
    expect([one.exitCode, one.written]).toEqual([exitCodes.done, `${invitation_url}\n`]);
    const wrong = await command(['members', 'invite', 'eve@example.com', 'Eve', 'owner']);
    expect([wrong.exitCode, wrong.noted]).toEqual([
      exitCodes.usage,
      expect.stringContaining('viewer, editor, admin'),
    ]);
    expect((await command(['members', 'link', 'ada@example.com'])).written).toBe(`${invitation_url}\n`);
  });

  test('get another role and are removed, by address or id', async () => {
    await command(['members', 'role', 'Ada@example.com', 'admin']);
    expect(seen.at(-1)).toMatchObject({
      method: 'PATCH',
      url: `/members/${ada.id}`,
      body: { role: 'admin' },
    });
    const unsure = await command(['members', 'remove', ada.id]);
    expect([unsure.exitCode, unsure.noted]).toEqual([exitCodes.usage, expect.stringContaining('--yes')]);
    expect((await command(['members', 'remove', ada.id, '--yes'])).exitCode).toBe(exitCodes.done);
    expect(seen.at(-1)).toMatchObject({ method: 'DELETE', url: `/members/${ada.id}` });
    expect((await command(['members', 'remove', 'nobody@example.com', '--yes'])).exitCode).toBe(
      exitCodes.data,
    );
  });
});

describe('usage', () => {
  const counts = { calls: 1, events: 2_000, repeats: 0, notifications: 3 };
  const ada = { kind: 'token', id: leadId, name: 'Ada’s laptop' };
  const [first, second] = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'];
  const usage = {
    granularity: 'day',
    from: first,
    to: second,
    totals: counts,
    periods: [
      { starts_at: first, ...counts },
      { starts_at: second, calls: 0, events: 0, repeats: 0, notifications: 0 },
    ],
    calls: [{ starts_at: first, credential: ada, group: 'Leads', calls: 1 }],
    events: [{ starts_at: first, credential: ada, ou_id: ouId, events: 2_000, repeats: 0 }],
    notifications: [],
  };

  test('is a row for each credential, with the id that --actor takes', async () => {
    answer = () => ({ body: usage });
    const { written, noted, exitCode } = await command(['usage']);
    expect(exitCode).toBe(exitCodes.done);
    expect(written).toMatch(new RegExp(`^Ada’s laptop +1 +2,000 +0 +token +${leadId}$`, 'm'));
    expect(noted).toContain('1 call, 2,000 events, 0 repeats, 3 notifications delivered');
  });

  test('by day has a row for each day in which something was counted', async () => {
    answer = () => ({ body: usage });
    const { written } = await command(['usage', '--by', 'day']);
    expect(written.split('\n').slice(1)).toEqual([expect.stringMatching(/^2026-03-01 +1 +2,000 +0 +3$/), '']);
    expect((await command(['usage', '--by', 'week'])).exitCode).toBe(exitCodes.usage);
    expect(seen).toHaveLength(1);
  });
});

describe('audit', () => {
  test('says that nothing was found, or that there is more', async () => {
    answer = () => ({ body: { data: [], limit: 25 } });
    expect((await command(['audit', '--q', 'nothing'])).noted).toBe('No change was found.\n');
    const entry = {
      id: 'gateway-0002-00000000000010-0000',
      at: '2026-03-01T09:30:00.000Z',
      service: 'gateway',
      ou_id: null,
      kind: 'member',
      action: 'changed',
      subject: { id: leadId, name: 'Ada' },
      actor: null,
      address: null,
      before: { role: 'editor' },
      after: { role: 'admin' },
    };
    answer = () => ({ body: { data: [entry], limit: 1, next_cursor: 'abc' } });
    const { written, noted } = await command(['audit', '--limit', '1']);
    expect(written).toContain('role: editor → admin');
    expect(noted).toMatch(/^The newest 1; there are older ones/);
  });

  test('--csv writes what the service answers, with the same filters', async () => {
    answer = () => ({ body: 'at,kind\n2026-03-01,rule\n', headers: { 'content-type': 'text/csv' } });
    expect((await command(['audit', '--csv', '--kind', 'rule'])).written).toBe('at,kind\n2026-03-01,rule\n');
    expect(seen).toMatchObject([{ url: '/audit?kind=rule', headers: { accept: 'text/csv' } }]);
  });

  test('a refusal of one field is said once', async () => {
    const message = 'must be one of rule, member';
    answer = () => ({
      status: 400,
      body: {
        type: 'x',
        title: 'x',
        status: 400,
        code: 'invalid_request',
        detail: `query.kind ${message}.`,
        request_id: 'r1',
        errors: [{ path: 'query.kind', message }],
      },
    });
    const { noted, exitCode } = await command(['audit', '--kind', 'x']);
    expect({ noted, exitCode }).toEqual({
      noted: 'query.kind must be one of rule, member. (invalid_request, request r1)\n',
      exitCode: exitCodes.data,
    });
  });
});

describe('a failure has a message and an exit code of its own', () => {
  test.each<[number, string, number]>([
    [401, 'credential_invalid', exitCodes.permission],
    [403, 'role_not_allowed', exitCodes.permission],
    [404, 'lead_not_found', exitCodes.data],
  ])('%i is %s', async (status, code, exitCode) => {
    answer = () => problem(status, code);
    const result = await command(['explain', leadId]);
    expect([result.exitCode, result.noted]).toEqual([exitCode, expect.stringContaining('It is not so.')]);
  });

  test('no answer: the message says how to start the system', async () => {
    const result = await command(['leads'], { environment: { LEAD_SCORING_URL: 'http://127.0.0.1:1' } });
    expect([result.exitCode, result.noted]).toEqual([
      exitCodes.unavailable,
      expect.stringContaining('npm start'),
    ]);
  });

  test.each([
    [['nonsense']],
    [['leads', '--limit', '1000']],
    [['leads', '--colour']],
    [['tail', 'nothing']],
    [['rebuild', 'nothing']],
    [['explain', 'nobody']],
  ])('%j is wrong usage', async (words) => {
    const result = await command(words);
    expect([result.exitCode, result.noted === '']).toEqual([exitCodes.usage, false]);
  });

  test('a command that needs the log and has no address: the message names the settings', async () => {
    const result = await command(['dead-letters', 'list', 'scoring'], { environment: {} });
    expect([result.exitCode, result.noted]).toEqual([
      exitCodes.usage,
      expect.stringContaining('KAFKA_BROKERS'),
    ]);
  });
});

describe('an organizational unit that the credential may not use', () => {
  const refusal = (code: string) => () => ({
    status: code === 'org_unit_not_selected' ? 400 : 403,
    body: {
      type: `urn:lead-scoring:problem:${code}`,
      title: 'Refused',
      status: 403,
      detail: 'Not this one.',
      code,
      request_id: 'r',
    },
  });
  const other = '33333333-3333-4333-8333-333333333333';

  test.each([
    ['the flag', ['--ou', other], `${other} comes from --ou;`],
    ['the variable', [], `${ouId} comes from LEAD_SCORING_OU;`],
  ])('is reported with its source, %s', async (_title, flags, expected) => {
    answer = refusal('org_unit_not_allowed');
    const { exitCode, noted } = await command(['leads', ...flags]);
    expect([exitCode, noted]).toEqual([exitCodes.permission, expect.stringContaining(expected)]);
    expect(noted).toContain('name another one with --ou');
  });

  test('where none is selected, the flag is named', async () => {
    answer = refusal('org_unit_not_selected');
    const environment = { LEAD_SCORING_URL: url, LEAD_SCORING_TOKEN: 'lsp_x' };
    expect((await command(['leads'], { environment })).noted).toContain('Name one with --ou');
  });
});

describe('the start file of `npm start`', () => {
  const checkout = join(directory, 'checkout');
  const startFile = (content: unknown) => {
    mkdirSync(join(checkout, '.run'), { recursive: true });
    mkdirSync(join(checkout, 'deep', 'below'), { recursive: true });
    writeFileSync(
      join(checkout, '.run', 'start.json'),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  };
  const nothing = { data: [], total: 0, page: 1, limit: 25 };

  test('is used in any directory of the checkout', async () => {
    answer = () => ({ body: nothing });
    startFile({ api_url: url, token: 'lsp_of_the_file', ou_id: ouId });
    const result = await command(['leads'], { environment: {}, directory: join(checkout, 'deep', 'below') });
    expect([result.exitCode, seen[0]?.headers.authorization, seen[0]?.headers['x-ou-id']]).toEqual([
      0,
      'Bearer lsp_of_the_file',
      ouId,
    ]);
  });

  test('does not give its token to another system', async () => {
    answer = () => ({ body: nothing });
    startFile({ api_url: 'http://127.0.0.1:1', token: 'lsp_of_the_file', ou_id: ouId });
    await command(['leads', '--url', url], { environment: {}, directory: checkout });
    expect([seen[0]?.headers.authorization, seen[0]?.headers['x-ou-id']]).toEqual([undefined, undefined]);
  });

  test('is named when it is damaged', async () => {
    startFile('{');
    const result = await command(['leads'], { environment: {}, directory: checkout });
    expect([result.exitCode, result.noted]).toEqual([exitCodes.data, expect.stringContaining('start.json')]);
  });
});

describe('rules', () => {
  const nothing = { dry_run: true, version: 4, total: 0, sections: [], changes: [] };
  const yaml = `# what gives points
engagement_rulesets:
  - name: Intent
    rules:
      - label: Pricing
        event_type: Page View
        weight: 0
`;
  const refusing = (errors: { path: string; message: string }[], more: object = {}) => ({
    status: 400,
    body: { ...problem(400, 'invalid_request').body, errors, detail: 'body.x is wrong.', ...more },
  });

  test('a fault is shown with its line in the file, and with the names around it', async () => {
    answer = () =>
      refusing([
        { path: 'body.engagement_rulesets[0].rules[0].weight', message: 'must not be 0' },
        {
          path: 'body.engagement_rulesets[0].rules[0].lable',
          message: 'is not a field; did you mean "label"',
        },
        { path: 'body.engagement_rulesets[0].rules[1]', message: 'is missing' },
        { path: 'body', message: 'is odd' },
      ]);
    const result = await command(['rules', 'diff', file('rules.yaml', yaml)]);
    expect(result.exitCode).toBe(exitCodes.data);
    expect(result.noted)
      .toBe(`${join(directory, 'rules.yaml')} was refused, and nothing was changed (invalid_request, request r1).
  line 7, engagement_rulesets "Intent", rules "Pricing", weight: must not be 0
  line 5, engagement_rulesets "Intent", rules "Pricing", lable: is not a field; did you mean "label"
  line 5, engagement_rulesets "Intent", rules number 2: is missing
  the whole: is odd
`);
  });

  test('the words of a refusal that says more than its places are shown, too, and places are at most 20', async () => {
    const errors = Array.from({ length: 25 }, () => ({ path: 'body.grid', message: 'must fall' }));
    answer = () => refusing(errors, { detail: 'In the grid: it rises.' });
    const { noted } = await command(['rules', 'apply', '-'], { stdin: '{"grid": 1}' });
    expect(noted.split('\n')).toHaveLength(1 + 1 + 20 + 1 + 1);
    expect(noted).toContain('Standard input was refused');
    expect(noted).toContain('\nIn the grid: it rises.\n');
    expect(noted).toContain('\n  and 5 more\n');
  });

  test.each([
    ['that is neither YAML nor JSON', 'engagement_rulesets: [', 'is neither YAML nor JSON'],
    ['of two documents', 'grid: null\n---\ngrid: null\n', 'is neither YAML nor JSON'],
    ['with an alias of nothing', 'grid: *there', 'cannot be read'],
    [
      'with aliases that multiply',
      `a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n${['b', 'c', 'd']
        .map(
          (one, index) =>
            `${one}: &${one} [${Array(10)
              .fill(`*${'abc'.charAt(index)}`)
              .join(', ')}]`,
        )
        .join('\n')}\n`,
      'cannot be read',
    ],
  ])('a file %s is an error of the data, and nothing is sent', async (_, content, words) => {
    const result = await command(['rules', 'apply', file('odd.yaml', content)]);
    expect([result.exitCode, seen]).toEqual([exitCodes.data, []]);
    expect(result.noted).toContain(words);
  });

  test('a file that is not there, and an --if-version that is no version, are errors before anything is sent', async () => {
    const missing = await command(['rules', 'diff', join(directory, 'none.yaml')]);
    expect([missing.exitCode, missing.noted]).toEqual([
      exitCodes.data,
      expect.stringContaining('none.yaml cannot be read'),
    ]);
    const path = file('rules.yaml', yaml);
    expect((await command(['rules', 'apply', path, '--if-version', 'x'])).exitCode).toBe(exitCodes.usage);
    expect((await command(['rules', 'apply'])).exitCode).toBe(exitCodes.usage);
    expect(seen).toEqual([]);
  });

  test('apply sends the version that its dry run saw, or the one that is given, and no dry run then', async () => {
    answer = () => ({ body: nothing });
    const path = file('rules.yaml', yaml);
    expect((await command(['rules', 'apply', path])).exitCode).toBe(exitCodes.done);
    expect(seen.map(({ url: at, headers }) => [at, headers['if-match']])).toEqual([
      ['/scoring/configuration?dry_run=true', undefined],
      ['/scoring/configuration', '"4"'],
    ]);
    seen = [];
    await command(['rules', 'apply', path, '--if-version', '3']);
    expect(seen.map(({ url: at, headers }) => [at, headers['if-match']])).toEqual([
      ['/scoring/configuration', '"3"'],
    ]);
  });

  test('changes are listed by section, with signs, the fields before and after, and how many more there are', async () => {
    answer = () => ({
      body: {
        dry_run: true,
        version: 4,
        total: 9,
        sections: [
          { section: 'engagement_rulesets', added: 1, changed: 1, removed: 0 },
          { section: 'grid', added: 0, changed: 1, removed: 0 },
          { section: 'filters', added: 0, changed: 0, removed: 0 },
        ],
        changes: [
          { section: 'engagement_rulesets', kind: 'ruleset', action: 'add', name: 'In\u001b[31mtent' },
          {
            section: 'engagement_rulesets',
            kind: 'rule',
            action: 'change',
            ruleset: 'Intent',
            name: 'Pricing',
            fields: [
              { field: 'weight', before: '5', after: '10' },
              { field: 'icon', before: null, after: 'star' },
            ],
          },
          {
            section: 'grid',
            kind: 'grid',
            action: 'change',
            name: 'grid',
            fields: [{ field: 'profile A from', before: '60', after: null }],
          },
        ],
      },
    });
    const { exitCode, written } = await command(['rules', 'diff', file('rules.yaml', yaml)]);
    expect(exitCode).toBe(exitCodes.incomplete);
    expect(written).toBe(`engagement_rulesets: 1 added, 1 changed
  + ruleset In [31mtent
  ~ rule Pricing in Intent
      weight: 5 → 10
      icon: (none) → star
grid: 1 changed
  ~ grid
      profile A from: 60 → (none)
and 6 more
`);
  });
});

describe('import', () => {
  const preview = {
    file_id: leadId,
    headers: ['E-Mail', 'Role', 'Notes'],
    sample_rows: [['ada@example.com', 'Countess', '']],
    row_count: 2,
    delimiter: ',',
    encoding: 'utf-8',
    auto_detected_identifiers: [{ column: 'E-Mail', kind: 'email', filled: 1 }],
    suggested_mapping: {
      primary_identifier: { column: 'E-Mail', kind: 'email' },
      alias_mappings: [],
      field_mappings: [
        { column: 'Role', field: 'role' },
        { column: 'Notes', field: 'notes' },
      ],
      event_mappings: [],
      ignore_values: ['N/A'],
    },
    problems: [{ code: 'header_empty', message: 'Look at this.', column: 'Notes' }],
    expires_at: '2026-01-02T00:00:00.000Z',
  };
  const job = {
    ...{ id: `ingest-${leadId}`, kind: 'lead-import', status: 'completed', total: 2, done: 2, failed: 1 },
    ...{ created: 1, updated: 0, skipped: 0, rate: 2, eta: null },
    errors: [{ row: 3, code: 'invalid_row', message: 'E-Mail is empty' }],
    started_at: '2026-01-01T00:00:00.000Z',
    ended_at: '2026-01-01T00:00:01.000Z',
  };
  const importing = ({ url: path }: ReceivedRequest) => {
    if (path.startsWith('/leads/import/preview')) return { body: preview };
    if (path.startsWith('/leads/import/start')) return { status: 202, body: { job_id: job.id } };
    if (path.endsWith('/errors'))
      return { body: 'row,code,message\r\n', headers: { 'content-type': 'text/csv' } };
    return { body: job };
  };
  const started = () => seen.find(({ url: path }) => path === '/leads/import/start')?.body;
  const leadsFile = () => file('new-leads.csv', 'E-Mail,Role,Notes\nada@example.com,Countess,\n,,\n');

  beforeEach(() => {
    answer = importing;
  });

  test('shows what columns become, and imports by the proposed mapping with --yes', async () => {
    const errors = join(directory, 'failed-rows.csv');
    const done = await command(['import', leadsFile(), '--yes', '--errors', errors]);
    expect(done.written).toContain('1  E-Mail  primary email  ada@example.com');
    expect(done.written).toContain('2 rows: 1 created, 0 updated, 0 skipped, 1 failed.');
    expect(done.noted).toContain('! Notes: Look at this.');
    expect(done.noted).toContain('! row 3: E-Mail is empty');
    expect(started()).toEqual({ file_id: leadId, ...preview.suggested_mapping });
    expect(readFileSync(errors, 'utf8')).toBe('row,code,message\r\n');
    expect(done.exitCode).toBe(exitCodes.incomplete);
  });

  test('imports nothing without --yes, and writes the mapping that was corrected by flags', async () => {
    const saved = join(directory, 'saved-mapping.json');
    const map = ['--map', 'Role=field title', '--map', 'Notes=-', '--save-mapping', saved];
    const shown = await command(['import', leadsFile(), '--dry-run', ...map]);
    expect(shown.exitCode).toBe(exitCodes.done);
    const refused = await command(['import', leadsFile()]);
    expect(refused).toMatchObject({ exitCode: exitCodes.usage, noted: expect.stringContaining('--yes') });
    expect(started()).toBeUndefined();
    await command(['import', leadsFile(), '--yes', '--mapping', saved]);
    expect(started()).toMatchObject({ field_mappings: [{ column: 'Role', field: 'title' }] });
  });

  test('asks a person, who changes a column and says yes', async () => {
    const stdin = Object.assign(Readable.from(['2\n', 'field title\n', 'yes\n']), { isTTY: true });
    let noted = '';
    const exitCode = await run(['import', leadsFile()], {
      environment: { LEAD_SCORING_URL: url, LEAD_SCORING_TOKEN: 'lsp_x', LEAD_SCORING_OU: ouId },
      directory,
      stdin,
      output: { write: () => undefined, note: (text) => (noted += text), terminal: null },
    });
    expect(noted).toContain('Role becomes field title.');
    expect(started()).toMatchObject({
      field_mappings: [
        { column: 'Notes', field: 'notes' },
        { column: 'Role', field: 'title' },
      ],
    });
    expect(exitCode).toBe(exitCodes.incomplete);
  });

  test.each([
    [['--map', 'Rolle=field title'], 'no column "Rolle"'],
    [['--map', 'Role=title'], 'must be COLUMN=MEANING'],
    [['--map', 'E-Mail=-', '--yes'], 'No column names the leads'],
  ])('%p is refused, with what to do', async (flags, message) => {
    const { noted, exitCode } = await command(['import', leadsFile(), ...flags]);
    expect(noted).toContain(message);
    expect([exitCodes.usage, exitCodes.data]).toContain(exitCode);
    expect(started()).toBeUndefined();
  });
});
