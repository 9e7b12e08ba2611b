// One valid request for every route, for tests of all routes. A route without an example does not compile, and `missingExamples`
// lists it at run time.
import { randomUUID } from 'node:crypto';
import {
  accountIdOf,
  leadIdOf,
  routes,
  type RouteDeclaration,
  type RouteName,
} from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import type { Answer, RequestOptions, TestSystem } from './test-system.js';

/** An OU with one resource of each kind. Every name and text in it contains `mark`. Tests delete the idle ones. */
export interface Unit {
  ouId: string;
  /** Another OU of the same administrator. */
  idleOuId: string;
  mark: string;
  /** Has the role `admin` in this OU, and no rights in the others that exist. */
  adminToken: string;
  adminTokenId: string;
  viewerToken: string;
  idleTokenId: string;
  /** Two members who have not joined; the idle one is removed. */
  memberId: string;
  idleMemberId: string;
  /** The end of the link of a third one. */
  invitationToken: string;
  /** A service account. */
  clientId: string;
  clientSecret: string;
  rulesetId: string;
  idleRulesetId: string;
  ruleId: string;
  profileRulesetId: string;
  profileRuleId: string;
  accountRulesetId: string;
  accountRuleId: string;
  /** The account of the lead. */
  accountId: string;
  /** The account of the idle lead. */
  idleAccountId: string;
  mappingId: string;
  idleMappingId: string;
  idleRuleId: string;
  levelId: string;
  filterId: string;
  idleFilterId: string;
  decayId: string;
  idleDecayId: string;
  dealRulesetId: string;
  dealRuleId: string;
  /** A deal that the events of both leads name. */
  dealId: string;
  leadId: string;
  idleLeadId: string;
  /** Two leads that are nothing but merged, and unmerged. */
  targetLeadId: string;
  sourceLeadId: string;
  alias: string;
  eventType: string;
  /** The token of a link to the explanation of the lead's score. */
  shareToken: string;
  idleShareId: string;
  /** A Slack channel; the service has no Slack token, so that deliveries to it fail at once. */
  channelId: string;
  webhookChannelId: string;
  triggerId: string;
  sequenceId: string;
  surgeTriggerId: string;
  idleChannelId: string;
  idleTriggerId: string;
  idleSequenceId: string;
  idleSurgeTriggerId: string;
  /** The delivery of a test of the channel. */
  deliveryId: string;
  /** Of a redelivery to the channel. */
  jobId: string;
  /** Of a completed what-if whose draft changes nothing. */
  whatIfId: string;
  /** An uploaded table of leads, which no import has taken. */
  leadFileId: string;
  /** Two challengers: one stays, and its draft changes nothing. */
  challengerId: string;
  idleChallengerId: string;
  /** A website that may be analysed. */
  siteUrl: string;
}

export interface RouteExample {
  parameters?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}

const mergeOf = ({ targetLeadId, sourceLeadId }: Unit) => ({
  target_id: targetLeadId,
  source_ids: [sourceLeadId],
});

/** Requests that succeed in `unit`. Those that delete or revoke a resource use an idle one. */
export const routeExamples: { [Name in RouteName]: (unit: Unit) => RouteExample } = {
  ingest: ({ mark }) => ({ body: eventOf(mark) }),
  importEvents: ({ mark }) => ({
    body: { events: [{ ...eventOf(mark), timestamp: '2019-05-01T00:00:00Z' }] },
  }),
  sendSegmentTrack: ({ mark }) => ({
    body: { event: `Type ${mark}`, properties: { path: `/${mark}` }, ...segmentIdsOf(mark) },
  }),
  sendSegmentIdentify: ({ mark }) => ({
    body: { traits: { name: `Person ${mark}` }, ...segmentIdsOf(mark) },
  }),
  sendSegmentPage: ({ mark }) => ({ body: { name: mark, ...segmentIdsOf(mark) } }),
  sendSegmentScreen: ({ mark }) => ({ body: { name: mark, ...segmentIdsOf(mark) } }),
  sendSegmentGroup: ({ mark }) => ({
    body: { groupId: mark, traits: { name: `Company ${mark}` }, ...segmentIdsOf(mark) },
  }),
  sendSegmentAlias: ({ mark }) => ({
    body: { userId: `user of ${mark}`, previousId: `visitor of ${mark}` },
  }),
  sendSegmentBatch: ({ mark }) => ({
    body: { batch: [{ type: 'track', event: `Type ${mark}`, ...segmentIdsOf(mark) }] },
  }),
  listEvents: () => ({ query: { limit: '5' } }),
  listLeadEvents: ({ leadId }) => ({ parameters: { leadID: leadId } }),
  exportEvents: ({ leadId }) => ({ query: { lead_id: leadId, columns: 'metadata.path' } }),
  getEventsAnalytics: ({ filterId }) => ({
    query: {
      filter_id: filterId,
      from: '2026-03-28',
      to: '2026-03-31',
      timezone: 'Europe/Berlin',
      group_by: 'metadata.path',
    },
  }),
  getEventStats: () => ({ query: { granularity: 'day', timezone: 'Europe/Berlin' } }),
  listEventTypes: () => ({}),
  listEventTypeProperties: ({ eventType }) => ({ parameters: { eventType } }),
  listEventTypeSettings: () => ({}),
  setEventTypeSettings: ({ mark }) => ({
    parameters: { eventType: `Hidden ${mark}` },
    body: { hidden: true },
  }),
  deleteEventTypeEvents: ({ mark }) => ({ parameters: { eventType: `Deleted ${mark}` } }),
  dryRunEventTypeDeletion: ({ eventType }) => ({ parameters: { eventType } }),
  listLeads: () => ({ query: { limit: '5' } }),
  searchLeads: ({ mark }) => ({ query: { q: mark } }),
  findLeadByAlias: ({ alias }) => ({ query: { alias_kind: 'email', alias } }),
  listLeadAliases: ({ leadId }) => ({ parameters: { leadID: leadId } }),
  getLeadMetadata: ({ leadId }) => ({ parameters: { leadID: leadId } }),
  patchLeadMetadata: ({ leadId }) => ({
    parameters: { leadID: leadId },
    body: { phase: 'negotiation', 'a.key $with': { __proto: null, dots: 1 } },
  }),
  addLeadAlias: ({ leadId, alias }) => ({
    parameters: { leadID: leadId },
    body: { alias_kind: 'email', alias: `added.${alias}` },
  }),
  removeLeadAlias: ({ leadId, alias }) => ({
    parameters: { leadID: leadId },
    query: { alias_kind: 'email', alias: `added.${alias}` },
  }),
  previewLeadMerge: (unit) => ({ body: mergeOf(unit) }),
  mergeLeads: (unit) => ({ body: mergeOf(unit) }),
  unmergeLead: ({ targetLeadId, sourceLeadId }) => ({
    parameters: { leadID: targetLeadId },
    body: { source_id: sourceLeadId },
  }),
  listLeadConflicts: () => ({ query: { limit: '5' } }),
  getScore: ({ leadId }) => ({ parameters: { leadID: leadId } }),
  explainScore: ({ leadId }) => ({ parameters: { leadID: leadId } }),
  listDeals: ({ leadId }) => ({ query: { lead_id: leadId } }),
  getDeal: ({ dealId }) => ({ parameters: { id: dealId } }),
  getAttributionInsights: ({ mark }) => ({ query: { stage: `Stage ${mark}`, model: 'position_based' } }),
  listAttributedDeals: ({ mark }) => ({ query: { stage: `Stage ${mark}` } }),
  listIgnoredDeals: () => ({}),
  resetScores: ({ idleLeadId }) => ({ parameters: { leadID: idleLeadId } }),
  deleteLead: ({ idleLeadId }) => ({ parameters: { leadID: idleLeadId } }),
  previewLeadImport: ({ mark }) => ({ body: leadRowsOf(mark) }),
  startLeadImport: ({ leadFileId }) => ({ body: leadImportOf(leadFileId) }),
  listLeadImports: () => ({ query: { limit: '5' } }),
  findLeadImports: () => ({ body: { limit: 5 } }),
  createShare: ({ leadId }) => ({ parameters: { id: leadId } }),
  listShares: ({ leadId }) => ({ parameters: { id: leadId } }),
  revokeShare: ({ idleShareId }) => ({ parameters: { token: idleShareId } }),
  readShare: ({ shareToken }) => ({ parameters: { token: shareToken } }),
  shareCsv: ({ shareToken }) => ({ parameters: { token: shareToken } }),
  sharePreview: ({ shareToken }) => ({ parameters: { token: shareToken } }),
  sharePage: ({ shareToken }) => ({ parameters: { token: shareToken } }),
  listFilters: () => ({}),
  createFilter: ({ mark }) => ({ body: filterOf(`Another ${mark}`) }),
  previewFilter: ({ mark }) => ({ body: { conditions: filterOf(mark).conditions } }),
  getFilter: ({ filterId }) => ({ parameters: { id: filterId } }),
  updateFilter: ({ filterId, mark }) => ({ parameters: { id: filterId }, body: { name: `Renamed ${mark}` } }),
  deleteFilter: ({ idleFilterId }) => ({ parameters: { id: idleFilterId } }),
  listDecays: () => ({}),
  createDecay: ({ mark }) => ({ body: decayOf(`Another ${mark}`) }),
  getDecay: ({ decayId }) => ({ parameters: { id: decayId } }),
  updateDecay: ({ decayId, mark }) => ({ parameters: { id: decayId }, body: { name: `Renamed ${mark}` } }),
  deleteDecay: ({ idleDecayId }) => ({ parameters: { id: idleDecayId } }),
  // A past time, so that two answers are equal.
  getScoreHistory: ({ leadId }) => ({
    parameters: { leadID: leadId },
    query: { from: '2026-03-28', to: '2026-03-31', timezone: 'Europe/Berlin' },
  }),
  drawScoreHistory: ({ leadId }) => ({
    parameters: { leadID: leadId },
    query: { from: '2026-03-28', to: '2026-03-31', width: '360' },
  }),
  paintScoreHistory: ({ leadId }) => ({
    parameters: { leadID: leadId },
    query: { from: '2026-03-28', to: '2026-03-31', width: '360' },
  }),
  forecastScore: ({ leadId }) => ({ parameters: { leadID: leadId } }),
  createRuleset: ({ mark }) => ({
    body: { name: `Another ${mark}`, score_type: 'engagement', active: false },
  }),
  updateRuleset: ({ rulesetId, mark }) => ({
    parameters: { id: rulesetId },
    body: { name: `Renamed ${mark}` },
  }),
  listRulesets: () => ({}),
  listAllRulesets: () => ({ query: { score_type: 'engagement' } }),
  getRuleset: ({ rulesetId }) => ({ parameters: { id: rulesetId } }),
  deleteRuleset: ({ idleRulesetId }) => ({ parameters: { id: idleRulesetId } }),
  createRule: ({ rulesetId, mark }) => ({
    body: { ruleset_id: rulesetId, event_type: `Rule ${mark}`, weight: 3, label: mark },
  }),
  createEngagementRule: ({ mark }) => ({
    body: {
      event_type: `Rule ${mark}`,
      weight: -3,
      attribute_filters: [{ field: 'path', operator: 'contains', value: mark }],
    },
  }),
  listRules: () => ({}),
  getRule: ({ ruleId }) => ({ parameters: { id: ruleId } }),
  updateRule: ({ ruleId, mark }) => ({ parameters: { id: ruleId }, body: { icon: mark } }),
  listRuleVersions: ({ ruleId }) => ({ parameters: { id: ruleId } }),
  deleteRule: ({ idleRuleId }) => ({ parameters: { id: idleRuleId } }),
  listEngagementLevels: () => ({}),
  setEngagementLevels: ({ levelId, mark }) => ({ body: { levels: [levelOf(mark, levelId)] } }),
  getConfiguration: () => ({}),
  listConfigurationVersions: () => ({}),
  restoreConfiguration: () => ({ query: { dry_run: 'true' }, body: { version: 1 } }),
  putConfiguration: ({ mark, eventType }) => ({
    query: { dry_run: 'true' },
    body: {
      engagement_rulesets: [{ name: `Ruleset ${mark}`, rules: [{ event_type: eventType, weight: 7 }] }],
      profile_mappings: [{ field: 'city', source: `metadata.city ${mark}` }],
      account_rulesets: [
        {
          name: `Companies ${mark}`,
          rules: [{ conditions: [{ field: 'domain', operator: 'contains', value: mark }], weight: 7 }],
        },
      ],
      filters: [
        {
          name: `Filter ${mark}`,
          conditions: {
            all: [{ field: 'ruleset_score', ruleset: `Ruleset ${mark}`, operator: 'gte', value: 5 }],
          },
        },
      ],
    },
  }),
  startWhatIf: ({ eventType, ruleId }) => ({
    body: {
      changes: [
        { op: 'add', rule: { event_type: eventType, weight: 2 } },
        { op: 'change', rule_id: ruleId, rule: { weight: 5 } },
      ],
      outcome: { event_type: eventType },
    },
  }),
  startSuggestion: ({ eventType }) => ({
    body: { outcome: { event_type: eventType }, dimension: 'engagement' },
  }),
  drawWhatIf: ({ whatIfId }) => ({ parameters: { job: whatIfId }, query: { chart: 'roc' } }),
  paintWhatIf: ({ whatIfId }) => ({ parameters: { job: whatIfId }, query: { chart: 'roc' } }),
  applyWhatIf: ({ whatIfId }) => ({ parameters: { job: whatIfId } }),
  startChallenger: ({ eventType, mark }) => ({
    body: {
      name: `Challenger ${mark}`,
      changes: [{ op: 'add', rule: { event_type: eventType, weight: 2 } }],
      outcome: { event_type: eventType },
    },
  }),
  listChallengers: () => ({}),
  getChallenger: ({ challengerId }) => ({ parameters: { id: challengerId } }),
  applyChallenger: ({ challengerId }) => ({
    parameters: { id: challengerId },
    query: { dry_run: 'true' },
  }),
  endChallenger: ({ idleChallengerId }) => ({ parameters: { id: idleChallengerId } }),
  scoreNow: ({ rulesetId }) => ({
    parameters: { dimension: 'engagement', id: rulesetId },
    query: { dry_run: 'true' },
  }),
  backfillScores: () => ({ query: { dry_run: 'true' } }),
  backfillProfiles: () => ({ query: { dry_run: 'true' } }),
  backfillAccounts: () => ({ query: { dry_run: 'true' } }),
  backfillLevels: () => ({ query: { dry_run: 'true' } }),
  backfillEventTypes: () => ({ query: { dry_run: 'true' } }),
  setRulesActive: ({ ouId, ruleId }) => ({
    parameters: { ouId },
    body: { rule_ids: [ruleId], updates: { active: true } },
  }),
  listProfileMappings: () => ({}),
  addProfileMapping: ({ mark }) => ({ body: { field: 'country', source: `metadata.country ${mark}` } }),
  removeProfileMapping: ({ idleMappingId }) => ({ parameters: { id: idleMappingId } }),
  listProfileRulesets: () => ({}),
  listProfileRules: () => ({}),
  setProfileRulesActive: ({ ouId, profileRuleId }) => ({
    parameters: { ouId },
    body: { rule_ids: [profileRuleId], updates: { active: false } },
  }),
  testProfile: ({ leadId }) => ({ body: { lead_id: leadId } }),
  listDealRulesets: () => ({}),
  listDealRules: () => ({}),
  testDeal: ({ dealId }) => ({ body: { deal_id: dealId } }),
  listAccountRulesets: () => ({}),
  listAccountRules: () => ({}),
  createAccountRule: ({ accountRulesetId, mark }) => ({
    body: {
      ruleset_id: accountRulesetId,
      conditions: [{ field: 'domain', operator: 'contains', value: mark }],
      weight: 3,
    },
  }),
  setAccountRulesActive: ({ ouId, accountRuleId }) => ({
    parameters: { ouId },
    body: { rule_ids: [accountRuleId], updates: { active: false } },
  }),
  getAccountRollUp: () => ({}),
  setAccountRollUp: () => ({ body: { roll_up: { method: 'top', leads: 2 } } }),
  listAccountLevels: () => ({}),
  setAccountLevels: ({ mark }) => ({ body: { levels: [levelOf(`Company ${mark}`)] } }),
  testAccount: ({ accountId }) => ({ body: { account_id: accountId } }),
  listTopLeads: () => ({ query: { limit: '5' } }),
  listScoreGains: () => ({ query: { hours: '48', limit: '5' } }),
  getUsage: () => ({ query: { granularity: 'hour' } }),
  listAccounts: () => ({}),
  getAccount: ({ accountId }) => ({ parameters: { id: accountId } }),
  getBuyingCommittee: ({ accountId }) => ({ query: { account_id: accountId } }),
  mergeAccounts: ({ idleAccountId, accountId }) => ({
    parameters: { id: idleAccountId },
    body: { target_id: accountId },
  }),
  testEngagementRules: ({ leadId, rulesetId, ruleId, eventType, mark }) => ({
    body: {
      lead_id: leadId,
      events: [{ event_type: eventType, metadata: { path: mark } }],
      rules: [{ ruleset_id: rulesetId, replaces: ruleId, event_type: eventType, weight: 3 }],
    },
  }),
  listProfileLevels: () => ({}),
  setProfileLevels: ({ mark }) => ({ body: { levels: [levelOf(`Fit ${mark}`)] } }),
  getScoringGrid: () => ({}),
  setScoringGrid: () => ({
    body: { grid: { profile: { A: 30, B: 20, C: 10 }, engagement: { 1: 30, 2: 20, 3: 10 } } },
  }),
  listChannels: () => ({}),
  createChannel: ({ mark }) => ({ body: channelOf(`Another ${mark}`) }),
  replaceChannel: ({ channelId, mark }) => ({
    parameters: { id: channelId },
    body: channelOf(`Replaced ${mark}`),
  }),
  deleteChannel: ({ idleChannelId }) => ({ parameters: { id: idleChannelId } }),
  testChannel: ({ channelId }) => ({ parameters: { id: channelId } }),
  rotateChannelSecret: ({ webhookChannelId }) => ({ parameters: { id: webhookChannelId } }),
  resumeChannel: ({ channelId }) => ({ parameters: { id: channelId } }),
  redeliverNotifications: ({ channelId }) => ({
    parameters: { id: channelId },
    body: { since: '2026-01-01T00:00:00Z' },
  }),
  listTriggers: ({ channelId }) => ({ query: { channel_id: channelId } }),
  createTrigger: (unit) => ({ body: milestoneOf(unit) }),
  getTrigger: ({ triggerId }) => ({ parameters: { id: triggerId } }),
  replaceTrigger: (unit) => ({
    parameters: { id: unit.triggerId },
    body: { ...milestoneOf(unit), name: `Replaced ${unit.mark}` },
  }),
  deleteTrigger: ({ idleTriggerId }) => ({ parameters: { id: idleTriggerId } }),
  simulateTrigger: ({ triggerId }) => ({ parameters: { id: triggerId } }),
  listMilestoneEvents: () => ({ query: { limit: '5' } }),
  listSequences: () => ({}),
  createSequence: (unit) => ({ body: sequenceOf(unit) }),
  getSequence: ({ sequenceId }) => ({ parameters: { id: sequenceId } }),
  replaceSequence: (unit) => ({ parameters: { id: unit.sequenceId }, body: sequenceOf(unit) }),
  deleteSequence: ({ idleSequenceId }) => ({ parameters: { id: idleSequenceId } }),
  simulateSequence: ({ sequenceId }) => ({ parameters: { id: sequenceId } }),
  listSequenceEvents: () => ({ query: { limit: '5' } }),
  listSurgeTriggers: () => ({}),
  createSurgeTrigger: (unit) => ({ body: surgeOf(unit) }),
  getSurgeTrigger: ({ surgeTriggerId }) => ({ parameters: { id: surgeTriggerId } }),
  replaceSurgeTrigger: (unit) => ({ parameters: { id: unit.surgeTriggerId }, body: surgeOf(unit) }),
  deleteSurgeTrigger: ({ idleSurgeTriggerId }) => ({ parameters: { id: idleSurgeTriggerId } }),
  simulateSurgeTrigger: ({ surgeTriggerId }) => ({ parameters: { id: surgeTriggerId }, body: {} }),
  previewSurgeTrigger: ({ surgeTriggerId }) => ({ parameters: { id: surgeTriggerId } }),
  listSurgeEvents: () => ({ query: { limit: '5' } }),
  listDeliveries: () => ({ query: { limit: '5' } }),
  getDelivery: ({ deliveryId }) => ({ parameters: { id: deliveryId } }),
  redeliverNotification: ({ deliveryId }) => ({ parameters: { id: deliveryId } }),
  listJobs: () => ({ query: { limit: '5' } }),
  getJob: ({ jobId }) => ({ parameters: { id: jobId } }),
  cancelJob: ({ jobId }) => ({ parameters: { id: jobId } }),
  listJobErrors: ({ jobId }) => ({ parameters: { id: jobId } }),
  analyzeSite: ({ siteUrl }) => ({ body: { url: siteUrl } }),
  listSiteAnalyses: () => ({ query: { limit: '5' } }),
  setActiveOrgUnit: ({ ouId }) => ({ body: { ouId } }),
  listOrgUnits: () => ({}),
  renameOrgUnit: ({ ouId, mark }) => ({ parameters: { id: ouId }, body: { name: `Renamed ${mark}` } }),
  endOrgUnit: ({ idleOuId }) => ({ parameters: { id: idleOuId } }),
  createOrgUnit: ({ mark }) => ({ body: { name: `Unit ${mark} ${randomUUID()}` } }),
  listTokens: () => ({}),
  createToken: ({ mark }) => ({ body: { name: `Token ${mark}`, role: 'viewer' } }),
  changeToken: ({ idleTokenId }) => ({
    parameters: { id: idleTokenId },
    body: { rate_limit: { per_minute: 50, burst: 100 } },
  }),
  revokeToken: ({ idleTokenId }) => ({ parameters: { id: idleTokenId } }),
  listServiceAccounts: () => ({}),
  createServiceAccount: ({ mark }) => ({ body: { name: `Account ${mark}`, scopes: ['read'] } }),
  changeServiceAccount: ({ clientId }) => ({
    parameters: { id: clientId },
    body: { rate_limit: { per_minute: 50, burst: 100 } },
  }),
  rotateServiceAccountSecret: ({ clientId }) => ({ parameters: { id: clientId } }),
  revokeServiceAccount: ({ clientId }) => ({ parameters: { id: clientId } }),
  getLimits: () => ({}),
  // Far more than tests send.
  changeLimits: () => ({ body: { rate_limit: { per_minute: 9_000_000, burst: 9_000_000 } } }),
  listMembers: () => ({}),
  listAudit: () => ({ query: { kind: 'rule', limit: '5' } }),
  listRefusedSignIns: () => ({ query: { limit: '5' } }),
  addMember: ({ mark, ouId }) => ({ body: memberOf(`Further member ${mark}`, ouId) }),
  changeMember: ({ memberId, mark }) => ({
    parameters: { id: memberId },
    body: { name: `Renamed member ${mark}`, role: 'editor' },
  }),
  removeMember: ({ idleMemberId }) => ({ parameters: { id: idleMemberId } }),
  inviteMember: ({ memberId }) => ({ parameters: { id: memberId } }),
  getInvitation: ({ invitationToken }) => ({ parameters: { token: invitationToken } }),
  acceptInvitation: ({ invitationToken }) => ({ parameters: { token: invitationToken } }),
  openApiDocument: () => ({}),
  asyncApiDocument: () => ({}),
  documentation: () => ({}),
  liveness: () => ({}),
  readiness: () => ({}),
};

export const routeNames = Object.keys(routes) as RouteName[];

/** Declared routes without an example; a test expects none. */
export function missingExamples(): string[] {
  return routeNames.filter((name) => !Object.hasOwn(routeExamples, name));
}

export function routeNamed(name: RouteName): RouteDeclaration {
  return routes[name];
}

/** The path with its parameters filled in (URL-encoded) and the query appended. */
export function pathOf(name: RouteName, { parameters = {}, query }: RouteExample): string {
  const path = routes[name].path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = parameters[parameter];
    if (value === undefined) throw new Error(`the example of ${name} has no ${parameter}`);
    return encodeURIComponent(value);
  });
  return query ? `${path}?${new URLSearchParams(query).toString()}` : path;
}

/** Sends the example, as JSON. */
export function send(
  system: TestSystem,
  name: RouteName,
  example: RouteExample,
  options: Omit<RequestOptions, 'method' | 'body'> = {},
): Promise<Answer> {
  return system.request(pathOf(name, example), {
    method: routes[name].method,
    ...(example.body !== undefined && { body: example.body }),
    ...options,
  });
}

/** Resolves when no job of the unit is running: it has one of some kinds at a time. */
export async function noJobRuns(system: TestSystem, { adminToken }: Pick<Unit, 'adminToken'>): Promise<void> {
  await eventually('no job is running', async () => {
    const { body } = await send(system, 'listJobs', { query: { status: 'running' } }, { token: adminToken });
    return (body as { total: number }).total === 0;
  });
}

/** Creates one resource of each kind in the OU; without `ouId`, in a new OU. */
export async function furnish(system: TestSystem, mark: string, ouId?: string): Promise<Unit> {
  const made = async <Body>(name: RouteName, example: RouteExample, unit: string): Promise<Body> => {
    const answer = await send(system, name, example, { headers: { 'x-ou-id': unit } });
    if (answer.status >= 300) throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as Body;
  };
  const unit =
    ouId ?? (await made<{ id: string }>('createOrgUnit', { body: { name: `Unit ${mark}` } }, system.ouId)).id;
  const token = (name: string, role: string) =>
    made<{ id: string; token: string }>(
      'createToken',
      { body: { name: `${name} ${mark}`, role, ou_ids: [unit] } },
      unit,
    );
  const admin = await token('Administrator', 'admin');
  const idleUnit = await send(
    system,
    'createOrgUnit',
    { body: { name: `Idle unit ${mark}` } },
    { token: admin.token },
  );
  const { id: idleOuId } = idleUnit.body as { id: string };
  const viewer = await token('Viewer', 'viewer');
  const idle = await token('Idle', 'viewer');
  const member = (name: string) =>
    made<{ id: string; invitation_url: string }>(
      'addMember',
      { body: memberOf(`${name} ${mark}`, unit) },
      unit,
    );
  const { id: memberId } = await member('Member');
  const { id: idleMemberId } = await member('Idle member');
  const invited = await member('Invited member');
  const account = await made<{ client_id: string; client_secret: string }>(
    'createServiceAccount',
    { body: { name: `Account ${mark}`, ou_ids: [unit] } },
    unit,
  );
  const ruleset = await made<{ id: string }>(
    'createRuleset',
    { body: { name: `Ruleset ${mark}`, score_type: 'engagement', active: true } },
    unit,
  );
  const eventType = `Type ${mark}`;
  const rule = await made<{ id: string }>(
    'createRule',
    { body: { ruleset_id: ruleset.id, event_type: eventType, weight: 7, label: `Label ${mark}` } },
    unit,
  );
  const profileRuleset = await made<{ id: string }>(
    'createRuleset',
    { body: { name: `Profile ruleset ${mark}`, score_type: 'profile', active: true } },
    unit,
  );
  const profileRule = await made<{ id: string }>(
    'createRule',
    {
      body: {
        ruleset_id: profileRuleset.id,
        conditions: [{ field: 'company', operator: 'contains', value: mark }],
        weight: 4,
        label: `Profile label ${mark}`,
      },
    },
    unit,
  );
  const dealRuleset = await made<{ id: string }>(
    'createRuleset',
    { body: { name: `Deal ruleset ${mark}`, score_type: 'deal', active: true } },
    unit,
  );
  const dealRule = await made<{ id: string }>(
    'createRule',
    {
      body: {
        ruleset_id: dealRuleset.id,
        conditions: [{ field: 'stage', operator: 'contains', value: mark }],
        weight: 6,
        label: `Deal label ${mark}`,
      },
    },
    unit,
  );
  const accountRuleset = await made<{ id: string }>(
    'createRuleset',
    { body: { name: `Account ruleset ${mark}`, score_type: 'account', active: true } },
    unit,
  );
  const accountRule = await made<{ id: string }>(
    'createAccountRule',
    {
      body: {
        ruleset_id: accountRuleset.id,
        conditions: [{ field: 'key', operator: 'contains', value: mark }],
        weight: 6,
        label: `Account label ${mark}`,
      },
    },
    unit,
  );
  const mapping = (field: string) =>
    made<{ id: string }>(
      'addProfileMapping',
      { body: { field, source: `metadata.key_${mark}`, transform: 'lower' } },
      unit,
    );
  const idleRuleset = await made<{ id: string }>(
    'createRuleset',
    { body: { name: `Idle ruleset ${mark}`, score_type: 'engagement' } },
    unit,
  );
  const idleRule = await made<{ id: string }>(
    'createRule',
    { body: { ruleset_id: ruleset.id, event_type: `Idle ${mark}`, weight: 1 } },
    unit,
  );
  const { levels } = await made<{ levels: { id: string }[] }>(
    'setEngagementLevels',
    { body: { levels: [levelOf(mark)] } },
    unit,
  );
  const filter = (name: string) => made<{ id: string }>('createFilter', { body: filterOf(name) }, unit);
  const { id: filterId } = await filter(`Filter ${mark}`);
  const { id: idleFilterId } = await filter(`Idle filter ${mark}`);
  const decay = (name: string) => made<{ id: string }>('createDecay', { body: decayOf(name) }, unit);
  const { id: decayId } = await decay(`Decay ${mark}`);
  const { id: idleDecayId } = await decay(`Idle decay ${mark}`);
  const event = eventOf(mark);
  const [idleAlias, targetAlias, sourceAlias] = ['idle', 'target', 'source'].map(
    (name) => `${name}.${event.alias}`,
  ) as [string, string, string];
  const idleAccount = { account_kind: 'named', account_key: `Idle account ${mark}` } as const;
  const { position } = await made<{ position: string }>(
    'ingest',
    {
      body: [
        { ...event, event_type: eventType },
        { ...event, alias: idleAlias, event_type: eventType },
        { ...event, alias: targetAlias, event_type: eventType },
        { ...event, alias: sourceAlias, event_type: eventType },
        {
          ...event,
          alias: `merged.${event.alias}`,
          event_type: eventType,
          metadata: { ...event.metadata, account: idleAccount.account_key },
        },
      ],
    },
    unit,
  );
  const leadId = leadIdOf(unit, 'email', event.alias);
  await eventually('the lead is scored', async () => {
    const answer = await send(
      system,
      'getScore',
      { parameters: { leadID: leadId }, query: { min_position: position } },
      { headers: { 'x-ou-id': unit } },
    );
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    return true;
  });
  const dealId = event.metadata.deal.id;
  await eventually('the deal is scored', async () => {
    const answer = await send(
      system,
      'getDeal',
      { parameters: { id: dealId } },
      { headers: { 'x-ou-id': unit } },
    );
    return answer.status === 200;
  });
  await eventually('the deal counts for the lead', async () => {
    const answer = await send(
      system,
      'getScore',
      { parameters: { leadID: leadId }, query: { score_type: 'deal' } },
      { headers: { 'x-ou-id': unit } },
    );
    return (answer.body as { score?: number }).score === 6;
  });
  const accountId = accountIdOf(unit, { account_kind: 'domain', account_key: 'example.com' });
  const idleAccountId = accountIdOf(unit, idleAccount);
  for (const id of [accountId, idleAccountId])
    await eventually('the account has its leads', async () => {
      const answer = await send(
        system,
        'getAccount',
        { parameters: { id } },
        { headers: { 'x-ou-id': unit } },
      );
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      return true;
    });
  const share = () => made<{ token: string }>('createShare', { parameters: { id: leadId } }, unit);
  await share();
  const listed = await made<{ data: { id: string }[] }>('listShares', { parameters: { id: leadId } }, unit);
  const { token: shareToken } = await share();
  const idOf = async (name: RouteName, body: unknown) =>
    (await made<{ id: string }>(name, { body }, unit)).id;
  const channelId = await idOf('createChannel', channelOf(`Channel ${mark}`));
  const watching = { mark, eventType, channelId };
  const [triggerId, idleTriggerId, sequenceId, idleSequenceId, surgeTriggerId, idleSurgeTriggerId] = [
    await idOf('createTrigger', milestoneOf(watching)),
    await idOf('createTrigger', milestoneOf(watching)),
    await idOf('createSequence', sequenceOf(watching)),
    await idOf('createSequence', sequenceOf(watching)),
    await idOf('createSurgeTrigger', surgeOf(watching)),
    await idOf('createSurgeTrigger', surgeOf(watching)),
  ];
  await made('testChannel', { parameters: { id: channelId } }, unit);
  const tests = await made<{ data: { id: string }[] }>(
    'listDeliveries',
    { query: { channel_id: channelId } },
    unit,
  );
  const { job_id: jobId } = await made<{ job_id: string }>(
    'redeliverNotifications',
    { parameters: { id: channelId }, body: { since: '2026-01-01T00:00:00Z' } },
    unit,
  );
  const { job_id: whatIfId } = await made<{ job_id: string }>('startWhatIf', { body: { changes: [] } }, unit);
  await eventually('the what-if is completed', async () => {
    const answer = await send(
      system,
      'getJob',
      { parameters: { id: whatIfId } },
      { headers: { 'x-ou-id': unit } },
    );
    return (answer.body as { status?: string }).status === 'completed';
  });
  // They begin behind all changes of the configuration: the draft of one that is overtaken is not applied.
  const [challengerId, idleChallengerId] = [
    await idOf('startChallenger', { name: `Shadow ${mark}`, changes: [] }),
    await idOf('startChallenger', {
      name: `Idle shadow ${mark}`,
      changes: [{ op: 'add', rule: { event_type: eventType, weight: 3 } }],
    }),
  ];
  const { file_id: leadFileId } = await made<{ file_id: string }>(
    'previewLeadImport',
    { body: leadRowsOf(mark) },
    unit,
  );
  const siteUrl = `${system.siteUrl}/?of=${mark}`;
  await made('analyzeSite', { body: { url: siteUrl } }, unit);
  return {
    ouId: unit,
    idleOuId,
    mark,
    adminToken: admin.token,
    adminTokenId: admin.id,
    viewerToken: viewer.token,
    idleTokenId: idle.id,
    memberId,
    idleMemberId,
    invitationToken: invited.invitation_url.split('/').at(-1) ?? '',
    clientId: account.client_id,
    clientSecret: account.client_secret,
    rulesetId: ruleset.id,
    idleRulesetId: idleRuleset.id,
    ruleId: rule.id,
    profileRulesetId: profileRuleset.id,
    profileRuleId: profileRule.id,
    dealRulesetId: dealRuleset.id,
    dealRuleId: dealRule.id,
    dealId,
    accountRulesetId: accountRuleset.id,
    accountRuleId: accountRule.id,
    accountId,
    idleAccountId,
    mappingId: (await mapping('keyword')).id,
    idleMappingId: (await mapping('idle')).id,
    idleRuleId: idleRule.id,
    levelId: levels[0]?.id ?? '',
    filterId,
    idleFilterId,
    decayId,
    idleDecayId,
    leadId,
    idleLeadId: leadIdOf(unit, 'email', idleAlias),
    targetLeadId: leadIdOf(unit, 'email', targetAlias),
    sourceLeadId: leadIdOf(unit, 'email', sourceAlias),
    alias: event.alias,
    eventType,
    shareToken,
    idleShareId: listed.data[0]?.id ?? '',
    channelId,
    webhookChannelId: await idOf('createChannel', {
      name: `Webhook ${mark}`,
      type: 'webhook',
      config: { url: siteUrl, auth_header: `Bearer of ${mark}` },
    }),
    idleChannelId: await idOf('createChannel', channelOf(`Idle ${mark}`)),
    triggerId,
    idleTriggerId,
    sequenceId,
    idleSequenceId,
    surgeTriggerId,
    idleSurgeTriggerId,
    deliveryId: tests.data[0]?.id ?? '',
    jobId,
    whatIfId,
    leadFileId,
    challengerId,
    idleChallengerId,
    siteUrl,
  };
}

function leadRowsOf(mark: string) {
  return { rows: [{ Email: `imported.${mark}@example.com`, 'Full Name': `Imported ${mark}` }] };
}

function leadImportOf(file_id: string) {
  return {
    file_id,
    primary_identifier: { column: 'Email', kind: 'email' },
    field_mappings: [{ column: 'Full Name', field: 'name' }],
  };
}

function memberOf(name: string, ouId: string) {
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;
  return { email, name, role: 'viewer', ou_ids: [ouId] };
}

function channelOf(name: string) {
  return { name, type: 'slack', config: { channel_id: 'C0000000001', channel_name: name } };
}

type Watching = Pick<Unit, 'mark' | 'eventType' | 'channelId'>;

/** A milestone whose threshold the unit's lead does not reach. */
function milestoneOf({ mark, channelId }: Watching) {
  return { name: `Milestone ${mark}`, score_threshold: 1_000_000, channel_ids: [channelId] };
}

function sequenceOf({ mark, eventType, channelId }: Watching) {
  return {
    name: `Sequence ${mark}`,
    event_types: [eventType, `Never ${mark}`],
    window_seconds: 3_600,
    channel_ids: [channelId],
  };
}

function surgeOf({ mark, channelId }: Watching) {
  return { name: `Surge ${mark}`, threshold: 1_000_000, window_seconds: 3_600, channel_ids: [channelId] };
}

/** A level whose range contains the score of the unit's lead. */
function levelOf(mark: string, id?: string) {
  return {
    ...(id !== undefined && { id }),
    name: `Level ${mark}`,
    min_score: 5,
    max_score: null,
    color: '#e8590c',
  };
}

function decayOf(name: string) {
  return { name, mode: 'inactivity_points', points: -5, interval_days: 30 };
}

function filterOf(name: string) {
  return {
    name,
    conditions: {
      all: [
        { field: 'company', operator: 'contains', value: name },
        { field: 'last_activity_at', operator: 'gte', value: { days_ago: 7 } },
      ],
    },
  };
}

/** The ids of a message of Segment's clients. */
function segmentIdsOf(mark: string) {
  return { userId: `user of ${mark}`, anonymousId: `visitor of ${mark}` };
}

function eventOf(mark: string) {
  return {
    alias_kind: 'email',
    alias: `person.${mark}@example.com`,
    event_type: `Type ${mark}`,
    metadata: {
      path: `/${mark}`,
      name: `Person ${mark}`,
      company: `Company ${mark}`,
      deal: { id: `Deal ${mark}`, stage: `Stage ${mark}`, amount: 12_500, currency: 'EUR' },
      [`key_${mark}`]: mark,
    },
  };
}
