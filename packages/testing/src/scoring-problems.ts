// For each route of scoring requests that provoke the problems that it declares itself.
import type { ProblemCode, RouteName } from '@lead-scoring/contracts';
import { longConditions, type FullUnit } from './full-unit.js';
import type { RouteExample, Unit } from './route-examples.js';

export interface Request extends RouteExample {
  headers?: Record<string, string>;
  /** Sent in the unit that has as much as it may have. */
  inFull?: boolean;
}
type Provoked = (unit: Unit, full: FullUnit) => Request;

const unknown = '00000000-0000-4000-8000-000000000000';
const inFull =
  (request: (full: FullUnit) => RouteExample): Provoked =>
  (_, full) => ({ ...request(full), inFull: true });
const fixed =
  (request: Request): Provoked =>
  () =>
    request;
const noLead = fixed({ parameters: { leadID: unknown } });
const noId = fixed({ parameters: { id: unknown } });

const whereLevel = { all: [{ field: 'level', operator: 'equals', value: 'No such level' }] };
const whereCell = { all: [{ field: 'grid', operator: 'equals', value: 'A1' }] };
const whereRuleset = { all: [{ field: 'ruleset_score', ruleset_id: unknown, operator: 'gte', value: 1 }] };
/** What conditions of a filter may name that is not there. No unit has a grid. */
const filterProblems = (request: (conditions: object) => RouteExample) =>
  ({
    level_not_found: fixed(request(whereLevel)),
    grid_not_found: fixed(request(whereCell)),
    ruleset_not_found: fixed(request(whereRuleset)),
  }) satisfies Partial<Record<ProblemCode, Provoked>>;

const engagement = { event_type: 'Page View', weight: 1 };
const overFields = { conditions: [{ field: 'name', operator: 'exists' }], weight: 1 };
const decay = { mode: 'inactivity_points', points: -1, interval_days: 7 };
const levelsOf = (...levels: [name: string, min_score: number, max_score: number | null][]) => ({
  body: {
    levels: levels.map(([name, min_score, max_score]) => ({ name, min_score, max_score, color: '#e8590c' })),
  },
});
const levelProblems = {
  levels_overlap: fixed(levelsOf(['Warm', 10, 50], ['Hot', 50, null])),
  duplicate_name: fixed(levelsOf(['Hot', 10, 49], ['hot', 50, null])),
};
const bulkProblems = (idle: (full: FullUnit) => string) => ({
  rule_not_found: (({ ouId }) => ({
    parameters: { ouId },
    body: { rule_ids: [unknown], updates: { active: false } },
  })) satisfies Provoked,
  field_not_allowed: (({ ouId }) => ({
    parameters: { ouId },
    body: { rule_ids: [unknown], updates: { weight: 5 } },
  })) satisfies Provoked,
  limit_reached: inFull((full) => ({
    parameters: { ouId: full.ouId },
    body: { rule_ids: [idle(full)], updates: { active: true } },
  })),
});
const createRuleProblems = (body: object) => ({
  ruleset_not_found: fixed({ body: { ...body, ruleset_id: unknown } }),
  limit_reached: inFull(({ idleRulesetId }) => ({ body: { ...engagement, ruleset_id: idleRulesetId } })),
});
const filterNamed = (
  name: string,
  conditions: object = { all: [{ field: 'score', operator: 'gte', value: 1 }] },
) => ({
  name,
  conditions,
});
const rulesetsNamed = (...names: string[]) => names.map((name) => ({ name }));
const documentWith = (body: object) => fixed({ body });

const challengerOf = (draft: object) => ({ body: { name: 'Shadow', ...draft } });

/** Of each route the problems that it declares itself, and requests that provoke them. */
export const provoked: Partial<Record<RouteName, Partial<Record<ProblemCode, Provoked>>>> = {
  listLeads: {
    level_not_found: fixed({ query: { level: unknown } }),
    grid_not_found: fixed({ query: { grid: 'A1' } }),
    filter_not_found: fixed({ query: { filter_id: unknown } }),
  },
  getScore: { lead_not_found: noLead },
  explainScore: { lead_not_found: noLead },
  getScoreHistory: { lead_not_found: noLead },
  drawScoreHistory: { lead_not_found: noLead },
  paintScoreHistory: { lead_not_found: noLead },
  forecastScore: { lead_not_found: noLead },
  resetScores: { lead_not_found: noLead },
  getDeal: { deal_not_found: fixed({ parameters: { id: 'No such deal' } }) },
  getAccount: { account_not_found: noId },
  listAccounts: { level_not_found: fixed({ query: { level: unknown } }) },
  mergeAccounts: {
    account_not_found: ({ accountId }) => ({
      parameters: { id: unknown },
      body: { target_id: accountId },
    }),
    already_merged: ({ accountId }) => ({
      parameters: { id: accountId },
      body: { target_id: accountId },
    }),
  },
  getBuyingCommittee: { account_not_found: fixed({ query: { account_id: unknown } }) },
  createFilter: {
    ...filterProblems((conditions) => ({ body: filterNamed('New', conditions) })),
    duplicate_name: ({ mark }) => ({ body: filterNamed(`filter ${mark}`) }),
    limit_reached: inFull(() => ({ body: filterNamed('One more') })),
  },
  previewFilter: filterProblems((conditions) => ({ body: { conditions } })),
  getFilter: { filter_not_found: noId },
  updateFilter: {
    filter_not_found: fixed({ parameters: { id: unknown }, body: { name: 'New' } }),
    duplicate_name: ({ filterId, mark }) => ({
      parameters: { id: filterId },
      body: { name: `Idle filter ${mark}` },
    }),
    limit_reached: inFull(({ filterId }) => ({
      parameters: { id: filterId },
      body: { conditions: longConditions },
    })),
    level_not_found: ({ filterId }) => ({ parameters: { id: filterId }, body: { conditions: whereLevel } }),
    grid_not_found: ({ filterId }) => ({ parameters: { id: filterId }, body: { conditions: whereCell } }),
    ruleset_not_found: ({ filterId }) => ({
      parameters: { id: filterId },
      body: { conditions: whereRuleset },
    }),
  },
  deleteFilter: { filter_not_found: noId },
  createDecay: {
    duplicate_name: ({ mark }) => ({ body: { ...decay, name: `Decay ${mark}` } }),
    limit_reached: inFull(() => ({ body: { ...decay, name: 'One more' } })),
    ruleset_not_found: fixed({ body: { ...decay, name: 'New', ruleset_id: unknown } }),
  },
  getDecay: { decay_not_found: noId },
  updateDecay: {
    decay_not_found: fixed({ parameters: { id: unknown }, body: { name: 'New' } }),
    duplicate_name: ({ decayId, mark }) => ({
      parameters: { id: decayId },
      body: { name: `Idle decay ${mark}` },
    }),
    ruleset_not_found: ({ decayId }) => ({ parameters: { id: decayId }, body: { ruleset_id: unknown } }),
  },
  deleteDecay: { decay_not_found: noId },
  createRuleset: {
    duplicate_name: ({ mark }) => ({ body: { name: `ruleset ${mark}`, score_type: 'engagement' } }),
    limit_reached: inFull(() => ({ body: { name: 'One more', score_type: 'profile', active: true } })),
  },
  getRuleset: { ruleset_not_found: noId },
  updateRuleset: {
    ruleset_not_found: fixed({ parameters: { id: unknown }, body: { name: 'New' } }),
    duplicate_name: ({ rulesetId, mark }) => ({
      parameters: { id: rulesetId },
      body: { name: `Idle ruleset ${mark}` },
    }),
    limit_reached: inFull(({ idleRulesetId }) => ({
      parameters: { id: idleRulesetId },
      body: { active: true },
    })),
  },
  deleteRuleset: {
    ruleset_not_found: noId,
    ruleset_not_empty: ({ rulesetId }) => ({ parameters: { id: rulesetId } }),
  },
  createRule: createRuleProblems(engagement),
  createEngagementRule: createRuleProblems(engagement),
  createAccountRule: {
    ...createRuleProblems(overFields),
    limit_reached: (_, { accountRulesetId }) => ({
      body: { ...overFields, ruleset_id: accountRulesetId },
      inFull: true,
    }),
  },
  getRule: { rule_not_found: noId },
  updateRule: {
    rule_not_found: fixed({ parameters: { id: unknown }, body: { weight: 2 } }),
    ruleset_not_found: ({ ruleId }) => ({ parameters: { id: ruleId }, body: { ruleset_id: unknown } }),
    limit_reached: inFull(({ idleRuleId }) => ({ parameters: { id: idleRuleId }, body: { active: true } })),
  },
  deleteRule: { rule_not_found: noId },
  listRuleVersions: { rule_not_found: noId },
  setEngagementLevels: levelProblems,
  setProfileLevels: levelProblems,
  setAccountLevels: levelProblems,
  setRulesActive: bulkProblems(({ idleRuleId }) => idleRuleId),
  setProfileRulesActive: bulkProblems(({ idleProfileRuleId }) => idleProfileRuleId),
  setAccountRulesActive: bulkProblems(({ idleAccountRuleId }) => idleAccountRuleId),
  addProfileMapping: {
    duplicate_mapping: ({ mark }) => ({ body: { field: 'keyword', source: `metadata.key_${mark}` } }),
    limit_reached: inFull(() => ({ body: { field: 'more', source: 'metadata.more' } })),
  },
  removeProfileMapping: { mapping_not_found: noId },
  testProfile: { lead_not_found: fixed({ body: { lead_id: unknown } }) },
  testDeal: { deal_not_found: fixed({ body: { deal_id: 'No such deal' } }) },
  testAccount: { account_not_found: fixed({ body: { account_id: unknown } }) },
  testEngagementRules: {
    lead_not_found: fixed({ body: { lead_id: unknown, events: [{ event_type: 'Page View' }] } }),
    ruleset_not_found: fixed({
      body: { events: [{ event_type: 'Page View' }], rules: [{ ...engagement, ruleset_id: unknown }] },
    }),
    rule_not_found: fixed({
      body: { events: [{ event_type: 'Page View' }], rules: [{ ...engagement, replaces: unknown }] },
    }),
  },
  getConfiguration: { configuration_version_not_found: fixed({ query: { version: '1000000' } }) },
  restoreConfiguration: {
    configuration_version_not_found: fixed({ body: { version: 1_000_000 } }),
    configuration_changed: fixed({ body: { version: 1 }, headers: { 'if-match': '"1"' } }),
  },
  startChallenger: {
    rule_not_found: fixed(challengerOf({ changes: [{ op: 'remove', rule_id: unknown }] })),
    ruleset_not_found: fixed(
      challengerOf({ changes: [{ op: 'add', rule: { ...engagement, ruleset_id: unknown } }] }),
    ),
    duplicate_name: fixed(
      challengerOf({ changes: [], decays: ['Weekly', 'weekly'].map((name) => ({ ...decay, name })) }),
    ),
    levels_overlap: fixed(
      challengerOf({ changes: [], ...levelsOf(['Warm', 10, 50], ['Hot', 50, null]).body }),
    ),
    limit_reached: inFull(() => challengerOf({ changes: [{ op: 'add', rule: engagement }] })),
  },
  getChallenger: { challenger_not_found: noId },
  applyChallenger: {
    challenger_not_found: noId,
    rules_changed: ({ idleChallengerId }) => ({ parameters: { id: idleChallengerId } }),
  },
  endChallenger: { challenger_not_found: noId },
  putConfiguration: {
    duplicate_name: documentWith({ engagement_rulesets: rulesetsNamed('Intent', 'intent') }),
    duplicate_mapping: documentWith({
      profile_mappings: ['metadata.a', 'a'].map((source) => ({ field: 'twice', source })),
    }),
    limit_reached: documentWith({
      filters: Array.from({ length: 201 }, (_, nth) => filterNamed(`Filter ${String(nth)}`)),
    }),
    levels_overlap: documentWith({
      engagement_levels: levelsOf(['Warm', 10, 50], ['Hot', 50, null]).body.levels,
    }),
    level_not_found: documentWith({ filters: [filterNamed('New', whereLevel)] }),
    grid_not_found: documentWith({ filters: [filterNamed('New', whereCell)] }),
    ruleset_not_found: documentWith({ decays: [{ ...decay, name: 'New', ruleset: 'No such ruleset' }] }),
    // A decay rule takes points from the ruleset that the document has no more.
    ruleset_not_empty: ({ mark }) => ({ body: { engagement_rulesets: rulesetsNamed(`Other ${mark}`) } }),
    configuration_changed: ({ mark }) => ({
      body: { filters: [filterNamed(`New ${mark}`)] },
      headers: { 'if-match': '"1"' },
    }),
  },
};
