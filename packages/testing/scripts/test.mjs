// `npm test`, once the checkout is built: starts the servers once for the whole run, runs the checks and every
// test, and prints `N passed, N failed` as its last line.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { root, runJest, testEnvironment } from './jest-runs.mjs';

const { startPlatform } = await import(pathToFileURL(join(root, 'packages/platform/dist/index.js')).href);

const checks = ['format:check', 'lint', 'dependency-rules', 'dead-code'];
/**
 * Files against the servers run three at a time, the longest first: each waits a part of its time, for restarts and for what is decided
 * elsewhere, and two leave a fifth of two processors unused. Those of `faults` load the machine, two
 * at a time; those of `alone` promise a time and run one after the other.
 */
const atServers = { projects: ['int', 'e2e'], args: ['--maxWorkers=3'] };
const faults = { projects: ['faults'], args: ['--maxWorkers=2'] };
const alone = { projects: ['alone'], args: ['--runInBand'] };
/**
 * Run beside all others, in the processor time that these leave unused while they wait for restarts, time-outs and other processes. A file
 * may have a tenth of a processor for minutes. Two at a time: where the others have needed both processors, these have them at the end.
 */
const unit = {
  projects: ['unit'],
  args: ['--maxWorkers=2'],
  priority: constants.priority.PRIORITY_BELOW_NORMAL,
};

let passed = 0;
let failed = 0;
/** Each test file with the seconds that it took. */
const durations = [];
/** What failed, each with the first lines of its reason: shown at the end too, as a long output is often cut. */
const failures = [];

/** Shows a check's output when it has ended. It runs at low priority beside the tests, which leave processor time unused. */
function runCheck(check) {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', check], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    const said = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => said.push(text));
    child.on('close', (code) => {
      process.stdout.write(`\n> ${check}\n${said.join('')}`);
      if (code === 0) passed += 1;
      else {
        failed += 1;
        failures.push({ what: `npm run ${check}`, reason: said.join('') });
      }
      resolve();
    });
  });
}

async function runChecks() {
  for (const check of checks) await runCheck(check);
}

async function runSuite({ projects, args, priority }, env) {
  const report = join(temporary, `${projects.join('-')}.json`);
  const code = await runJest(
    [
      '--selectProjects',
      ...projects,
      ...args,
      // A handle that a test left open must not keep the run from ending.
      '--forceExit',
      '--json',
      `--outputFile=${report}`,
      ...process.argv.slice(2),
    ],
    env,
    priority,
  );
  const result = await readFile(report, 'utf8').then(JSON.parse, () => null);
  // A suite that could not run counts as one failure.
  passed += result?.numPassedTests ?? 0;
  failed += result ? result.numFailedTests + result.numRuntimeErrorTestSuites : 1;
  if (code !== 0 && result?.success) failed += 1;
  for (const { name, startTime, endTime, status, message, assertionResults } of result?.testResults ?? []) {
    const file = relative(root, name);
    durations.push({ file, seconds: Math.round((endTime - startTime) / 1_000) });
    const failedTests = assertionResults.filter((test) => test.status === 'failed');
    for (const { fullName, failureMessages } of failedTests)
      failures.push({ what: `${file}: ${fullName}`, reason: failureMessages.join('\n') });
    if (status === 'failed' && failedTests.length === 0) failures.push({ what: file, reason: message });
  }
}

const checked = runChecks();
const temporary = await mkdtemp(join(tmpdir(), 'lead-scoring-results-'));
let platform;
try {
  platform = await startPlatform({
    environment: process.env,
    onProgress: (message) => process.stdout.write(`${message}\n`),
  });
  const env = testEnvironment(platform.endpoints);
  const withServers = async () => {
    await runSuite(atServers, env);
    await runSuite(faults, env);
    await runSuite(alone, env);
  };
  await Promise.all([withServers(), runSuite(unit, testEnvironment(undefined, 10))]);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${reason}\n`);
  failed += 1;
  failures.push({ what: 'the run itself', reason });
} finally {
  await platform?.stop();
  await checked;
  await rm(temporary, { recursive: true, force: true });
}

const longest = durations.filter(({ seconds }) => seconds >= 20).sort((a, b) => b.seconds - a.seconds);
if (longest.length > 0) process.stdout.write('\nThe longest test files, in seconds:\n');
for (const { file, seconds } of longest) process.stdout.write(`${String(seconds).padStart(6)}  ${file}\n`);
if (failures.length > 0) process.stdout.write('\nWhat failed:\n');
for (const { what, reason } of failures)
  process.stdout.write(
    `  ${what}\n${stripVTControlCharacters(reason).replace(/^/gm, '    ').slice(0, 1_000)}\n`,
  );
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
