// Drafts: what they become is what the single requests would have made, a refused part says where it stands, and applying one is one
// change that is refused once the rules have changed.
import { describe, expect, test } from '@jest/globals';
import { nameBasedId, records, routeDeclarations, routes } from '@lead-scoring/contracts';
import { evolveConfiguration } from '@lead-scoring/scoring-domain';
import { createRule, createRuleset, idOf, ouId, setLevels } from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { createDecay } from '../testing/decay-builders.js';
import { applyWhatIf, type WhatIfToApply } from './apply-model.js';
import { draftOf, type Draft } from './draft-model.js';
import { packCounts, unpackCounts } from './packed-counts.js';
import { whatIfResultOf } from './result-model.js';

const job_id = idOf('job');
const at = '2026-02-01T00:00:00.000Z';
const stamp = { job_id, at };

const live = configured(
  createRuleset('Web'),
  createRuleset('Companies', { score_type: 'account' }),
  createRule('view', { ruleset_id: idOf('Web') }),
  createRule('open', { event_type: 'Email Open', weight: 3, ruleset_id: idOf('Web') }),
  setLevels([['Hot', 50, null]]),
  createDecay('Weekly'),
);
const draft = (changes: Draft['changes'], more: Partial<Draft> = {}): Draft => ({
  changes,
  score_type: 'engagement',
  ...more,
});
const changes: Draft['changes'] = [
  { op: 'add', rule: { event_type: 'Form Submit', weight: 12, label: 'Form' } },
  { op: 'change', rule_id: idOf('view').toUpperCase(), rule: { weight: 20 } },
  { op: 'remove', rule_id: idOf('open') },
];

describe('a draft', () => {
  test('adds, changes and removes rules, and its new rules have the ids that they are applied with', () => {
    const decided = draftOf(draft(changes), live, stamp);
    if (decided.outcome === 'rejected') throw new Error(decided.message);
    const added = nameBasedId(job_id, 'rule:0');
    expect(decided.events.map(({ type }) => type)).toEqual([
      'RulesetCreated',
      'RuleCreated',
      'RuleUpdated',
      'RuleDeleted',
    ]);
    expect([...decided.configuration.rules.values()].map(({ id, weight }) => [id, weight])).toEqual([
      [idOf('view'), 20],
      [added, 12],
    ]);
    expect(decided.events.reduce(evolveConfiguration, live)).toEqual(decided.configuration);
  });

  test('replaces levels and decay rules as a document of the configuration does', () => {
    const levels = [{ name: 'hot', min_score: 30, max_score: null, color: '#e8590c' }];
    const decided = draftOf(draft([], { levels, decays: [] }), live, stamp);
    expect(decided).toMatchObject({
      outcome: 'done',
      configuration: { levels: [{ id: live.levels[0]?.id, min_score: 30 }], decays: { rules: new Map() } },
    });
  });

  test('that is live already comes to nothing, also where it removes a rule that is gone', () => {
    const once = draftOf(draft(changes), live, stamp);
    if (once.outcome === 'rejected') throw new Error(once.message);
    expect(draftOf(draft(changes), once.configuration, { ...stamp, at: '2026-03-01T00:00:00.000Z' })).toEqual(
      {
        outcome: 'done',
        events: [],
        configuration: once.configuration,
      },
    );
  });

  test.each([
    ['an unknown rule', { op: 'change', rule_id: idOf('none'), rule: { weight: 1 } }, 'rule_not_found'],
    [
      'an unknown ruleset',
      { op: 'add', rule: { event_type: 'A', weight: 1, ruleset_id: idOf('none') } },
      'ruleset_not_found',
    ],
    [
      'a rule over accounts',
      {
        op: 'add',
        rule: {
          ruleset_id: idOf('Companies'),
          conditions: [{ field: 'leads', operator: 'gte', value: 2 }],
          weight: 1,
        },
      },
      'invalid_request',
    ],
  ] as const)('is refused for %s, and says where', (_, change, code) => {
    const refused = draftOf(draft([...changes.slice(0, 1), change as Draft['changes'][number]]), live, stamp);
    expect(refused).toMatchObject({
      outcome: 'rejected',
      code,
      message: expect.stringContaining('In change 2: '),
    });
    if (refused.outcome === 'rejected')
      for (const { path } of refused.errors ?? []) expect(path).toContain('body.changes[1]');
  });

  test('is refused for levels that overlap, under the name that the request gives them', () => {
    const level = (name: string) => ({ name, min_score: 0, max_score: 9, color: '#e8590c' });
    expect(draftOf(draft([], { levels: [level('A'), level('B')] }), live, stamp)).toMatchObject({
      outcome: 'rejected',
      code: 'levels_overlap',
      errors: [{ path: 'body.levels[0]' }, { path: 'body.levels[1]' }],
    });
  });
});

describe('apply', () => {
  const work: records.WhatIfWork = {
    kind: 'what-if',
    ...draft(changes),
    configuration_version: live.version,
    partitions: [],
  };
  const completed: WhatIfToApply = { status: 'completed', started_at: at, work };
  const command: records.ApplyWhatIf = { ou_id: ouId, job_id, requested_at: at };

  test('makes the draft live with all its events, and the same again changes nothing', () => {
    const decision = applyWhatIf(command, completed, live);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    const after = decision.events.reduce(evolveConfiguration, live);
    expect(decision.result).toEqual({ job_id: `scoring-${job_id}`, version: after.version });
    expect(after.rules.get(idOf('view'))).toMatchObject({ weight: 20 });
    expect(applyWhatIf(command, completed, after)).toEqual({ ...decision, events: [] });
  });

  test('is refused once the rules have changed', () => {
    const changed = configured(createRuleset('Web'), createRule('view', { ruleset_id: idOf('Web') }));
    const newer = { ...changed, version: live.version + 1 };
    expect(
      applyWhatIf(command, completed, { ...newer, rules: live.rules, rulesets: live.rulesets }),
    ).toMatchObject({
      outcome: 'rejected',
      code: 'rules_changed',
    });
    // Also where the draft could not be made of the rules of now.
    expect(applyWhatIf(command, completed, newer)).toMatchObject({ code: 'rules_changed' });
  });

  test('is refused for a what-if without a result, and for one that there is not', () => {
    for (const status of ['running', 'failed', 'cancelled'])
      expect(applyWhatIf(command, { ...completed, status }, live)).toMatchObject({
        code: 'job_not_completed',
      });
    expect(applyWhatIf(command, null, live)).toMatchObject({ code: 'job_not_found' });
  });
});

describe('the form of a what-if', () => {
  const form = routes.startWhatIf.body;
  const complaint = (body: object) => form.safeParse(body).error?.issues.map(({ message }) => message);

  test('has the score of engagement by default', () => {
    expect(form.parse({ changes: [] })).toEqual({ changes: [], score_type: 'engagement' });
  });

  test('names a rule once, whatever its case, and takes a threshold with an outcome only', () => {
    const remove = (rule_id: string) => ({ op: 'remove', rule_id });
    expect(complaint({ changes: [remove(job_id), remove(job_id.toUpperCase())] })).toEqual([
      'must name a rule once: put all changes of a rule into one',
    ]);
    expect(complaint({ changes: [], threshold: 5 })).toEqual([
      'must be absent without an outcome: nothing says whether a lead was worth a call',
    ]);
    expect(complaint({ changes: [], threshold: 5, outcome: { event_type: 'Deal Won' } })).toBeUndefined();
  });
});

describe('the result', () => {
  const counts = (...pairs: [number, number][]) => packCounts(new Map(pairs));
  const side = (scores: [number, number][], won: [number, number][], others: [number, number][]) => ({
    scores: counts(...scores),
    levels: [{ id: idOf('Hot'), name: 'Hot', leads: 1 }],
    cells: [
      { cell: 'B2' as const, leads: 1 },
      { cell: 'A1' as const, leads: 3 },
    ],
    outcome: { won: counts(...won), others: counts(...others) },
  });
  const found: records.WhatIfFound = {
    leads: 4,
    rising: 1,
    falling: 0,
    crossing: 1,
    live: side(
      [
        [0, 3],
        [10, 1],
      ],
      [[10, 1]],
      [[0, 3]],
    ),
    draft: side(
      [
        [0, 2],
        [10, 1],
        [40, 1],
      ],
      [[10, 1]],
      [
        [0, 2],
        [40, 1],
      ],
    ),
    movers: [
      { lead_id: idOf('ada'), live: 0, draft: 40, why: [] },
      { lead_id: idOf('deleted since'), live: 0, draft: 40, why: [] },
    ],
  };
  const result = whatIfResultOf(found, {
    work: { configuration_version: 7, threshold: 10 },
    version: 8,
    names: new Map([[idOf('ada'), 'Ada']]),
  });

  test('is as it is declared, and compares both sides in the same bands', () => {
    expect(routeDeclarations.whatIfResult.safeParse({ ...result, triggers: [] }).error).toBeUndefined();
    expect(result).toMatchObject({ leads: 4, rising: 1, falling: 0, unchanged: 3, level_changes: 1 });
    expect(result.live.distribution.map(({ from }) => from)).toEqual(
      result.draft.distribution.map(({ from }) => from),
    );
    expect(
      result.draft.distribution.filter(({ leads }) => leads > 0).map(({ from, leads }) => [from, leads]),
    ).toEqual([
      [0, 2],
      [10, 1],
      [40, 1],
    ]);
    expect(result.live.grid?.map(({ cell }) => cell)).toEqual(['A1', 'B2']);
    expect(result.live).toMatchObject({ auc: 1, at_threshold: { leads: 1, precision: 1, recall: 1 } });
    expect(result.draft).toMatchObject({ auc: 2 / 3, at_threshold: { leads: 2, precision: 0.5, recall: 1 } });
  });

  test('says that it was overtaken, and leaves out leads that are gone', () => {
    expect(result.overtaken).toBe(true);
    expect(result.movers.map(({ name }) => name)).toEqual(['Ada']);
  });

  test('has no figures of an outcome that nobody asked for', () => {
    const plain = (of: records.FoundSide) => ({ scores: of.scores, levels: [], cells: [] });
    const { live: one } = whatIfResultOf(
      { ...found, live: plain(found.live), draft: plain(found.draft) },
      { work: { configuration_version: 7 }, version: 7, names: new Map() },
    );
    expect(Object.keys(one)).toEqual(['distribution', 'levels']);
  });
});

test('packed counts are the counts', () => {
  const counted = new Map([
    [5, 2],
    [-3, 1],
  ]);
  expect(packCounts(counted)).toEqual([-3, 1, 5, 2]);
  expect(unpackCounts(packCounts(counted))).toEqual(new Map([...counted].reverse()));
});
