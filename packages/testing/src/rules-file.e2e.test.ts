// `lead-scoring rules export`, `diff` and `apply` against the running system: what the command line says, its exit codes, and that a
// configuration passes through a file without loss, all of it or nothing.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exitCodes } from '@lead-scoring/cli';
import { runCommand } from './command-line.js';
import { checkout, startTestSystem, upToScoring, type TestSystem } from './test-system.js';

const example = join(checkout, 'packages/cli/examples/rules.yaml');

let system: TestSystem;
let directory: string;
/** The organizational unit of the test, which begins without a configuration. */
let ouId: string;

beforeAll(async () => {
  system = await startTestSystem({ instances: upToScoring });
  directory = await mkdtemp(join(tmpdir(), 'lead-scoring-rules-'));
}, 120_000);

afterAll(async () => {
  await system.stop();
  await rm(directory, { recursive: true, force: true });
}, 60_000);

let units = 0;
async function newUnit(): Promise<string> {
  const made = await system.request<{ id: string }>('/org-units', {
    body: { name: `Unit ${String((units += 1))}` },
  });
  expect(made.status).toBe(201);
  return made.body.id;
}

/** Runs a command of `rules`. */
function rules(words: string[], options: { stdin?: string; unit?: string; token?: string } = {}) {
  return runCommand(system, ['rules', ...words], { unit: ouId, directory, ...options });
}

async function file(name: string, content: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

interface Configuration {
  engagement_rulesets: { name: string; rules: { label?: string; weight: number }[] }[];
  [section: string]: unknown;
}

async function configuration(unit = ouId) {
  const answer = await system.request<Configuration>('/scoring/configuration', {
    headers: { 'x-ou-id': unit },
  });
  expect(answer.status).toBe(200);
  return { document: answer.body, version: Number(answer.headers.get('etag')?.replaceAll('"', '')) };
}

const inUnit = () => ({ 'x-ou-id': ouId });

describe('the example file', () => {
  beforeAll(async () => {
    ouId = await newUnit();
  });

  test('has every section, and applies to an organizational unit that has none', async () => {
    const before = await configuration();
    const sections = [...(await readFile(example, 'utf8')).matchAll(/^(\w+):/gm)].map(
      ([, section]) => section,
    );
    expect(sections.sort()).toEqual(Object.keys(before.document).sort());
    const diff = await rules(['diff', example]);
    expect(diff.exitCode).toBe(exitCodes.incomplete);
    expect(diff.written).toContain('engagement_rulesets: 7 added\n  + ruleset Intent\n');
    expect(diff.written).toContain('  + rule Looked at prices in Intent\n');
    expect(diff.written).toMatch(
      /profile_mappings: 3 added\n {2}\+ mapping seniority from metadata\.job_title/,
    );
    expect(diff.written).toContain('      Hot: (none) → 50 to open, #e8590c\n');
    expect(diff.written).toContain('account_rulesets: 2 added\n  + ruleset Companies\n');
    expect(diff.written).toContain('      A company that buys: (none) → 100 to open, #2b8a3e\n');
    expect(diff.written).toContain(
      'account_roll_up: 1 changed\n  ~ roll-up\n      method: (none) → top\n      leads: (none) → 3\n',
    );
    expect(diff.written).toContain('  + filter To call this week\n');
    expect(diff.noted).toContain('rules apply --if-version 0');
    expect(await configuration()).toEqual(before);

    const applied = await rules(['apply', example]);
    expect([applied.exitCode, applied.written]).toEqual([exitCodes.done, diff.written]);
    expect(applied.noted).toMatch(
      /^Applied as one change: the configuration has version \d+ now\.\n.* rescore scores --dry-run, and .* rescore profiles --dry-run\n$/,
    );
  });

  test('applied twice, or as an export of itself in YAML and JSON, changes nothing: no version, no event', async () => {
    const { version } = await configuration();
    const yaml = await rules(['export']);
    const json = await rules(['export', '--json']);
    expect([yaml.exitCode, json.exitCode]).toEqual([exitCodes.done, exitCodes.done]);
    expect(JSON.parse(json.written)).toEqual((await configuration()).document);
    for (const path of [
      example,
      await file('export.yaml', yaml.written),
      await file('export.json', json.written),
    ]) {
      const diff = await rules(['diff', path]);
      expect([diff.exitCode, diff.written, diff.noted]).toEqual([
        exitCodes.done,
        '',
        'The configuration equals the file: nothing to change.\n',
      ]);
      expect((await rules(['apply', path])).exitCode).toBe(exitCodes.done);
    }
    expect((await configuration()).version).toBe(version);
  });

  test('makes the same configuration in another organizational unit, from a file or standard input', async () => {
    const { written } = await rules(['export']);
    const unit = await newUnit();
    expect((await rules(['apply', '-'], { stdin: written, unit })).exitCode).toBe(exitCodes.done);
    expect((await rules(['export'], { unit })).written).toBe(written);
  });

  test('gives points, levels and cells of the grid, and its filter lists the lead', async () => {
    const event = (event_type: string, metadata: object) => ({
      alias_kind: 'email',
      alias: 'ada@analytical.example',
      event_type,
      metadata: { job_title: 'VP Engineering', company_size: 80, ...metadata },
    });
    const taken = await system.request<{ position: string }>('/ingest', {
      headers: inUnit(),
      body: [
        event('Page View', { path: '/pricing' }),
        event('Form Submit', { form: 'demo' }),
        event('Form Submit', { form: 'demo' }),
        event('Page View', { path: '/plans' }),
        event('Page View', { path: '/pricing/teams' }),
        event('Page View', { path: '/pricing/more' }),
      ],
    });
    expect(taken.status).toBe(202);
    const { body } = await system.request<{ data: unknown[] }>(`/leads?min_position=${taken.body.position}`, {
      headers: inUnit(),
    });
    // 30 of 40 for prices, 25 once for the demo, 4 for pages; 20 + 15 for the profile.
    expect(body.data).toMatchObject([
      { score: 59, scores: { engagement: 59, profile: 35 }, level: { name: 'Hot' }, grid: 'A1' },
    ]);
    const filters = await system.request<{ data: { id: string; name: string }[] }>('/filters', {
      headers: inUnit(),
    });
    const byName = Object.fromEntries(filters.body.data.map(({ id, name }) => [name, id]));
    const listed = async (name: string) =>
      (
        await system.request<{ total: number }>(`/leads?filter_id=${byName[name] ?? ''}`, {
          headers: inUnit(),
        })
      ).body.total;
    expect([await listed('To call this week'), await listed('Going quiet')]).toEqual([1, 0]);
  });
});

describe('a change', () => {
  const edited = async (edit: (document: Configuration) => void) => {
    const { document } = await configuration();
    edit(document);
    return file('edited.json', JSON.stringify(document));
  };

  test('of one rule is one line with its fields; one author has made it, and the rule keeps its id', async () => {
    const idsOf = async () => {
      const { body } = await system.request<{ data: { id: string; label: string; changed_by: object }[] }>(
        '/engagement-scoring/rules',
        { headers: inUnit() },
      );
      return new Map(body.data.map((rule) => [rule.label, rule]));
    };
    const before = await idsOf();
    const path = await edited(({ engagement_rulesets: [intent] }) => {
      Object.assign(intent?.rules[0] ?? {}, { weight: 12, icon: 'star' });
    });
    const { exitCode, written } = await rules(['apply', path]);
    expect([exitCode, written]).toEqual([
      exitCodes.done,
      `engagement_rulesets: 1 changed
  ~ rule Looked at prices in Intent
      weight: 10 → 12
      icon: (none) → star
`,
    ]);
    const after = await idsOf();
    expect(after.get('Looked at prices')).toMatchObject({
      id: before.get('Looked at prices')?.id,
      weight: 12,
      version: 2,
      changed_by: expect.objectContaining({ kind: expect.any(String) }),
    });
    expect(after.get('Read a page')).toEqual(before.get('Read a page'));
  });

  test('that was reviewed against an older version is refused, and nothing changes', async () => {
    const { version } = await configuration();
    const path = await edited(({ engagement_rulesets: [intent] }) => {
      Object.assign(intent?.rules[0] ?? {}, { weight: 13 });
    });
    const stale = await rules(['apply', path, '--if-version', String(version - 1)]);
    expect([stale.exitCode, stale.written]).toEqual([exitCodes.data, '']);
    expect(stale.noted).toContain(
      `The configuration has version ${String(version)} and no longer ${String(version - 1)}`,
    );
    expect((await configuration()).version).toBe(version);
    const raw = await system.request('/scoring/configuration', {
      method: 'PUT',
      headers: { ...inUnit(), 'if-match': `"${String(version - 1)}"` },
      body: JSON.parse(await readFile(path, 'utf8')) as unknown,
    });
    expect(raw).toMatchObject({ status: 412, body: { code: 'configuration_changed' } });
    expect((await rules(['apply', path, '--if-version', String(version)])).exitCode).toBe(exitCodes.done);
  });

  test('of one section leaves the others', async () => {
    const before = await configuration();
    const path = await file('grid.yaml', 'grid: null\n');
    const { written } = await rules(['apply', path]);
    expect(written).toMatch(/^grid: 1 changed\n {2}~ grid\n {6}profile A from: 30 → \(none\)\n/);
    expect((await configuration()).document).toEqual({ ...before.document, grid: null });
  });
});

describe('a file that is refused', () => {
  test.each([
    [
      'with values that no rule may have',
      `engagement_rulesets:
  - name: Intent
    rules:
      - label: Pricing
        event_type: Page View
        weight: 0
grid: { profile: { A: 1, B: 2, C: 0 }, engagement: { 1: 3, 2: 2, 3: 1 } }
`,
      [
        /line 6, engagement_rulesets "Intent", rules "Pricing", weight: must not be 0/,
        /line 7, grid, profile, B: must be less than that of A/,
      ],
    ],
    [
      'with a field that there is not',
      'engagement_rulesets:\n  - name: Intent\n    rules:\n      - { event_type: Page View, wieght: 3 }\n',
      [/line 4, engagement_rulesets "Intent", rules "Page View", wieght: .*weight/],
    ],
    [
      'with limits that contradict each other',
      `engagement_rulesets:
  - name: Intent
    rules:
      - { label: Demo, event_type: Form Submit, weight: 25, once_per: lead, max_count: 2 }
`,
      [
        /In engagement_rulesets, ruleset "Intent", rule 1 "Demo": once_per lead counts one event/,
        /line 4, engagement_rulesets "Intent", rules "Demo", max_count: must be left out/,
      ],
    ],
    [
      'that names a level that there is not',
      `engagement_levels:
  - { name: Hot, min_score: 50, color: '#e8590c' }
filters:
  - name: To call
    conditions:
      all:
        - { field: level, operator: equals, value: Hott }
`,
      [
        /In filters, "To call": No engagement level/,
        /line 7, filters "To call", conditions, all .*, value: is not an engagement level/,
      ],
    ],
    [
      'that names a ruleset that there is not',
      `filters:
  - name: To call
    conditions:
      any:
        - { field: ruleset_score, ruleset: Nowhere, operator: gte, value: 5 }
`,
      [/No ruleset is named "Nowhere"/, /line 5, filters "To call", conditions, any .*, ruleset: /],
    ],
    ['with a section that there is not', 'rules: []\n', [/line 1, rules: /]],
    ['without a section', '', [/must hold a section: engagement_rulesets, /]],
    ['that is a text', 'hello', [/the whole: /]],
  ])('%s: the faults are named with lines, and nothing changes', async (_, content, words) => {
    const before = await configuration();
    const path = await file('refused.yaml', content);
    for (const command of ['diff', 'apply']) {
      const { exitCode, written, noted } = await rules([command, path]);
      expect([exitCode, written]).toEqual([exitCodes.data, '']);
      for (const one of words) expect(noted).toMatch(one);
    }
    expect(await configuration()).toEqual(before);
  });

  test('in its last section changes nothing of those before it', async () => {
    const before = await configuration();
    const path = await file(
      'half.json',
      JSON.stringify({
        engagement_rulesets: [],
        filters: [
          { name: 'x', conditions: { all: [{ field: 'level', operator: 'equals', value: 'Nowhere' }] } },
        ],
      }),
    );
    expect((await rules(['apply', path])).exitCode).toBe(exitCodes.data);
    expect(await configuration()).toEqual(before);
  });
});

describe('an earlier version', () => {
  const file = (weight: number) =>
    JSON.stringify({
      engagement_rulesets: [{ name: 'Intent', rules: [{ label: 'Price', event_type: 'Pricing', weight }] }],
    });
  let first: Configuration;

  beforeAll(async () => {
    ouId = await newUnit();
    for (const weight of [5, 50]) {
      expect((await rules(['apply', '-'], { stdin: file(weight) })).exitCode).toBe(exitCodes.done);
      if (weight === 5) first = (await configuration()).document;
    }
  });

  test('is listed with its author, and can be exported', async () => {
    expect(await configuration()).toMatchObject({ version: 3 });
    const { body } = await system.request<{ total: number; data: object[] }>(
      '/scoring/configuration/versions?limit=2',
      { headers: inUnit() },
    );
    expect(body).toMatchObject({
      total: 3,
      data: [
        { version: 3, change: 'rule_updated', name: 'Price', changed_by: { kind: 'token' } },
        { version: 2, change: 'rule_created', name: 'Price' },
      ],
    });
    const listed = await rules(['versions']);
    expect(listed.exitCode).toBe(exitCodes.done);
    expect(listed.written).toMatch(
      /VERSION .*\n +3 .*rule updated +Price .*\n +2 .*\n +1 .*ruleset created +Intent/,
    );
    const exported = await rules(['export', '--json', '--of-version', '2']);
    expect(JSON.parse(exported.written)).toEqual(first);
  });

  test('is restored in one call: the dry run says what would change, and the rule keeps its id and history', async () => {
    const idOf = async () => {
      const { body } = await system.request<{ data: { id: string }[] }>('/engagement-scoring/rules', {
        headers: inUnit(),
      });
      return body.data.map(({ id }) => id);
    };
    const [before, ids] = [await configuration(), await idOf()];
    const planned = await rules(['restore', '2', '--dry-run']);
    expect([planned.exitCode, planned.written]).toEqual([
      exitCodes.incomplete,
      'engagement_rulesets: 1 changed\n  ~ rule Price in Intent\n      weight: 50 → 5\n',
    ]);
    expect(await configuration()).toEqual(before);
    const restored = await rules(['restore', '2']);
    expect([restored.exitCode, restored.written]).toEqual([exitCodes.done, planned.written]);
    expect(restored.noted).toBe('Restored as one change: the configuration has version 4 now.\n');
    expect(await configuration()).toEqual({ document: first, version: 4 });
    expect(await idOf()).toEqual(ids);
    expect((await rules(['restore', '2'])).noted).toBe(
      'The configuration equals version 2: nothing to change.\n',
    );
  });

  test('0 is the configuration before the first change', async () => {
    expect((await rules(['restore', '0'])).exitCode).toBe(exitCodes.done);
    expect((await configuration()).document.engagement_rulesets).toEqual([]);
  });

  test('that there has never been is 404, and what is no version is a usage error', async () => {
    const missing = await rules(['restore', '99']);
    expect(missing.exitCode).toBe(exitCodes.data);
    expect(missing.noted).toContain('never had version 99');
    expect((await rules(['restore', 'latest'])).exitCode).toBe(exitCodes.usage);
    expect((await rules(['export', '--of-version', '-1'])).exitCode).toBe(exitCodes.usage);
  });

  test('is not restored over a change that somebody has made meanwhile', async () => {
    const answer = await system.request('/scoring/configuration/restore', {
      headers: { ...inUnit(), 'if-match': '"3"' },
      body: { version: 3 },
    });
    expect(answer).toMatchObject({ status: 412, body: { code: 'configuration_changed' } });
  });
});

test('who may only read may export, and is told that diff and apply need another role', async () => {
  const made = await system.request<{ token: string }>('/settings/tokens', {
    body: { name: 'viewer', role: 'viewer', ou_ids: [ouId] },
  });
  expect(made.status).toBe(201);
  const { token } = made.body;
  expect((await rules(['export'], { token })).exitCode).toBe(exitCodes.done);
  expect((await rules(['apply', example], { token })).exitCode).toBe(exitCodes.permission);
  expect((await rules(['export'], { token: 'lsp_wrong' })).exitCode).toBe(exitCodes.permission);
});
