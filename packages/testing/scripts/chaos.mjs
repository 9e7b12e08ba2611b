// `npm run test:chaos`: the tests that inject faults or load, at their full size. `npm test` runs the same tests scaled down. Every
// entry of chaos.json runs in the listed order, the longest first, also after a failed entry. Entries that mostly wait (`waits`)
// run beside the others, one at a time. .run/chaos keeps the output of each entry, and the logs of the services of a failed one;
// the table of durations and results is printed last, and written to .run/chaos/results.md.
//
//   npm run test:chaos -- exactly-once share      the entries whose names contain one of these words
//   npm run test:chaos -- share -t 'guesses'      the first argument with a dash, and all after it, go to Jest
//   npm run test:chaos -- versions --before DIR   DIR is a built checkout of an earlier commit, without which "versions" is skipped
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { clearTimeout, setTimeout } from 'node:timers';
import { pathToFileURL } from 'node:url';
import { jest as jestProgram, root, testEnvironment } from './jest-runs.mjs';

const { startPlatform } = await import(pathToFileURL(join(root, 'packages/platform/dist/index.js')).href);

/** The time limit of an entry, so that a hanging test does not keep the others from running; `limitMinutes` overrides it. */
const defaultLimitMinutes = 30;
const kept = join(root, '.run/chaos');

const given = process.argv.slice(2);
const before = takeBefore(given);
const firstOption = given.findIndex((argument) => argument.startsWith('-'));
const names = firstOption < 0 ? given : given.slice(0, firstOption);
const forJest = firstOption < 0 ? [] : given.slice(firstOption);

const listed = JSON.parse(await readFile(join(import.meta.dirname, '../chaos.json'), 'utf8'));
const chosen = listed.filter(({ name }) => names.length === 0 || names.some((one) => name.includes(one)));
if (chosen.length === 0) {
  process.stderr.write(`no entry of chaos.json has a name that contains ${names.join(' or ')}\n`);
  process.exit(2);
}

/** Takes `--before DIR` out of the arguments; resolves DIR against the directory in which the command was typed. */
function takeBefore(words) {
  const at = words.indexOf('--before');
  if (at < 0) return undefined;
  const [, directory] = words.splice(at, 2);
  const path = directory && resolve(process.env.INIT_CWD ?? root, directory);
  if (path && existsSync(join(path, 'services/gateway/dist/main.js'))) return path;
  process.stderr.write('--before needs the folder of a built checkout of an earlier commit\n');
  process.exit(2);
}

/** Resolves with Jest's report; null when Jest wrote none. */
async function runEntry({ name, files, limitMinutes = defaultLimitMinutes }, environment, folder) {
  const report = join(folder, `${name}.json`);
  await rm(report, { force: true });
  const jest = spawn(
    process.execPath,
    [
      jestProgram,
      ...['--runInBand', '--forceExit', '--json', `--outputFile=${report}`],
      ...files.flatMap((file) => ['--testPathPatterns', `/${file.replaceAll('.', '\\.')}$`]),
      ...forJest,
    ],
    { cwd: root, env: environment, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const log = createWriteStream(logOf(name));
  jest.stderr.pipe(log, { end: false });
  const overdue = setTimeout(() => {
    const message = `${name}: killed, because it was not done after ${limitMinutes} minutes\n`;
    process.stderr.write(message);
    log.write(message);
    jest.kill('SIGKILL');
  }, limitMinutes * 60_000);
  await new Promise((resolve) => jest.on('close', resolve));
  clearTimeout(overdue);
  log.end();
  await finished(log);
  return readFile(report, 'utf8').then(JSON.parse, () => null);
}

const logOf = (name) => join(kept, `${name}.log`);
const serviceLogsOf = (name) => join(kept, `${name}.services`);

/** Runs the entry, with its own folder for service logs; returns its row of the table. */
async function rowOf(entry, environment, folder) {
  const { name } = entry;
  const from = Date.now();
  process.stdout.write(`${name}: ${entry.holds}\n`);
  await rm(serviceLogsOf(name), { recursive: true, force: true });
  await mkdir(serviceLogsOf(name), { recursive: true });
  const report = await runEntry(entry, { ...environment, KEEP_SERVICE_LOGS_IN: serviceLogsOf(name) }, folder);
  const row = { ...entry, ...resultOf(report), tookMs: Date.now() - from };
  if (row.failed === 0) {
    await rm(serviceLogsOf(name), { recursive: true, force: true });
    process.stdout.write(`${name} passed in ${shownDuration(row.tookMs)} minutes\n`);
  } else
    process.stdout.write(
      `${name} FAILED: see ${relative(root, logOf(name))} and ${relative(root, serviceLogsOf(name))}\n`,
    );
  return row;
}

function resultOf(report) {
  if (!report) return { passed: 0, failed: 1, skipped: 0 };
  return {
    passed: report.numPassedTests,
    // A file that could not even run counts as one failure.
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests,
  };
}

function shownDuration(ms) {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** The table in the form of docs/chaos.md. */
function tableOf(rows) {
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  const lines = [
    ...rows,
    {
      name: 'all',
      passed: sum('passed'),
      failed: sum('failed'),
      skipped: sum('skipped'),
      tookMs: Date.now() - startedAt,
    },
  ].map(({ name, passed, failed, skipped, tookMs }) =>
    [`\`${name}\``, passed, failed, skipped, shownDuration(tookMs)].map(String),
  );
  const head = ['entry', 'passed', 'failed', 'skipped', 'minutes'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column].length)),
  );
  const shown = (cells) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  const day = new Date(startedAt).toISOString().slice(0, 10);
  return `On ${day}, on ${cpus().length} cores:\n\n${[shown(head), rule, ...lines.map(shown)].join('\n')}\n`;
}

await mkdir(kept, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), 'lead-scoring-chaos-'));
const rows = [];
const startedAt = Date.now();
const platform = await startPlatform({
  environment: process.env,
  onProgress: (message) => process.stdout.write(`${message}\n`),
});
try {
  const environment = {
    ...testEnvironment(platform.endpoints),
    CHAOS: 'full',
    ...(before && { BEFORE_CHECKOUT: before }),
  };
  const runOneAfterTheOther = async (entries) => {
    for (const entry of entries) {
      rows.push(await rowOf(entry, environment, folder));
      // Written after each entry, so that an interrupted run leaves a table.
      await writeFile(join(kept, 'results.md'), tableOf(rows));
    }
  };
  await Promise.all([
    runOneAfterTheOther(chosen.filter(({ waits }) => !waits)),
    runOneAfterTheOther(chosen.filter(({ waits }) => waits)),
  ]);
} finally {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
}

process.stdout.write(`\n${tableOf(rows)}`);
process.exit(rows.every(({ failed }) => failed === 0) ? 0 : 1);
