// The images of all services, run from their root: read-only, as another user than root, with nothing of the checkout. They score an event,
// draw pictures in threads, export traces, and have the size and the content of deploy/README.md.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { leadIdOf, serviceNames, type ServiceName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { createRules } from './ledger.js';
import { startHttpReceiver, type HttpReceiver } from './receivers/index.js';
import { checkout, startTestSystem, type TestSystem } from './test-system.js';

const execute = promisify(execFile);
const mostBytes = 120e6;
const imageOf = (name: ServiceName) => `localhost/lead-scoring-${name}`;
const alias = 'ada@example.com';

let system: TestSystem;
let collector: HttpReceiver;
/** The bodies that the collector of traces received. */
const exported: string[] = [];

beforeAll(async () => {
  await execute(join(checkout, 'deploy/build-images.sh'), { maxBuffer: 1e8 }).catch((error: unknown) => {
    throw new Error(`the images could not be built: ${(error as { stderr?: string }).stderr ?? ''}`);
  });
  collector = await startHttpReceiver(({ body }) => {
    exported.push(body);
    return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  });
  system = await startTestSystem({
    programOf: (name) => ({ command: join(checkout, 'deploy/run-image.sh'), args: [imageOf(name)] }),
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
  });
  await createRules(system);
}, 1_800_000);

afterAll(async () => {
  await system.stop();
  await collector.stop();
}, 60_000);

test('six services from their images score an event, and show its score by pictures that threads draw', async () => {
  const answer = await system.request<{ position: string }>('/ingest', {
    body: { alias_kind: 'email', alias, event_type: 'Page View' },
  });
  expect(answer.status).toBe(202);
  const lead = leadIdOf(system.ouId, 'email', alias);
  const score = await system.request<{ score: number }>(
    `/score/${lead}?min_position=${answer.body.position}`,
  );
  expect(score).toMatchObject({ status: 200, body: { score: expect.any(Number) } });
  expect(score.body.score).toBeGreaterThan(0);
  const picture = await system.request(`/lead/${lead}/score-history.png`);
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
}, 120_000);

test.each(serviceNames)(
  '%s: the root is read-only, the user is not root, no capability is left',
  async (name) => {
    const pid = String(system.service(name).process.pid);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^Gid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    const mounts = await readFile(`/proc/${pid}/mountinfo`, 'utf8');
    const options = mounts
      .split('\n')
      .flatMap((line) => (line.split(' ')[4] === '/' ? [line.split(' ')[5]] : []));
    expect(options.at(-1)).toMatch(/(^|,)ro(,|$)/);
  },
);

test.each(serviceNames)(
  '%s: the image has the code of this service alone, without sources and tools',
  async (name) => {
    const app = `/proc/${String(system.service(name).process.pid)}/root/app`;
    const files = await readdir(app, { recursive: true });
    expect(await readdir(join(app, 'services'))).toEqual([name]);
    expect(files.filter((file) => /\.tsx?$/.test(file))).toEqual([]);
    const tools = /^node_modules\/(typescript|@typescript|turbo|esbuild|jest|@swc|@lead-scoring)(\/|$)/;
    expect(files.filter((file) => tools.test(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'THIRD-PARTY-LICENCES.txt']));
  },
);

test.each(serviceNames)('%s: the image is smaller than 120 MB without its base', async (name) => {
  const app = `/proc/${String(system.service(name).process.pid)}/root/app`;
  const { stdout } = await execute('du', ['--summarize', '--bytes', app]);
  expect(Number(stdout.split('\t')[0])).toBeLessThan(mostBytes);
});

test('what the services record on the log is traced from the images too', async () => {
  const traced = ['gateway', 'ingest', 'scoring'];
  await eventually('a span of each service that the event passed', () => {
    const text = exported.join('\n');
    return Promise.resolve(traced.every((name) => text.includes(`"${name}"`)));
  });
}, 120_000);

test('a stack names the line of the TypeScript source', async () => {
  const program = `import { paintPicture } from '/app/services/scoring/paint-picture.js'; await paintPicture('no picture')`;
  const { stderr } = await execute(join(checkout, 'deploy/run-image.sh'), [
    imageOf('scoring'),
    ...['node', '--enable-source-maps', '--input-type=module', '--eval', program],
  ]).catch((error: unknown) => error as { stderr: string });
  expect(stderr).toMatch(/packages\/charts\/src\/painting\/drawing\.ts:\d+:\d+/);
});
