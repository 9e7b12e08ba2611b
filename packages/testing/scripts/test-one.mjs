// `npm run test:one`: one test file, against servers that stay up for the next run. A background process keeps them; it ends
// after half an hour without a run. .run/test-platform.json holds the servers' addresses.
//
//   npm run test:one packages/event-log/src/claims.int.test.ts      a path, or a part that only one test has: claims.int
//   npm run test:one -- claims.int -t 'a part of a title'           arguments after the path go to Jest
//   npm run test:one -- --stop                                      ends the servers now
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, bundleServices, workspaceFolders } from '../../start/scripts/prepare.mjs';
import { root, runJest, testEnvironment } from './jest-runs.mjs';
import { foldersToBuild, jestArguments, kindOf, testsNamed } from './one-test.mjs';

const stateFile = join(root, '.run/test-platform.json');
const serverVariables = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'MONGODB_URI'];

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

async function platformPackage() {
  return import(pathToFileURL(join(root, 'packages/platform/dist/index.js')).href);
}

async function stopServers() {
  build(['packages/platform']);
  const { stopKeptPlatform } = await platformPackage();
  const stopped = await stopKeptPlatform(stateFile);
  process.stdout.write(stopped ? 'The test servers are stopped.\n' : 'No test servers are running.\n');
}

function allTests() {
  return workspaceFolders().flatMap((folder) =>
    readdirSync(join(root, folder, 'src'), { recursive: true })
      .map((file) => `${folder}/src/${file}`)
      .filter((file) => kindOf(file) !== undefined),
  );
}

function theTest(wanted) {
  if (wanted === undefined || wanted.startsWith('-'))
    fail('Name a test file: npm run test:one PATH (with options of Jest: npm run test:one -- PATH OPTIONS)');
  // npm runs this script in the root; the path is relative to the directory in which the command was typed.
  const typed = resolve(process.env.INIT_CWD ?? root, wanted);
  const found = testsNamed(allTests(), existsSync(typed) ? relative(root, typed) : wanted);
  if (found.length === 0)
    fail(`No test's path contains ${wanted}. Tests end in .unit.test.ts, .int.test.ts or .e2e.test.ts.`);
  if (found.length > 1)
    fail(`The paths of several tests contain ${wanted}; name one of them:\n  ${found.join('\n  ')}`);
  return found[0];
}

async function runOne(wanted, options) {
  const file = theTest(wanted);
  const folders = foldersToBuild(file, workspaceFolders());
  if (folders.length > 0) build(folders);
  if (kindOf(file) === 'e2e') await bundleServices();
  const args = jestArguments(file, options);
  const needsServers = kindOf(file) !== 'unit';
  if (!needsServers || serverVariables.every((name) => process.env[name])) {
    process.exit(await runJest(args, testEnvironment()));
  }
  const { useKeptPlatform } = await platformPackage();
  const onProgress = (message) => process.stdout.write(`${message}\n`);
  const { endpoints, release } = await useKeptPlatform({ stateFile, onProgress });
  const code = await runJest(args, testEnvironment(endpoints));
  release();
  process.exit(code);
}

const [wanted, ...options] = process.argv.slice(2);
if (wanted === '--stop') await stopServers();
else
  await runOne(wanted, options).catch((error) =>
    fail(error instanceof Error ? error.message : String(error)),
  );
