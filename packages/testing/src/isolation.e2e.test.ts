// Data of one organizational unit cannot be read or changed from another, on any route; and no route answers without a valid
// credential. The cases cover the declared routes: a route without a case fails the first test.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { leadIdOf, type RouteName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import {
  furnish,
  missingExamples,
  pathOf,
  routeExamples,
  routeNamed,
  routeNames,
  send,
  type RouteExample,
  type Unit,
} from './route-examples.js';
import { startTestSystem, type Answer, type TestSystem } from './test-system.js';

/** The answer that unit B may get when it names data of unit A. */
type Foreign =
  /** No case: requests of the route cannot name data of A; `listsOnly` says whether its answer is a list. */
  | { names: 'nothing' }
  /** The route names something of A's. */
  | { names: 'resource'; example: (a: Unit, b: Unit) => RouteExample; answer: 404 | 'empty' | 'header' };

const nothing: Foreign = { names: 'nothing' };
const missing = (example: (a: Unit, b: Unit) => RouteExample): Foreign => ({
  names: 'resource',
  example,
  answer: 404,
});
const empty = (example: (a: Unit, b: Unit) => RouteExample): Foreign => ({
  names: 'resource',
  example,
  answer: 'empty',
});

const headerAlone = (example: (a: Unit, b: Unit) => RouteExample): Foreign => ({
  names: 'resource',
  example,
  answer: 'header',
});

const levelCondition = (value: string) => ({ all: [{ field: 'level', operator: 'equals', value }] });
const rulesetCondition = (ruleset_id: string) => ({
  all: [{ field: 'ruleset_score', ruleset_id, operator: 'gte', value: 1 }],
});

const mergesOfOthers = [
  missing(({ targetLeadId, sourceLeadId }) => ({
    body: { target_id: targetLeadId, source_ids: [sourceLeadId] },
  })),
  missing(({ sourceLeadId }, { targetLeadId }) => ({
    body: { target_id: targetLeadId, source_ids: [sourceLeadId] },
  })),
];

const foreign: { [Name in RouteName]: Foreign[] } = {
  ingest: [nothing],
  importEvents: [nothing],
  sendSegmentTrack: [nothing],
  sendSegmentIdentify: [nothing],
  sendSegmentPage: [nothing],
  sendSegmentScreen: [nothing],
  sendSegmentGroup: [nothing],
  sendSegmentAlias: [nothing],
  sendSegmentBatch: [nothing],
  listEvents: [
    empty(({ leadId }) => ({ query: { lead_id: leadId } })),
    empty(({ alias }) => ({ query: { alias } })),
    empty(({ eventType }) => ({ query: { event_type: eventType } })),
  ],
  listLeadEvents: [missing(({ leadId }) => ({ parameters: { leadID: leadId } }))],
  exportEvents: [
    headerAlone(({ leadId }) => ({ query: { lead_id: leadId } })),
    headerAlone(({ alias }) => ({ query: { alias } })),
    headerAlone(({ eventType }) => ({ query: { event_type: eventType } })),
  ],
  // Sums of nothing for a type of another unit: a test of ingest checks this.
  getEventsAnalytics: [nothing, missing(({ filterId }) => ({ query: { filter_id: filterId } }))],
  // Sums of nothing, also of a batch of another unit: a test of ingest checks this.
  getEventStats: [nothing],
  listEventTypes: [nothing],
  listEventTypeProperties: [missing(({ eventType }) => ({ parameters: { eventType } }))],
  listEventTypeSettings: [nothing],
  // Types are names, which each unit has of its own: tests of ingest check that hiding and counting one concerns no other unit.
  setEventTypeSettings: [nothing],
  dryRunEventTypeDeletion: [nothing],
  deleteEventTypeEvents: [nothing],
  listLeads: [
    empty(({ mark }) => ({ query: { q: mark } })),
    empty(({ mark }) => ({ query: { q: mark, score_type: 'deal' } })),
    missing(({ levelId }) => ({ query: { level: levelId } })),
    missing(({ mark }) => ({ query: { level: `Level ${mark}` } })),
    missing(({ filterId }) => ({ query: { filter_id: filterId } })),
  ],
  searchLeads: [empty(({ mark }) => ({ query: { q: mark } }))],
  findLeadByAlias: [missing(({ alias }) => ({ query: { alias_kind: 'email', alias } }))],
  getLeadMetadata: [missing(({ leadId }) => ({ parameters: { leadID: leadId } }))],
  patchLeadMetadata: [
    missing(({ leadId }) => ({ parameters: { leadID: leadId }, body: { owner: 'of another unit' } })),
  ],
  listLeadAliases: [missing(({ leadId }) => ({ parameters: { leadID: leadId } }))],
  addLeadAlias: [
    missing(({ leadId }) => ({
      parameters: { leadID: leadId },
      body: { alias_kind: 'cookie', alias: 'of another unit' },
    })),
  ],
  removeLeadAlias: [
    missing(({ leadId, alias }) => ({
      parameters: { leadID: leadId },
      query: { alias_kind: 'email', alias },
    })),
  ],
  previewLeadMerge: mergesOfOthers,
  mergeLeads: mergesOfOthers,
  unmergeLead: [
    missing(({ targetLeadId, sourceLeadId }) => ({
      parameters: { leadID: targetLeadId },
      body: { source_id: sourceLeadId },
    })),
    missing(({ sourceLeadId }, { targetLeadId }) => ({
      parameters: { leadID: targetLeadId },
      body: { source_id: sourceLeadId },
    })),
  ],
  listLeadConflicts: [nothing],
  getScore: [
    missing(({ leadId }) => ({ parameters: { leadID: leadId } })),
    missing(({ leadId }) => ({ parameters: { leadID: leadId }, query: { score_type: 'deal' } })),
  ],
  explainScore: [
    missing(({ leadId }) => ({ parameters: { leadID: leadId } })),
    missing(({ leadId }) => ({ parameters: { leadID: leadId }, query: { score_type: 'deal' } })),
  ],
  getScoreHistory: [
    missing(({ leadId }) => ({ parameters: { leadID: leadId } })),
    missing(({ leadId }) => ({ parameters: { leadID: leadId }, query: { score_type: 'deal' } })),
  ],
  drawScoreHistory: [missing(({ leadId }) => ({ parameters: { leadID: leadId } }))],
  paintScoreHistory: [missing(({ leadId }) => ({ parameters: { leadID: leadId } }))],
  listDeals: [empty(({ leadId }) => ({ query: { lead_id: leadId } }))],
  getDeal: [missing(({ dealId }) => ({ parameters: { id: dealId } }))],
  // Its answers to foreign values are sums of nothing; the deals of these sums are listed by the next.
  getAttributionInsights: [nothing],
  listAttributedDeals: [
    empty(({ mark }) => ({ query: { stage: `Stage ${mark}` } })),
    empty(({ eventType }) => ({ query: { by: 'event_type', value: eventType } })),
  ],
  listIgnoredDeals: [nothing],
  resetScores: [missing(({ leadId }) => ({ parameters: { leadID: leadId }, body: {} }))],
  deleteLead: [missing(({ leadId }) => ({ parameters: { leadID: leadId } }))],
  createShare: [
    missing(({ leadId }) => ({ parameters: { id: leadId } })),
    missing(({ leadId }) => ({ parameters: { id: leadId }, query: { score_type: 'deal' } })),
  ],
  listShares: [missing(({ leadId }) => ({ parameters: { id: leadId } }))],
  revokeShare: [
    missing(({ idleShareId }) => ({ parameters: { token: idleShareId } })),
    missing(({ shareToken }) => ({ parameters: { token: shareToken } })),
  ],
  // The token is the credential: only its holders can name the link.
  readShare: [nothing],
  shareCsv: [nothing],
  sharePreview: [nothing],
  sharePage: [nothing],
  listFilters: [nothing],
  createFilter: [
    missing(({ levelId }) => ({ body: { name: 'Level', conditions: levelCondition(levelId) } })),
    missing(({ rulesetId }) => ({ body: { name: 'Ruleset', conditions: rulesetCondition(rulesetId) } })),
  ],
  previewFilter: [
    missing(({ levelId }) => ({ body: { conditions: levelCondition(levelId) } })),
    missing(({ rulesetId }) => ({ body: { conditions: rulesetCondition(rulesetId) } })),
  ],
  getFilter: [missing(({ filterId }) => ({ parameters: { id: filterId } }))],
  updateFilter: [missing(({ filterId }) => ({ parameters: { id: filterId }, body: { name: 'Taken over' } }))],
  deleteFilter: [missing(({ filterId }) => ({ parameters: { id: filterId } }))],
  listDecays: [nothing],
  createDecay: [
    missing(({ rulesetId }) => ({
      body: {
        name: 'Theirs',
        mode: 'percent_interval',
        percent: 10,
        interval_days: 7,
        ruleset_id: rulesetId,
      },
    })),
  ],
  getDecay: [missing(({ decayId }) => ({ parameters: { id: decayId } }))],
  updateDecay: [missing(({ decayId }) => ({ parameters: { id: decayId }, body: { name: 'Taken over' } }))],
  deleteDecay: [missing(({ decayId }) => ({ parameters: { id: decayId } }))],
  forecastScore: [missing(({ leadId }) => ({ parameters: { leadID: leadId } }))],
  createRuleset: [nothing],
  updateRuleset: [
    missing(({ rulesetId }) => ({
      parameters: { id: rulesetId },
      body: { name: 'Taken over', active: false },
    })),
  ],
  listRulesets: [nothing],
  listAllRulesets: [nothing],
  getRuleset: [missing(({ rulesetId }) => ({ parameters: { id: rulesetId } }))],
  deleteRuleset: [missing(({ rulesetId }) => ({ parameters: { id: rulesetId } }))],
  createRule: [
    missing(({ rulesetId }) => ({ body: { ruleset_id: rulesetId, event_type: 'Page View', weight: 1 } })),
    missing(({ dealRulesetId }) => ({
      body: {
        ruleset_id: dealRulesetId,
        conditions: [{ field: 'stage', operator: 'exists' }],
        weight: 1,
      },
    })),
    missing(({ profileRulesetId }) => ({
      body: {
        ruleset_id: profileRulesetId,
        conditions: [{ field: 'title', operator: 'exists' }],
        weight: 1,
      },
    })),
  ],
  createEngagementRule: [
    missing(({ rulesetId }) => ({ body: { ruleset_id: rulesetId, event_type: 'Page View', weight: 1 } })),
  ],
  listRules: [empty(({ rulesetId }) => ({ query: { ruleset_id: rulesetId } }))],
  getRule: [missing(({ ruleId }) => ({ parameters: { id: ruleId } }))],
  updateRule: [
    missing(({ ruleId }) => ({ parameters: { id: ruleId }, body: { weight: 1 } })),
    // The rule is the caller's own; the ruleset is not.
    missing(({ rulesetId }, { ruleId }) => ({ parameters: { id: ruleId }, body: { ruleset_id: rulesetId } })),
  ],
  listRuleVersions: [missing(({ ruleId }) => ({ parameters: { id: ruleId } }))],
  deleteRule: [missing(({ ruleId }) => ({ parameters: { id: ruleId } }))],
  listEngagementLevels: [nothing],
  // Lists the caller's own levels; the ids in the body are the caller's own as well.
  setEngagementLevels: [nothing],
  getConfiguration: [nothing],
  listConfigurationVersions: [nothing],
  // Versions are numbers of the caller's own configuration.
  restoreConfiguration: [nothing],
  // The document has names and no ids.
  putConfiguration: [nothing],
  setRulesActive: [
    missing(({ ouId, ruleId }) => ({
      parameters: { ouId },
      body: { rule_ids: [ruleId], updates: { active: false } },
    })),
    missing(({ ruleId }, { ouId }) => ({
      parameters: { ouId },
      body: { rule_ids: [ruleId], updates: { active: false } },
    })),
  ],
  listProfileMappings: [nothing],
  addProfileMapping: [nothing],
  removeProfileMapping: [missing(({ mappingId }) => ({ parameters: { id: mappingId } }))],
  listProfileRulesets: [nothing],
  listProfileRules: [empty(({ profileRulesetId }) => ({ query: { ruleset_id: profileRulesetId } }))],
  setProfileRulesActive: [
    missing(({ ouId, profileRuleId }) => ({
      parameters: { ouId },
      body: { rule_ids: [profileRuleId], updates: { active: false } },
    })),
    missing(({ profileRuleId }, { ouId }) => ({
      parameters: { ouId },
      body: { rule_ids: [profileRuleId], updates: { active: false } },
    })),
  ],
  testProfile: [missing(({ leadId }) => ({ body: { lead_id: leadId } }))],
  listDealRulesets: [nothing],
  listDealRules: [empty(({ dealRulesetId }) => ({ query: { ruleset_id: dealRulesetId } }))],
  testDeal: [missing(({ dealId }) => ({ body: { deal_id: dealId } }))],
  listAccountRulesets: [nothing],
  listAccountRules: [empty(({ accountRulesetId }) => ({ query: { ruleset_id: accountRulesetId } }))],
  createAccountRule: [
    missing(({ accountRulesetId }) => ({
      body: {
        ruleset_id: accountRulesetId,
        conditions: [{ field: 'name', operator: 'exists' }],
        weight: 1,
      },
    })),
  ],
  setAccountRulesActive: [
    missing(({ ouId, accountRuleId }) => ({
      parameters: { ouId },
      body: { rule_ids: [accountRuleId], updates: { active: false } },
    })),
    missing(({ accountRuleId }, { ouId }) => ({
      parameters: { ouId },
      body: { rule_ids: [accountRuleId], updates: { active: false } },
    })),
  ],
  getAccountRollUp: [nothing],
  setAccountRollUp: [nothing],
  listAccountLevels: [nothing],
  setAccountLevels: [nothing],
  testAccount: [missing(({ accountId }) => ({ body: { account_id: accountId } }))],
  listTopLeads: [nothing],
  listScoreGains: [nothing],
  getUsage: [nothing],
  listAccounts: [empty(({ mark }) => ({ query: { q: mark } }))],
  getAccount: [missing(({ accountId }) => ({ parameters: { id: accountId } }))],
  getBuyingCommittee: [missing(({ accountId }) => ({ query: { account_id: accountId } }))],
  mergeAccounts: [
    missing(({ accountId, idleAccountId }) => ({
      parameters: { id: accountId },
      body: { target_id: idleAccountId },
    })),
  ],
  testEngagementRules: [
    missing(({ leadId }) => ({ body: { lead_id: leadId, events: [{ event_type: 'Page View' }] } })),
    ...(['ruleset_id', 'replaces'] as const).map((field) =>
      missing(({ rulesetId, ruleId }) => ({
        body: {
          events: [{ event_type: 'Page View' }],
          rules: [{ event_type: 'Page View', weight: 1, [field]: field === 'replaces' ? ruleId : rulesetId }],
        },
      })),
    ),
  ],
  listProfileLevels: [nothing],
  setProfileLevels: [nothing],
  getScoringGrid: [nothing],
  setScoringGrid: [nothing],
  listChannels: [nothing],
  createChannel: [nothing],
  replaceChannel: [
    missing(({ channelId }) => ({
      parameters: { id: channelId },
      body: {
        name: 'Taken over',
        type: 'slack',
        config: { channel_id: 'C9999999999', channel_name: 'Taken over' },
      },
    })),
  ],
  deleteChannel: [missing(({ channelId }) => ({ parameters: { id: channelId } }))],
  testChannel: [missing(({ channelId }) => ({ parameters: { id: channelId } }))],
  rotateChannelSecret: [missing(({ webhookChannelId }) => ({ parameters: { id: webhookChannelId } }))],
  resumeChannel: [missing(({ channelId }) => ({ parameters: { id: channelId } }))],
  redeliverNotifications: [
    missing(({ channelId }) => ({
      parameters: { id: channelId },
      body: { since: '2026-01-01T00:00:00Z' },
    })),
  ],
  listTriggers: [empty(({ channelId }) => ({ query: { channel_id: channelId } }))],
  createTrigger: [
    missing(({ channelId }) => ({ body: { name: 'Into A', score_threshold: 1, channel_ids: [channelId] } })),
    missing(({ mark }) => ({ body: { name: 'Into A', level: `Level ${mark}` } })),
  ],
  getTrigger: [missing(({ triggerId }) => ({ parameters: { id: triggerId } }))],
  replaceTrigger: [
    missing(({ triggerId }) => ({
      parameters: { id: triggerId },
      body: { name: 'Taken over', score_threshold: 1 },
    })),
  ],
  deleteTrigger: [missing(({ triggerId }) => ({ parameters: { id: triggerId } }))],
  simulateTrigger: [missing(({ triggerId }) => ({ parameters: { id: triggerId }, body: {} }))],
  listMilestoneEvents: [
    empty(({ triggerId }) => ({ query: { trigger_id: triggerId } })),
    empty(({ leadId }) => ({ query: { lead_id: leadId } })),
    empty(({ accountId }) => ({ query: { account_id: accountId } })),
  ],
  listSequences: [empty(({ channelId }) => ({ query: { channel_id: channelId } }))],
  createSequence: [
    missing(({ channelId }) => ({
      body: { name: 'Into A', event_types: ['A', 'B'], window_seconds: 60, channel_ids: [channelId] },
    })),
  ],
  getSequence: [missing(({ sequenceId }) => ({ parameters: { id: sequenceId } }))],
  replaceSequence: [
    missing(({ sequenceId }) => ({
      parameters: { id: sequenceId },
      body: { name: 'Taken over', event_types: ['A', 'B'], window_seconds: 60 },
    })),
  ],
  deleteSequence: [missing(({ sequenceId }) => ({ parameters: { id: sequenceId } }))],
  simulateSequence: [missing(({ sequenceId }) => ({ parameters: { id: sequenceId }, body: {} }))],
  listSequenceEvents: [empty(({ sequenceId }) => ({ query: { trigger_id: sequenceId } }))],
  listSurgeTriggers: [empty(({ channelId }) => ({ query: { channel_id: channelId } }))],
  createSurgeTrigger: [
    missing(({ channelId }) => ({
      body: { name: 'Into A', threshold: 1, window_seconds: 60, channel_ids: [channelId] },
    })),
  ],
  getSurgeTrigger: [missing(({ surgeTriggerId }) => ({ parameters: { id: surgeTriggerId } }))],
  replaceSurgeTrigger: [
    missing(({ surgeTriggerId }) => ({
      parameters: { id: surgeTriggerId },
      body: { name: 'Taken over', threshold: 1, window_seconds: 60 },
    })),
  ],
  deleteSurgeTrigger: [missing(({ surgeTriggerId }) => ({ parameters: { id: surgeTriggerId } }))],
  simulateSurgeTrigger: [missing(({ surgeTriggerId }) => ({ parameters: { id: surgeTriggerId }, body: {} }))],
  previewSurgeTrigger: [missing(({ surgeTriggerId }) => ({ parameters: { id: surgeTriggerId } }))],
  listSurgeEvents: [empty(({ surgeTriggerId }) => ({ query: { trigger_id: surgeTriggerId } }))],
  listDeliveries: [
    empty(({ channelId }) => ({ query: { channel_id: channelId } })),
    empty(({ leadId }) => ({ query: { lead_id: leadId } })),
    empty(({ accountId }) => ({ query: { account_id: accountId } })),
  ],
  getDelivery: [missing(({ deliveryId }) => ({ parameters: { id: deliveryId } }))],
  redeliverNotification: [missing(({ deliveryId }) => ({ parameters: { id: deliveryId } }))],
  listJobs: [nothing],
  getJob: [missing(({ jobId }) => ({ parameters: { id: jobId } }))],
  listJobErrors: [missing(({ jobId }) => ({ parameters: { id: jobId } }))],
  previewLeadImport: [nothing],
  startLeadImport: [
    missing(({ leadFileId }) => ({
      body: { file_id: leadFileId, primary_identifier: { column: 'Email', kind: 'email' } },
    })),
  ],
  listLeadImports: [nothing],
  findLeadImports: [nothing],
  cancelJob: [missing(({ jobId }) => ({ parameters: { id: jobId } }))],
  startWhatIf: [
    missing(({ ruleId }) => ({ body: { changes: [{ op: 'remove', rule_id: ruleId }] } })),
    missing(({ ruleId }) => ({
      body: { changes: [{ op: 'change', rule_id: ruleId, rule: { weight: 9 } }] },
    })),
    missing(({ rulesetId }) => ({
      body: { changes: [{ op: 'add', rule: { ruleset_id: rulesetId, event_type: 'A', weight: 1 } }] },
    })),
  ],
  startSuggestion: [nothing],
  drawWhatIf: [missing(({ whatIfId }) => ({ parameters: { job: whatIfId } }))],
  paintWhatIf: [missing(({ whatIfId }) => ({ parameters: { job: whatIfId } }))],
  applyWhatIf: [missing(({ whatIfId }) => ({ parameters: { job: whatIfId } }))],
  startChallenger: [
    missing(({ ruleId }) => ({
      body: { name: 'Into A', changes: [{ op: 'remove', rule_id: ruleId }] },
    })),
  ],
  listChallengers: [nothing],
  getChallenger: [missing(({ challengerId }) => ({ parameters: { id: challengerId } }))],
  applyChallenger: [missing(({ challengerId }) => ({ parameters: { id: challengerId } }))],
  endChallenger: [missing(({ challengerId }) => ({ parameters: { id: challengerId } }))],
  scoreNow: [
    missing(({ rulesetId }) => ({
      parameters: { dimension: 'engagement', id: rulesetId },
      query: { dry_run: 'true' },
    })),
  ],
  backfillScores: [nothing],
  backfillProfiles: [nothing],
  backfillAccounts: [nothing],
  backfillLevels: [nothing],
  backfillEventTypes: [nothing],
  analyzeSite: [nothing],
  listSiteAnalyses: [nothing],
  setActiveOrgUnit: [missing(({ ouId }) => ({ body: { ouId } }))],
  listOrgUnits: [nothing],
  createOrgUnit: [nothing],
  renameOrgUnit: [missing(({ ouId }) => ({ parameters: { id: ouId }, body: { name: 'Taken over' } }))],
  endOrgUnit: [missing(({ ouId }) => ({ parameters: { id: ouId } }))],
  listTokens: [nothing],
  createToken: [missing(({ ouId }) => ({ body: { name: 'Into A', role: 'viewer', ou_ids: [ouId] } }))],
  changeToken: [
    missing(({ adminTokenId }) => ({ parameters: { id: adminTokenId }, body: { rate_limit: null } })),
  ],
  revokeToken: [missing(({ adminTokenId }) => ({ parameters: { id: adminTokenId } }))],
  listServiceAccounts: [nothing],
  createServiceAccount: [missing(({ ouId }) => ({ body: { name: 'Into A', ou_ids: [ouId] } }))],
  changeServiceAccount: [
    missing(({ clientId }) => ({ parameters: { id: clientId }, body: { rate_limit: null } })),
  ],
  rotateServiceAccountSecret: [missing(({ clientId }) => ({ parameters: { id: clientId } }))],
  revokeServiceAccount: [missing(({ clientId }) => ({ parameters: { id: clientId } }))],
  getLimits: [nothing],
  changeLimits: [nothing],
  listMembers: [nothing],
  listAudit: [nothing],
  listRefusedSignIns: [nothing],
  addMember: [
    missing(({ ouId }) => ({
      body: { email: 'into.a@example.com', name: 'Into A', role: 'admin', ou_ids: [ouId] },
    })),
  ],
  changeMember: [
    missing(({ memberId }) => ({ parameters: { id: memberId }, body: { role: 'admin' } })),
    missing(({ ouId }, { memberId }) => ({ parameters: { id: memberId }, body: { ou_ids: [ouId] } })),
  ],
  removeMember: [missing(({ memberId }) => ({ parameters: { id: memberId } }))],
  inviteMember: [missing(({ memberId }) => ({ parameters: { id: memberId } }))],
  // The link is the credential: only its holders can name the invitation.
  getInvitation: [nothing],
  acceptInvitation: [nothing],
  openApiDocument: [nothing],
  asyncApiDocument: [nothing],
  documentation: [nothing],
  liveness: [nothing],
  readiness: [nothing],
};

const guarded = routeNames.filter((name) => routeNamed(name).access.credential);
const withUnit = guarded.filter((name) => {
  const { access } = routeNamed(name);
  return access.credential && access.organisationUnit === 'active';
});
const foreignCases = routeNames.flatMap((name) =>
  foreign[name].flatMap((one, index) =>
    one.names === 'resource' ? [{ title: `${name} ${index + 1}`, name, one }] : [],
  ),
);

let system: TestSystem;
let a: Unit;
let b: Unit;

beforeAll(async () => {
  system = await startTestSystem();
  a = await furnish(system, 'alpha', system.ouId);
  b = await furnish(system, 'beta');
}, 180_000);

afterAll(() => system.stop(), 60_000);

test('every declared route has its cases here', () => {
  expect(missingExamples()).toEqual([]);
  expect(Object.keys(foreign).sort()).toEqual([...routeNames].sort());
});

describe('without a valid credential every guarded route is 401 with the scheme and no data', () => {
  const expectRefused = (answer: Answer) => {
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/Bearer|Basic/);
    expect(answer.body).toMatchObject({
      status: 401,
      code: expect.stringMatching(/^[a-z_]+$/),
      detail: expect.stringMatching(/\w/),
    });
    expectNothingOf(a, answer);
    expectNothingOf(b, answer);
  };
  const refusedEverywhere = async (headers: Record<string, string>, names = guarded) => {
    for (const name of names)
      expectRefused(await send(system, name, routeExamples[name](a), { token: null, headers }));
  };

  test('no credential', () => refusedEverywhere({}), 60_000);

  test('a token that was not issued', async () => {
    const flipped = a.adminToken.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    await refusedEverywhere({ authorization: `Bearer ${flipped}` });
    for (const value of [
      'Bearer',
      'Bearer ',
      'Bearer lsp_',
      'Basic !!!',
      'Basic Og==',
      'Digest abc',
      a.adminToken,
      `Bearer ${a.adminToken}x`,
    ])
      expectRefused(await send(system, 'listLeads', {}, { token: null, headers: { authorization: value } }));
  }, 60_000);

  test('a wrong secret of a service account', async () => {
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from(`${a.clientId}:${secret}`).toString('base64')}`,
    });
    expect(
      (await send(system, 'listLeads', {}, { token: null, headers: basic(a.clientSecret) })).status,
    ).toBe(200);
    await refusedEverywhere(basic(b.clientSecret));
  }, 60_000);

  test('a revoked token', async () => {
    const token = await newToken(a, { name: 'Revoked', role: 'admin' });
    expect((await send(system, 'listLeads', {}, { token: token.token })).status).toBe(200);
    expect(
      (await send(system, 'revokeToken', { parameters: { id: token.id } }, { token: a.adminToken })).status,
    ).toBe(204);
    await refusedEverywhere({ authorization: `Bearer ${token.token}` });
  }, 60_000);

  test('a revoked service account', async () => {
    const made = await send(
      system,
      'createServiceAccount',
      { body: { name: 'Revoked' } },
      { token: a.adminToken },
    );
    const { client_id, client_secret } = made.body as { client_id: string; client_secret: string };
    const headers = {
      authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
    };
    expect((await send(system, 'listLeads', {}, { token: null, headers })).status).toBe(200);
    expect(
      (await send(system, 'revokeServiceAccount', { parameters: { id: client_id } }, { token: a.adminToken }))
        .status,
    ).toBe(204);
    await refusedEverywhere(headers);
  }, 60_000);

  test('an expired token', async () => {
    const token = await newToken(a, {
      name: 'Short',
      role: 'admin',
      expires_at: new Date(Date.now() + 2_000).toISOString(),
    });
    expect((await send(system, 'listLeads', {}, { token: token.token })).status).toBe(200);
    await eventually(
      'the token has expired',
      async () => (await send(system, 'listLeads', {}, { token: token.token })).status === 401,
      10_000,
    );
    await refusedEverywhere({ authorization: `Bearer ${token.token}` });
  }, 60_000);
});

describe("another unit's data", () => {
  test.each(withUnit)('%s with X-OU-Id of a unit that is not the caller’s is 403', async (name) => {
    const answer = await send(system, name, routeExamples[name](b), {
      token: b.adminToken,
      headers: { 'x-ou-id': a.ouId },
    });
    expect({ status: answer.status, body: answer.body }).toMatchObject({
      status: 403,
      body: { status: 403 },
    });
    // The answer may repeat the requested unit's id, and no other data of the unit.
    expectNothingOf(a, answer, a.ouId);
  });

  test('X-OU-Id of a unit that does not exist is 403, of a text that is not an id 400 or 403', async () => {
    const unknown = await send(
      system,
      'listLeads',
      {},
      { token: b.adminToken, headers: { 'x-ou-id': '00000000-0000-4000-8000-000000000000' } },
    );
    expect(unknown.status).toBe(403);
    const garbage = await send(
      system,
      'listLeads',
      {},
      { token: b.adminToken, headers: { 'x-ou-id': '{"$ne":null}' } },
    );
    expect([400, 403]).toContain(garbage.status);
  });

  test.each(foreignCases)('$title: an id of another unit is unknown', async ({ name, one }) => {
    const answer = await send(system, name, one.example(a, b), { token: b.adminToken });
    if (one.answer === 404)
      expect({ status: answer.status, body: answer.body }).toMatchObject({
        status: 404,
        body: { status: 404 },
      });
    else {
      expect(answer.status).toBe(200);
      if (one.answer === 'header') expect(answer.body).toMatch(/^timestamp,[^\r\n]*\r\n$/);
      else expect(answer.body).toMatchObject({ data: [], total: 0 });
    }
    // The answer may repeat the id of the request; it has no other data of A.
    expectNothingOf(a, answer, JSON.stringify(one.example(a, b)));
  });

  test("no answer to B's own requests, on any route, contains data of A, nor the other way round", async () => {
    for (const [own, other] of [
      [a, b],
      [b, a],
    ] as const)
      for (const name of guarded) {
        if (routeNamed(name).method === 'DELETE') continue;
        const answer = await send(system, name, routeExamples[name](own), { token: own.adminToken });
        expect({ name, status: answer.status }).toMatchObject({ name, status: expect.any(Number) });
        expectNothingOf(other, answer);
      }
  }, 60_000);

  test('while a credential’s active unit is switched repeatedly, X-OU-Id decides, and without it the last switch', async () => {
    const both = await send(
      system,
      'createToken',
      { body: { name: 'Both', role: 'viewer', ou_ids: [a.ouId, b.ouId] } },
      { headers: { 'x-ou-id': a.ouId } },
    );
    const { token } = both.body as { token: string };
    const active = async (unit: Unit, other: Unit) => {
      expect((await send(system, 'setActiveOrgUnit', { body: { ouId: unit.ouId } }, { token })).status).toBe(
        200,
      );
      const seen = await send(system, 'listLeads', {}, { token });
      expect(JSON.stringify(seen.body)).toContain(unit.mark);
      expectNothingOf(other, seen);
    };
    let switching = true;
    const reader = async (unit: Unit, other: Unit) => {
      while (switching) {
        const seen = await send(system, 'listLeads', {}, { token, headers: { 'x-ou-id': unit.ouId } });
        expect(JSON.stringify(seen.body)).toContain(unit.mark);
        expectNothingOf(other, seen);
      }
    };
    const readers = [reader(a, b), reader(b, a)];
    try {
      for (let n = 0; n < 10; n += 1) {
        await active(a, b);
        await active(b, a);
      }
    } finally {
      switching = false;
      await Promise.all(readers);
    }
  }, 60_000);

  test('the same alias in two units is two leads, each with its own events and score', async () => {
    const event = { alias_kind: 'email', alias: a.alias, event_type: a.eventType };
    const sent = await send(system, 'ingest', { body: event }, { token: b.adminToken });
    const { position } = sent.body as { position: string };
    const ofB = await send(
      system,
      'getScore',
      { parameters: { leadID: leadIdOf(b.ouId, 'email', a.alias) }, query: { min_position: position } },
      { token: b.adminToken },
    );
    expect(ofB.body).toMatchObject({ score: 0 });
    const ofA = await send(
      system,
      'listLeadEvents',
      { parameters: { leadID: a.leadId }, query: { limit: '100' } },
      { token: a.adminToken },
    );
    expect(
      (ofA.body as { data: { alias: { alias: string } }[] }).data.every(
        ({ alias }) => alias.alias === a.alias,
      ),
    ).toBe(true);
    expect(
      (await send(system, 'getScore', { parameters: { leadID: a.leadId } }, { token: b.adminToken })).status,
    ).toBe(404);
  });

  test("after all of these requests A's data is unchanged", async () => {
    const as = { token: a.adminToken };
    const rules = await send(system, 'listRules', { query: { ruleset_id: a.rulesetId, limit: '100' } }, as);
    const rule = (rules.body as { data: { id: string }[] }).data.find(({ id }) => id === a.ruleId);
    expect(rule).toMatchObject({
      active: true,
      weight: 7,
      event_type: a.eventType,
      label: `Label ${a.mark}`,
    });
    const rulesets = await send(system, 'listRulesets', { query: { limit: '100' } }, as);
    const ruleset = (rulesets.body as { data: { id: string; name: string }[] }).data.find(
      ({ id }) => id === a.rulesetId,
    );
    expect(ruleset).toMatchObject({ active: true, name: expect.stringContaining(a.mark) });
    const levels = await send(system, 'listEngagementLevels', {}, as);
    expect(levels.body).toMatchObject({ levels: [{ id: a.levelId, name: `Level ${a.mark}` }] });
    const basic = {
      authorization: `Basic ${Buffer.from(`${a.clientId}:${a.clientSecret}`).toString('base64')}`,
    };
    expect((await send(system, 'listLeads', {}, { token: null, headers: basic })).status).toBe(200);
    const shared = await send(system, 'readShare', routeExamples.readShare(a), { token: null });
    expect(shared.status).toBe(200);
    expectNothingOf(b, shared);
  });
});

describe('a request beyond the role or scope of its credential is 403 on every route', () => {
  const writing = guarded.filter((name) => {
    const { access } = routeNamed(name);
    return access.credential && access.role !== 'viewer';
  });
  test.each(writing)('%s by a viewer', async (name) => {
    const answer = await send(system, name, routeExamples[name](b), { token: b.viewerToken });
    expect({ status: answer.status, body: answer.body }).toMatchObject({
      status: 403,
      body: { status: 403 },
    });
  });

  test('every route beyond its scope, by a service account that may only ingest', async () => {
    const made = await send(
      system,
      'createServiceAccount',
      { body: { name: 'Pipeline', scopes: ['ingest'] } },
      { token: b.adminToken },
    );
    const { client_id, client_secret } = made.body as { client_id: string; client_secret: string };
    const headers = {
      authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
    };
    for (const name of guarded) {
      const { access, responses } = routeNamed(name);
      if (!access.credential || access.organisationUnit === 'none') continue;
      const { status } = await send(system, name, routeExamples[name](b), { token: null, headers });
      const success = Number(Object.keys(responses)[0]);
      expect({ name, status }).toEqual({ name, status: access.scope === 'ingest' ? success : 403 });
    }
  }, 60_000);

  test('a token cannot create a token with more rights than its own', async () => {
    const limited = await newToken(b, { name: 'Limited', role: 'editor' });
    const answer = await send(
      system,
      'createToken',
      { body: { name: 'More', role: 'admin' } },
      { token: limited.token },
    );
    expect(answer.status).toBe(403);
  });
});

async function newToken(unit: Unit, body: Record<string, unknown>): Promise<{ id: string; token: string }> {
  const answer = await send(system, 'createToken', { body }, { token: unit.adminToken });
  if (answer.status !== 201)
    throw new Error(`${pathOf('createToken', {})}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as { id: string; token: string };
}

/** @param named the text of the request, which the answer may repeat */
function expectNothingOf(unit: Unit, answer: Answer, named = ''): void {
  const text = `${JSON.stringify(answer.body)} ${JSON.stringify([...answer.headers])}`;
  const {
    adminToken,
    viewerToken,
    clientSecret,
    invitationToken,
    shareToken,
    idleShareId,
    adminTokenId,
    idleTokenId,
    memberId,
    idleMemberId,
    clientId,
    rulesetId,
    ruleId,
    levelId,
    filterId,
    decayId,
    leadId,
    channelId,
    webhookChannelId,
    triggerId,
    sequenceId,
    surgeTriggerId,
    deliveryId,
    jobId,
    mark,
    ouId,
  } = unit;
  const secrets = { adminToken, viewerToken, clientSecret, invitationToken };
  const things = {
    shareToken,
    idleShareId,
    adminTokenId,
    idleTokenId,
    memberId,
    idleMemberId,
    clientId,
    rulesetId,
    ruleId,
    levelId,
    filterId,
    decayId,
    leadId,
    channelId,
    webhookChannelId,
    triggerId,
    sequenceId,
    surgeTriggerId,
    deliveryId,
    jobId,
    mark,
    ouId,
  };
  const shown = [
    ...Object.entries(secrets).filter(([, value]) => text.includes(value)),
    ...Object.entries(things).filter(([, value]) => text.includes(value) && !named.includes(value)),
  ].map(([what]) => what);
  expect(shown).toEqual([]);
}
