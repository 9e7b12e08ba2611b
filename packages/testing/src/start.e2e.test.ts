// `npm start` for a newcomer: one command prints everything for the next step, Ctrl-C ends every process, and the next start has
// the same data.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@lead-scoring/platform/waiting';
import type { StartFile } from '@lead-scoring/start';
import { endpointsFromEnvironment, removeNamespace } from './servers.js';
import { checkout } from './test-system.js';

/** The answer of any list; leads have a score. */
interface Leads {
  total: number;
  data: { id: string; score: number; level: { name: string } | null }[];
}

const namespace = `test-${randomBytes(5).toString('hex')}`;
let folder: string;
let running: { child: ChildProcess; output: () => string; exited: Promise<number | null> } | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lead-scoring-start-'));
});

afterAll(async () => {
  running?.child.kill('SIGINT');
  await running?.exited;
  await removeNamespace(endpointsFromEnvironment(), namespace);
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** Runs `npm start` after its installation and build, with the test's own folder in place of `.run`. */
function start(settings: Record<string, string>): NonNullable<typeof running> {
  const program = pathToFileURL(join(checkout, 'packages/start/dist/main.js')).href;
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => key !== 'NODE_OPTIONS'),
  );
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { main } from ${JSON.stringify(program)}; await main(${JSON.stringify(checkout)}, []);`,
    ],
    {
      cwd: checkout,
      env: { ...environment, NAMESPACE: namespace, LEAD_SCORING_RUN_DIRECTORY: folder, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, output: () => output, exited };
}

async function started(settings: Record<string, string> = {}): Promise<{ file: StartFile; output: string }> {
  running = start(settings);
  const { output, child } = running;
  await eventually(
    'it runs',
    () => {
      if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}:\n${output()}`);
      return output().includes('Ctrl-C');
    },
    120_000,
  ).catch((error: unknown) => {
    throw new Error(output(), { cause: error });
  });
  return { file: await startFile(), output: output() };
}

async function startFile(): Promise<StartFile> {
  return JSON.parse(await readFile(join(folder, 'start.json'), 'utf8')) as StartFile;
}

async function get(file: StartFile, path: string): Promise<{ status: number; body: Leads }> {
  const answer = await fetch(`${file.api_url}${path}`, {
    headers: { authorization: `Bearer ${file.token}` },
  });
  return { status: answer.status, body: (await answer.json()) as Leads };
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('npm start', () => {
  let first: StartFile;
  let leads: Leads;

  test('prints the address, a token, the documentation and calls to try; start.json has the same, readable only by its owner', async () => {
    const { file, output } = await started();
    first = file;
    expect(file).toEqual({
      api_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      app_url: expect.stringMatching(/^http:/),
      token: expect.stringMatching(/^lsp_/),
      ou_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kafka_brokers: process.env['KAFKA_BROKERS'],
      schema_registry_url: process.env['SCHEMA_REGISTRY_URL'],
      mongodb_uri: process.env['MONGODB_URI'],
      namespace,
      partitions: 6,
      services: Object.fromEntries(
        ['gateway', 'ingest', 'scoring', 'notification', 'share', 'site-analysis'].map((name) => [
          name,
          {
            url: expect.stringMatching(/^http:/),
            metrics_url: expect.stringMatching(/^http:.*\/metrics$/),
            pid: expect.any(Number),
          },
        ]),
      ),
    });
    const copies = 'The cluster has one broker and each record one copy';
    for (const text of [file.api_url, `${file.api_url}/docs`, file.token, 'curl', copies])
      expect(output).toContain(text);
    expect((await stat(join(folder, 'start.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'secrets.json'))).mode & 0o777).toBe(0o600);
    const alive = await fetch(`${file.api_url}/healthz`);
    expect({ status: alive.status, body: await alive.json() }).toEqual({
      status: 200,
      body: { status: 'ok' },
    });
  }, 150_000);

  test.each(['gateway', 'scoring'])('%s has its metrics at the address in start.json', async (name) => {
    const answer = await fetch(first.services[name]?.metrics_url ?? '');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/^event_log_records_total\{/m);
  });

  test('the printed calls work unchanged', async () => {
    const lines = (running?.output() ?? '').split('\n').filter((line) => /^\s+(curl|LEAD=)/.test(line));
    expect(lines.length).toBeGreaterThanOrEqual(3);
    for (const line of lines) {
      const { code, output } = await shell(line);
      expect({ line, code, answer: JSON.parse(output) as unknown }).toEqual({
        line,
        code: 0,
        answer: expect.not.objectContaining({ status: expect.anything() }),
      });
    }
  }, 60_000);

  test('the sample data is ingested and scored', async () => {
    const answer = await get(first, '/leads?limit=10');
    expect(answer.status).toBe(200);
    leads = answer.body;
    expect(leads.total).toBeGreaterThan(100);
    expect(leads.data[0]?.score).toBeGreaterThan(0);
    expect(leads.data[0]?.level?.name).toBe('Hot');
    expect((await get(first, '/events?limit=1')).body.total).toBeGreaterThanOrEqual(4_000);
    expect((await get(first, '/engagement-scoring/rules?limit=1')).body.total).toBeGreaterThan(0);
  });

  test('a service that is killed is started again, and start.json has its new pid', async () => {
    const killed = first.services['scoring']?.pid ?? 0;
    process.kill(killed, 'SIGKILL');
    const again = await eventually('it has another pid', async () => {
      const pid = (await startFile()).services['scoring']?.pid;
      return typeof pid === 'number' && pid !== killed ? pid : undefined;
    });
    expect(lives(again)).toBe(true);
    expect(await readFile(join(folder, 'logs/supervisor.log'), 'utf8')).toMatch(
      /^\d{4}-\d\d-\d\dT\S+Z scoring ended \(SIGKILL\) and is started again in 250 ms$/m,
    );
    await eventually(
      'leads are read again',
      async () => (await get(first, '/leads?limit=1')).status === 200,
      60_000,
    );
  }, 100_000);

  test('Ctrl-C ends every process that it started', async () => {
    const pids = Object.values((await startFile()).services).map(({ pid }) => pid ?? 0);
    expect(pids.every(lives)).toBe(true);
    running?.child.kill('SIGINT');
    expect(await running?.exited).toBe(0);
    await eventually('all have ended', () => !pids.some(lives), 5_000);
    running = undefined;
  }, 60_000);

  test('a start with another number of partitions than that of the data ends at once, with one sentence that says what to set', async () => {
    const refused = start({ PARTITIONS: '5' });
    expect(await refused.exited).toBe(1);
    const [sentence, ...others] = refused
      .output()
      .split('\n')
      .filter((line) => line.includes('PARTITIONS'));
    expect(sentence).toMatch(
      /^\S+ cannot start: topic \S+ has 6 partitions and PARTITIONS is 5: set PARTITIONS=6\./,
    );
    expect(others).toEqual([]);
    expect(refused.output()).not.toMatch(/^\s+at /m);
  }, 100_000);

  test('the next start has the same token and data, adds no samples again, and has the configured number of processes', async () => {
    const { file } = await started({ SCORING_PROCESSES: '2' });
    expect(Object.keys(file.services).sort()).toEqual(
      ['gateway', 'ingest', 'notification', 'scoring-0', 'scoring-1', 'share', 'site-analysis'].sort(),
    );
    expect(file.token).toBe(first.token);
    expect(file.ou_id).toBe(first.ou_id);
    const known = await get(file, '/leads?limit=10');
    // One of the printed calls created one more lead.
    expect(known.body.total - leads.total).toBeLessThanOrEqual(1);
    expect(known.body.data[0]).toEqual(leads.data[0]);
    running?.child.kill('SIGTERM');
    expect(await running?.exited).toBe(0);
    running = undefined;
  }, 200_000);
});

function shell(line: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (text: Buffer) => (output += text.toString()));
    child.once('close', (code) => {
      resolve({ code, output });
    });
  });
}
