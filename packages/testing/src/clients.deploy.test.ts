// The clients for Python and Go, made as their READMEs say: generated from the document of a running system, and installed. Their producers
// send events to it, some through a network that loses answers; generated calls read scores, and problems with their codes.
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { leadIdOf } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { toolPath } from './deploy-tools.js';
import { buildGo } from './go.js';
import { startLosingGateway } from './losing-gateway.js';
import { makeEnvironment } from './python.js';
import { runProgram, type ProgramOutcome } from './run-program.js';
import { checkout, startTestSystem, type TestSystem } from './test-system.js';

const points = 10;
const retryAfterSeconds = 2;

type Run = (
  args: readonly string[],
  environment: Record<string, string>,
  input?: string,
) => Promise<ProgramOutcome>;

/** The examples of a client. */
interface ClientExamples {
  sendEvents: Run;
  showScore: Run;
  /** Runs its own tests. */
  test(): Promise<ProgramOutcome>;
}

let system: TestSystem;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lead-scoring-clients-'));
  system = await startTestSystem();
  const rule = { event_type: 'Page View', weight: points };
  expect((await system.request('/engagement-scoring/rules', { body: rule })).status).toBe(201);
}, 120_000);

afterAll(async () => {
  await system.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** Copies a client, and runs the first commands of its README there, with the address of the system. */
async function installed(name: string, programs: string): Promise<string> {
  const client = join(folder, 'client', name);
  const isKept = (path: string) => !/\/(rest|generated\.go|build|[^/]+\.egg-info)$/.test(path);
  await cp(join(checkout, 'packages/client', name), client, { recursive: true, filter: isKept });
  const readme = await readFile(join(client, 'README.md'), 'utf8');
  const commands = /```sh\n(.*?)```/s.exec(readme)?.[1] ?? '';
  expect(commands).toContain('http://127.0.0.1:8080/openapi.json');
  const { code, output } = await runProgram(
    'sh',
    ['-ec', commands.replace('http://127.0.0.1:8080', system.url)],
    {
      folder: client,
      environment: { PATH: `${programs}${delimiter}${process.env.PATH ?? ''}` },
    },
  );
  expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  return client;
}

const clients: Record<string, () => Promise<ClientExamples>> = {
  Python: async () => {
    const { program } = await makeEnvironment(join(folder, 'environment'), ['pip']);
    const client = await installed('python', dirname(program));
    const run =
      (file: string): Run =>
      (args, environment, input = '') =>
        runProgram(program, [join(client, 'examples', file), ...args], { environment, input, folder });
    return {
      sendEvents: run('send_events.py'),
      showScore: run('show_score.py'),
      test: () => runProgram(program, ['-m', 'unittest', 'discover', 'tests'], { folder: client }),
    };
  },
  Go: async () => {
    const go = toolPath('go');
    const client = await installed('go', dirname(go));
    const run = (name: string): Run => {
      const { command } = buildGo(join(client, 'examples', name), join(folder, name));
      return (args, environment, input = '') => runProgram(command, args, { environment, input, folder });
    };
    return {
      sendEvents: run('send-events'),
      showScore: run('show-score'),
      test: () => runProgram(go, ['test', './...'], { folder: client }),
    };
  },
};

describe.each(Object.keys(clients))('the client for %s', (language) => {
  let client: ClientExamples;
  beforeAll(async () => {
    client = await (clients[language] as () => Promise<ClientExamples>)();
  }, 900_000);

  const eventOf = (alias: string) => ({
    alias_kind: 'email',
    alias,
    event_type: 'Page View',
    metadata: { path: '/pricing', seconds: 1.5, tags: ['a', null, { b: true }] },
  });

  const environment = (url = system.url) => ({ API_URL: url, LEAD_SCORING_TOKEN: system.token });

  const sendEvents = async (events: readonly object[], url?: string) => {
    const input = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    const { code, output } = await client.sendEvents([], environment(url), input);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    return output;
  };

  /** The score when all events so far and one more of the alias are decided. */
  const scoreWithOneMore = async (alias: string): Promise<number> => {
    const { body } = await system.request<{ position: string }>('/ingest', { body: eventOf(alias) });
    const path = `/score/${leadIdOf(system.ouId, 'email', alias)}?min_position=${body.position}`;
    return (await system.request<{ score: number }>(path)).body.score;
  };

  const shownScore = async (alias: string, given = environment()) => {
    const { code, stdout, output } = await client.showScore(['email', alias], given);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    return stdout.trim();
  };

  test('its own tests pass', async () => {
    const { code, output } = await client.test();
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  }, 300_000);

  test('sends each event once, in gzipped batches, when every answer is lost the first time', async () => {
    const [busy, quiet] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    const gateway = await startLosingGateway(system.url, retryAfterSeconds);
    const events = Array.from({ length: 1_500 }, (_, index) => eventOf(index % 500 === 0 ? busy : quiet));
    const output = await sendEvents(events, gateway.url);
    await gateway.stop();

    expect(output).toBe('');
    expect(gateway.batches.map(({ encoding }) => encoding)).toEqual(
      Array(gateway.batches.length).fill('gzip'),
    );
    const contents = new Set(gateway.batches.map(({ content }) => content));
    expect(contents.size).toBeGreaterThan(1);
    for (const sent of contents) {
      const [first, second, ...more] = gateway.batches.filter(({ content }) => content === sent);
      expect(more).toEqual([]);
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(retryAfterSeconds * 1_000 - 20);
    }
    expect(await scoreWithOneMore(busy)).toBe(4 * points);
    expect(await scoreWithOneMore(quiet)).toBe(1_498 * points);
  }, 120_000);

  test('counts events once that a program sends again under their ids', async () => {
    const alias = `${randomUUID()}@example.com`;
    const events = Array.from({ length: 3 }, () => ({ ...eventOf(alias), event_id: randomUUID() }));
    await sendEvents(events);
    await sendEvents(events);
    expect(await scoreWithOneMore(alias)).toBe(4 * points);
  }, 60_000);

  test('tells of an event that is not valid, and sends the others', async () => {
    const alias = `${randomUUID()}@example.com`;
    const output = await sendEvents([eventOf(alias), eventOf('no address'), eventOf(alias)]);
    expect(output).toMatch(/invalid.*alias/s);
    expect(await scoreWithOneMore(alias)).toBe(3 * points);
  }, 60_000);

  test('reads a score, and problems with their codes', async () => {
    const alias = `${randomUUID()}@example.com`;
    await sendEvents([eventOf(alias), eventOf(alias)]);
    await eventually('the score is shown', async () => (await shownScore(alias)) === String(2 * points));
    expect(await shownScore('nobody@example.com')).toBe('lead_not_found');
    const stranger = { ...environment(), LEAD_SCORING_TOKEN: 'lsp_unknown' };
    expect(await shownScore(alias, stranger)).toBe('credential_invalid');
  }, 60_000);
});
