// The command line against a server of this process: what is sent, what is said, and with which exit code.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { leadIdOf } from '@lead-scoring/contracts';
import { exitCodes, run } from './index.js';

const directory = mkdtempSync(join(tmpdir(), 'lead-scoring-cli-'));
const ouId = '11111111-1111-4111-8111-111111111111';
const leadId = '22222222-2222-4222-8222-222222222222';
afterAll(() => {
  rmSync(directory, { recursive: true });
});

interface Seen {
  method: string;
  url: string;
  headers: Record<string, unknown>;
  body: unknown;
}
let server: Server;
let url: string;
let seen: Seen[];
let answer: (request: Seen) => { status?: number; body: unknown };

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
        body: text === '' ? null : (JSON.parse(text) as unknown),
      };
      seen.push(request);
      const { status = 200, body } = answer(request);
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

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

const taking = ({ body }: Seen) => ({
  status: 202,
  body: { accepted: (body as unknown[]).length, batch_id: leadId, position: '0-1' },
});
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
    ['NDJSON without a telling name', 'd', `${JSON.stringify(visit)}\n${JSON.stringify(visit)}`],
    ['JSON without a telling name', 'e', JSON.stringify([visit, visit], null, 2)],
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
    expect(seen.map(({ body }) => body)).toEqual([[visit, visit]]);
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

  test('sends history with the columns that flags name, under the keys of a named run', async () => {
    answer = taking;
    const path = file(
      'history.csv',
      '\ufeffE-mail,When,Times,Page\nada@example.com,2020-01-01T00:00:00Z,2,/pricing\n',
    );
    const flags = [
      '--alias-column',
      'E-mail',
      '--event-type',
      'Page View',
      '--timestamp-column',
      'When',
      '--repeat-column',
      'Times',
    ];
    const result = await command(['ingest', path, ...flags, '--history', '--run', 'march']);
    expect(result.exitCode).toBe(exitCodes.done);
    const event = { ...visit, timestamp: '2020-01-01T00:00:00Z', metadata: { page: '/pricing' } };
    expect(seen[0]).toMatchObject({ url: '/import?partial=true', headers: { 'idempotency-key': 'march-0' } });
    expect(seen[0]?.body).toEqual([
      { ...event, event_id: 'page_view-1' },
      { ...event, event_id: 'page_view-2' },
    ]);
  });

  test('with --dry-run writes the events and sends nothing', async () => {
    const result = await command(['ingest', file('dry.json', JSON.stringify([visit])), '--dry-run']);
    expect([result.written, seen]).toEqual([`${JSON.stringify(visit)}\n`, []]);
  });

  test('says which events were not taken, and that not all were', async () => {
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

  test.each<[string, string, string, number, string]>([
    ['a file that is not there', 'gone.json', '', exitCodes.data, 'There is no file'],
    ['a broken line', 'broken.ndjson', `${JSON.stringify(visit)}\n{`, exitCodes.data, 'Line 2 is not JSON'],
    ['a CSV that nothing explains', 'plain.csv', 'a,b\n1,2\n', exitCodes.data, '--mapping'],
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
    scores: { engagement: 87 },
    level: { id: leadId, name: 'Hot', color: '#e8590c' },
    rulesets: [],
    event_count: 3,
    last_activity_at: '2026-01-31T09:30:00.000Z',
    created_at: '2026-01-31T09:30:00.000Z',
  };
  answer = () => ({ body: { data: [lead], total: 1, page: 1, limit: 25 } });
  const shown = await command(['leads', '--min-score', '10', '--level', 'Hot', '--search', 'ada']);
  expect(shown.written.split('\n')[1]).toMatch(/^ {3}87 {2}Hot {4}Ada \[31m .*2026-01-31 09:30/);
  expect(seen[0]?.url).toBe('/leads?limit=25&page=1&sort=-score&min_score=10&level=Hot&q=ada');
  expect(JSON.parse((await command(['--json', 'leads'])).written)).toMatchObject({ total: 1 });
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
});

test('a lead to delete may be named by any of its aliases', async () => {
  answer = () => ({ status: 204, body: undefined });
  const result = await command(['delete', 'cookie:77']);
  expect(seen).toMatchObject([{ method: 'DELETE', url: `/lead/${leadIdOf(ouId, 'cookie', '77')}` }]);
  expect([result.exitCode, result.written]).toEqual([exitCodes.done, '']);
  expect(result.noted).toContain('is deleted');
});

describe('what goes wrong is said, with an exit code that tells it apart', () => {
  test.each<[number, string, number]>([
    [401, 'credential_invalid', exitCodes.permission],
    [403, 'role_not_allowed', exitCodes.permission],
    [404, 'lead_not_found', exitCodes.data],
  ])('%i is %s', async (status, code, exitCode) => {
    answer = () => problem(status, code);
    const result = await command(['explain', leadId]);
    expect([result.exitCode, result.noted]).toEqual([exitCode, expect.stringContaining('It is not so.')]);
  });

  test('nothing that answers: start it', async () => {
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

  test('a command on the log without a log: where it may be named', async () => {
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
  ])('is said to come from %s', async (_title, flags, expected) => {
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

describe('what `npm start` wrote', () => {
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

  test('is used, from any directory of the checkout', async () => {
    answer = () => ({ body: nothing });
    startFile({ api_url: url, token: 'lsp_of_the_file', ou_id: ouId });
    const result = await command(['leads'], { environment: {}, directory: join(checkout, 'deep', 'below') });
    expect([result.exitCode, seen[0]?.headers.authorization, seen[0]?.headers['x-ou-id']]).toEqual([
      0,
      'Bearer lsp_of_the_file',
      ouId,
    ]);
  });

  test('its token is not shown to another system', async () => {
    answer = () => ({ body: nothing });
    startFile({ api_url: 'http://127.0.0.1:1', token: 'lsp_of_the_file', ou_id: ouId });
    await command(['leads', '--url', url], { environment: {}, directory: checkout });
    expect([seen[0]?.headers.authorization, seen[0]?.headers['x-ou-id']]).toEqual([undefined, undefined]);
  });

  test('when damaged is named', async () => {
    startFile('{');
    const result = await command(['leads'], { environment: {}, directory: checkout });
    expect([result.exitCode, result.noted]).toEqual([exitCodes.data, expect.stringContaining('start.json')]);
  });
});
