// Schemathesis tests the API against its OpenAPI document. `npm run test:chaos` makes 20,000 requests.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFullSize } from './full-size.js';
import { furnish, routeExamples, send } from './route-examples.js';
import { schemathesis, type Schemathesis } from './schemathesis.js';
import { startTestSystem, type TestSystem } from './test-system.js';

let system: TestSystem;
let tool: Schemathesis;
let folder: string;
let dictionaries: string;
let known: { position: string; cursor: string };
const own = join(import.meta.dirname, '../schemathesis');

beforeAll(async () => {
  tool = await schemathesis();
  folder = await mkdtemp(join(tmpdir(), 'schemathesis-'));
  system = await startTestSystem();
  const unit = await furnish(system, 'generated', system.ouId);
  await furnish(system, 'another', system.ouId);
  const { body: sent } = await send(system, 'ingest', routeExamples.ingest(unit));
  const { body: leads } = await send(system, 'listLeads', { query: { limit: '1' } });
  known = {
    position: (sent as { position: string }).position,
    cursor: (leads as { next_cursor: string }).next_cursor,
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
  await system.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const everything = ['examples', 'coverage', 'fuzzing', 'stateful'];

test.each([
  {
    what: 'every operation',
    select: ['--exclude-operation-id', 'revokeToken', '--exclude-operation-id', 'deleteLead'],
    phases: everything,
    seconds: isFullSize ? 420 : 60,
    // The least number of cases; a faster machine makes more.
    atLeast: isFullSize ? 20_000 : 250,
  },
  // Run apart: in a chain of requests they would revoke the token that the tool uses, and delete the lead that most requests name.
  {
    what: 'revokeToken and deleteLead',
    select: ['--include-operation-id', 'revokeToken', '--include-operation-id', 'deleteLead'],
    phases: ['examples', 'coverage', 'fuzzing'],
    seconds: 10,
    atLeast: 20,
  },
])(
  '$what answers generated requests, good and bad, as the OpenAPI document says',
  async ({ select, phases, seconds, atLeast }) => {
    let cases = await casesOf({ select, phases, seconds, name: select[1] ?? 'all' });
    // Further runs with other seeds until there are enough cases; the first run is the same in every run of the tests.
    for (let seed = 1; cases < atLeast && isFullSize; seed += 1)
      cases += await casesOf({
        select,
        phases: phases.filter((phase) => phase === 'fuzzing' || phase === 'stateful'),
        seconds: 120,
        name: `${select[1] ?? 'all'}-${seed}`,
        seed,
      });
    expect(cases).toBeGreaterThanOrEqual(atLeast);
  },
  isFullSize ? 2_400_000 : 300_000,
);

interface Part {
  name: string;
  select: readonly string[];
  phases: readonly string[];
  seconds: number;
  /** Absent: the fixed seed, which gives the same requests every time. */
  seed?: number;
}

/** Runs Schemathesis for this time; resolves with the number of cases, or throws with the faults that it found. */
async function casesOf({ name, select, phases, seconds, seed }: Part): Promise<number> {
  const made = await send(system, 'createToken', {
    body: { name: 'Schemathesis', role: 'admin', ou_ids: [system.ouId] },
  });
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
    phases: phases.join(','),
    'max-time': String(seconds),
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
  return Number(/(\d+) generated/.exec(output)?.[1] ?? NaN);
}
