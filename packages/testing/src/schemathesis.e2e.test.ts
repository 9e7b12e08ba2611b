// The API held against its own OpenAPI document by a tool that knows nothing else of it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { furnish, send } from './route-examples.js';
import { schemathesis, type Schemathesis } from './schemathesis.js';
import { startTestSystem, type TestSystem } from './test-system.js';

let system: TestSystem;
let tool: Schemathesis;
let folder: string;

beforeAll(async () => {
  tool = await schemathesis();
  folder = await mkdtemp(join(tmpdir(), 'schemathesis-'));
  system = await startTestSystem();
  await furnish(system, 'generated', system.ouId);
}, 300_000);

afterAll(async () => {
  await system.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const everything = ['examples', 'coverage', 'fuzzing', 'stateful'];

test.each([
  {
    what: 'every operation',
    select: ['--exclude-operation-id', 'revokeToken'],
    phases: everything,
    seconds: 100,
    atLeast: 1_500,
  },
  // In a chain of requests it would end the very token that the tool uses.
  {
    what: 'revokeToken',
    select: ['--include-operation-id', 'revokeToken'],
    phases: ['examples', 'coverage', 'fuzzing'],
    seconds: 10,
    atLeast: 20,
  },
])(
  '$what answers generated requests, good and bad, as the OpenAPI document says',
  async ({ select, phases, seconds, atLeast }) => {
    const made = await send(system, 'createToken', {
      body: { name: 'Schemathesis', role: 'admin', ou_ids: [system.ouId] },
    });
    const { token } = made.body as { token: string };
    const file = join(folder, `${select[1] ?? 'all'}.xml`);
    const { output } = await tool.run([
      '--config-file',
      join(import.meta.dirname, '../schemathesis/schemathesis.toml'),
      'run',
      `${system.url}/openapi.json`,
      ...select,
      '--header',
      `Authorization: Bearer ${token}`,
      '--phases',
      phases.join(','),
      '--max-time',
      String(seconds),
      '--workers',
      '2',
      '--no-color',
      '--report-junit-path',
      file,
    ]);
    const report = await readFile(file, 'utf8').catch(() => '');
    const failures = Number(/<testsuites[^>]*failures="(\d+)"/.exec(report)?.[1] ?? NaN);
    const errors = Number(/<testsuites[^>]*errors="(\d+)"/.exec(report)?.[1] ?? NaN);
    const cases = Number(/(\d+) generated/.exec(output)?.[1] ?? NaN);
    expect({ failures, errors, output: failures + errors === 0 ? 'all well' : output }).toEqual({
      failures: 0,
      errors: 0,
      output: 'all well',
    });
    expect(cases).toBeGreaterThanOrEqual(atLeast);
  },
  300_000,
);
