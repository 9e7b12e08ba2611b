// Schemathesis tests the API against its OpenAPI document with 20,000 requests. `npm run test:chaos` only: contract-walk and bad-input hold the
// answers to good and bad requests against the declarations that the document is made of.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFullSize } from './full-size.js';
import { furnish, routeExamples, routeNames, send } from './route-examples.js';
import { schemathesis, type Schemathesis } from './schemathesis.js';
import { startTestSystem, type TestSystem } from './test-system.js';

let system: TestSystem;
let tool: Schemathesis;
let folder: string;
let dictionaries: string;
/** Values that the hooks of Schemathesis put into requests. */
let known: {
  position: string;
  cursor: string;
  ou_id: string;
  parameters: Record<string, Record<string, string>>;
};
const own = join(import.meta.dirname, '../schemathesis');

beforeAll(async () => {
  if (!isFullSize) return;
  tool = await schemathesis();
  folder = await mkdtemp(join(tmpdir(), 'schemathesis-'));
  system = await startTestSystem();
  const unit = await furnish(system, 'generated', system.ouId);
  const { body: sent } = await send(system, 'ingest', routeExamples.ingest(unit));
  const { body: leads } = await send(system, 'listLeads', { query: { limit: '1' } });
  known = {
    position: (sent as { position: string }).position,
    cursor: (leads as { next_cursor: string }).next_cursor,
    ou_id: unit.ouId,
    parameters: Object.fromEntries(
      routeNames.map((name) => [name, routeExamples[name](unit).parameters ?? {}]),
    ),
  };
  // Most requests name existing ids, because the others only get 404.
  const things = {
    'path.leadID': unit.leadId,
    'path.ouId': unit.ouId,
    'path.id': unit.rulesetId,
    'path.token': unit.shareToken,
    'path.eventType': unit.eventType,
    'query.lead_id': unit.leadId,
    'query.ruleset_id': unit.rulesetId,
    'body.ruleset_id': unit.rulesetId,
    'body.ouId': unit.ouId,
    'body.url': unit.siteUrl,
    'header.X-OU-Id': unit.ouId,
  };
  dictionaries = [
    ...Object.entries(things).map(([place, value]) => `[dictionaries."${place}"]\nvalues = ["${value}"]`),
    '[parameters]',
    ...Object.keys(things).map((place) => `"${place}" = { dictionary = "${place}", probability = 0.7 }`),
  ].join('\n');
}, 300_000);

afterAll(async () => {
  if (!isFullSize) return;
  await system.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/**
 * Operations that are tested by themselves: they would limit or revoke the token that the tool uses, and delete the lead, the events, the rules
 * and the organizational unit that most requests name.
 */
const apart = [
  'changeToken',
  'changeLimits',
  'revokeToken',
  'deleteLead',
  'deleteEventTypeEvents',
  'putConfiguration',
  'restoreConfiguration',
  'endOrgUnit',
];

(isFullSize ? test : test.skip).each([
  {
    what: 'every operation',
    select: apart.flatMap((operation) => ['--exclude-operation-id', operation]),
    phases: ['coverage', 'fuzzing', 'stateful'],
    seconds: 420,
    atLeast: 20_000,
  },
  {
    what: apart.join(' and '),
    select: apart.flatMap((operation) => ['--include-operation-id', operation]),
    phases: ['coverage', 'fuzzing'],
    seconds: 20,
    atLeast: 100,
  },
])(
  '$what answers generated requests, good and bad, as the OpenAPI document says',
  async ({ what, select, phases, seconds, atLeast }) => {
    const extent = { phases: phases.join(','), 'max-time': String(seconds) };
    let cases = await casesOf({ select, name: what, extent });
    // Further runs with other seeds until there are enough cases; the first run is the same in every run of the tests.
    for (let seed = 1; cases < atLeast; seed += 1)
      cases += await casesOf({
        select,
        extent: { phases: 'fuzzing,stateful', 'max-time': '120' },
        name: `${what} ${seed}`,
        seed,
      });
  },
  2_400_000,
);

interface Part {
  name: string;
  select: readonly string[];
  /** The options of Schemathesis that say which tests it makes, and how many. */
  extent: Readonly<Record<string, string>>;
  /** Absent: the fixed seed, which gives the same requests every time. */
  seed?: number;
}

/** Runs Schemathesis; resolves with the number of cases, or throws with the faults that it found. */
async function casesOf({ name, select, extent, seed }: Part): Promise<number> {
  const made = await send(system, 'createToken', {
    body: { name: 'Schemathesis', role: 'admin', ou_ids: [system.ouId] },
  });
  expect(made.status).toBe(201);
  const { token } = made.body as { token: string };
  const config = join(folder, `${name}.toml`);
  const settings = await readFile(join(own, 'schemathesis.toml'), 'utf8');
  await writeFile(
    config,
    `${seed === undefined ? settings : settings.replace(/^seed = .*$/m, `seed = ${seed}`).replace('deterministic = true', 'deterministic = false')}\n${dictionaries}`,
  );
  const file = join(folder, `${name}.xml`);
  const options = {
    header: `Authorization: Bearer ${token}`,
    ...extent,
    // One worker, because of a bug of Python 3.11: its parser is not safe when two threads recurse deeply.
    workers: '1',
    'report-junit-path': file,
  };
  const { output } = await tool.run(
    [
      ...['--config-file', config, 'run', `${system.url}/openapi.json`, '--no-color', ...select],
      ...Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]),
    ],
    folder,
    { SCHEMATHESIS_HOOKS: join(own, 'hooks.py'), KNOWN: JSON.stringify(known) },
  );
  const report = await readFile(file, 'utf8').catch(() => '');
  const failures = Number(/<testsuites[^>]*failures="(\d+)"/.exec(report)?.[1] ?? NaN);
  const errors = Number(/<testsuites[^>]*errors="(\d+)"/.exec(report)?.[1] ?? NaN);
  expect({ failures, errors, output: failures + errors === 0 ? 'all well' : output }).toEqual({
    failures: 0,
    errors: 0,
    output: 'all well',
  });
  // Without rights or without an organizational unit, a request is refused before anything of its operation is tried.
  expect(output).not.toMatch(/returned only 401\/403/);
  const operations = Number(/(\d+) selected/.exec(output)?.[1] ?? NaN);
  const tried = report.match(/<testcase [^>]*>(?!\s*<skipped)/g)?.length ?? 0;
  expect(tried).toBeGreaterThanOrEqual(operations);
  return Number(/(\d+) generated/.exec(output)?.[1] ?? NaN);
}
