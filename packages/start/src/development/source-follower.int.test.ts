// `npm run dev` after a change: a small checkout with the real compiler and real processes as its services.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ServiceName } from '@lead-scoring/contracts';
import { startProcess } from '@lead-scoring/platform';
import { eventually } from '@lead-scoring/platform/waiting';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RunningService } from '../system.js';
import { followSources, type SourceFollower } from './source-follower.js';

const checkout = join(import.meta.dirname, '../../../..');
let root: string;
let services: RunningService[];
let follower: SourceFollower;
let said: string[];
let bundled: string[][];

const write = (file: string, content: string) => {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), content);
};

/** A folder with a program, or a library, of one source file. */
function writeWorkspace(folder: string, source: string, references: readonly string[] = []): void {
  const dependencies = Object.fromEntries(references.map((one) => [`@small/${one}`, '0.1.0']));
  write(
    `${folder}/package.json`,
    JSON.stringify({ name: `@small/${folder.split('/')[1] ?? ''}`, type: 'module', dependencies }),
  );
  write(
    `${folder}/tsconfig.json`,
    JSON.stringify({
      compilerOptions: {
        ...{ module: 'NodeNext', target: 'ES2023', composite: true, types: ['node'], skipLibCheck: true },
        ...{ rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' },
      },
      include: ['src'],
      references: references.map((one) => ({ path: `../../packages/${one}` })),
    }),
  );
  write(`${folder}/src/main.ts`, source);
}

const program = (text: string) => `console.log(${text}); setInterval(() => undefined, 1_000);`;
const logOf = (name: string) => readFileSync(join(root, `${name}.log`), 'utf8');
const pidOf = (name: string) => services.find((service) => service.name === name)?.process.pid;

async function startService(name: ServiceName): Promise<RunningService> {
  const logFile = join(root, `${name}.log`);
  const process = await startProcess({
    name,
    command: globalThis.process.execPath,
    args: [join(root, 'services', name, 'dist/main.js')],
    logFile,
    restart: true,
  });
  return { name, instance: 0, processName: name, url: '', metricsUrl: '', process, logFile };
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'lead-scoring-dev-'));
  said = [];
  bundled = [];
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
  writeWorkspace('packages/words', "export const greeting: string = 'hello';");
  writeWorkspace(
    'services/share',
    `import { greeting } from '../../../packages/words/dist/main.js';\n${program('greeting')}`,
    ['words'],
  );
  writeWorkspace('services/ingest', program("'one'"));
  services = [];
  follower = followSources({
    root,
    system: { services, ready: () => Promise.resolve() },
    say: (message) => said.push(message),
    // The services of the small checkout start from their modules.
    bundle: (names) => {
      bundled.push([...names]);
      return Promise.resolve();
    },
  });
  write('services/share/src/unused.ts', 'export {};');
  write('services/ingest/src/unused.ts', 'export {};');
  await eventually('both are built', () => said.some((one) => one.startsWith('Built and restarted')), 60_000);
  services.push(await startService('share'), await startService('ingest'));
  await eventually('both run', () => logOf('share').includes('hello') && logOf('ingest').includes('one'));
  said.length = 0;
  bundled.length = 0;
}, 90_000);

afterEach(async () => {
  await follower.stop();
  await Promise.all(services.map(({ process }) => process.stop()));
  rmSync(root, { recursive: true, force: true });
});

test('a change of a service restarts that service, a change of a package the services that depend on it', async () => {
  const before = { share: pidOf('share'), ingest: pidOf('ingest') };
  write('services/ingest/src/main.ts', program("'two'"));
  await eventually('ingest says it', () => logOf('ingest').includes('two'));
  expect(pidOf('share')).toBe(before.share);
  const ingest = pidOf('ingest');
  expect(ingest).not.toBe(before.ingest);

  write('packages/words/src/main.ts', "export const greeting: string = 'good morning';");
  await eventually('share says it', () => logOf('share').includes('good morning'));
  expect(pidOf('ingest')).toBe(ingest);
  expect(bundled).toEqual([['ingest'], ['share']]);
}, 60_000);

test('a change that does not compile is reported and restarts nothing; once it is mended, all changes run', async () => {
  const before = { share: pidOf('share'), ingest: pidOf('ingest') };
  write('services/ingest/src/main.ts', program("'two' as number"));
  await eventually('the error is shown', () =>
    said.some((one) => /services\/ingest\/src\/main\.ts.*TS2352/s.test(one)),
  );
  expect({ share: pidOf('share'), ingest: pidOf('ingest') }).toEqual(before);
  expect(bundled).toEqual([]);

  // An editor that replaces the file by a new one changes it as well.
  write('services/ingest/src/main.ts~', program("'three'"));
  unlinkSync(join(root, 'services/ingest/src/main.ts'));
  write('services/ingest/src/main.ts', program("'three'"));
  await eventually('ingest says it', () => logOf('ingest').includes('three'));
  expect(pidOf('share')).toBe(before.share);
}, 60_000);
