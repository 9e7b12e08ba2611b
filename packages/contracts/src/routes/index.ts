// Every route of the system, in the order of the documentation.
import * as accountScoring from './account-scoring.js';
import * as accounts from './accounts.js';
import * as analytics from './analytics.js';
import * as administration from './administration.js';
import * as audit from './audit.js';
import * as attribution from './attribution.js';
import * as buyingCommittee from './buying-committee.js';
import * as challengers from './challengers.js';
import * as configurationFile from './configuration-file.js';
import * as configurationVersions from './configuration-versions.js';
import * as decays from './decays.js';
import * as deals from './deals.js';
import * as deliveries from './deliveries.js';
import * as description from './description.js';
import * as eventAnalytics from './event-analytics.js';
import * as eventExport from './event-export.js';
import * as eventStats from './event-stats.js';
import * as eventTypeDeletion from './event-type-deletion.js';
import * as eventTypes from './event-types.js';
import * as events from './events.js';
import * as filters from './filters.js';
import * as intake from './intake.js';
import * as jobs from './jobs.js';
import * as leadAliases from './lead-aliases.js';
import * as leadImports from './lead-imports.js';
import * as leadMetadata from './lead-metadata.js';
import * as leadMerges from './lead-merges.js';
import * as leads from './leads.js';
import * as limits from './limits.js';
import * as members from './members.js';
import * as milestones from './milestone-triggers.js';
import * as channels from './notification-channels.js';
import * as profileLevels from './profile-levels.js';
import * as profiles from './profile-scoring.js';
import * as accountBackfill from './account-backfill.js';
import * as eventTypeBackfill from './event-type-backfill.js';
import * as levelBackfill from './level-backfill.js';
import * as rescoring from './rescoring.js';
import type { RouteDeclaration } from './route.js';
import * as ruleTests from './rule-tests.js';
import * as configuration from './scoring-configuration.js';
import * as scoreExplanation from './score-explanation.js';
import * as forecast from './score-forecast.js';
import * as scoreHistory from './score-history.js';
import * as scoreReset from './score-reset.js';
import * as segment from './segment.js';
import * as sequences from './sequences.js';
import * as rules from './rules.js';
import * as shares from './shares.js';
import * as sites from './site-analysis.js';
import * as surges from './surge-triggers.js';
import * as suggestions from './suggestions.js';
import * as usage from './usage.js';
import * as whatIf from './what-if.js';

export const routes = {
  ingest: intake.ingest,
  importEvents: intake.importEvents,
  sendSegmentTrack: segment.sendSegmentTrack,
  sendSegmentIdentify: segment.sendSegmentIdentify,
  sendSegmentPage: segment.sendSegmentPage,
  sendSegmentScreen: segment.sendSegmentScreen,
  sendSegmentGroup: segment.sendSegmentGroup,
  sendSegmentAlias: segment.sendSegmentAlias,
  sendSegmentBatch: segment.sendSegmentBatch,
  listEvents: events.listEvents,
  listLeadEvents: events.listLeadEvents,
  exportEvents: eventExport.exportEvents,
  getEventStats: eventStats.getEventStats,
  getEventsAnalytics: eventAnalytics.getEventsAnalytics,
  listEventTypes: eventTypes.listEventTypes,
  listEventTypeProperties: eventTypes.listEventTypeProperties,
  listEventTypeSettings: eventTypes.listEventTypeSettings,
  setEventTypeSettings: eventTypes.setEventTypeSettings,
  dryRunEventTypeDeletion: eventTypes.dryRunEventTypeDeletion,
  deleteEventTypeEvents: eventTypeDeletion.deleteEventTypeEvents,
  listLeads: leads.listLeads,
  searchLeads: leads.searchLeads,
  findLeadByAlias: leadAliases.findLeadByAlias,
  listLeadAliases: leadAliases.listLeadAliases,
  addLeadAlias: leadMerges.addLeadAlias,
  removeLeadAlias: leadMerges.removeLeadAlias,
  getLeadMetadata: leadMetadata.getLeadMetadata,
  patchLeadMetadata: leadMetadata.patchLeadMetadata,
  previewLeadMerge: leadMerges.previewLeadMerge,
  mergeLeads: leadMerges.mergeLeads,
  unmergeLead: leadMerges.unmergeLead,
  listLeadConflicts: leadMerges.listLeadConflicts,
  getScore: leads.getScore,
  explainScore: scoreExplanation.explainScore,
  getScoreHistory: scoreHistory.getScoreHistory,
  drawScoreHistory: scoreHistory.drawScoreHistory,
  paintScoreHistory: scoreHistory.paintScoreHistory,
  forecastScore: forecast.forecastScore,
  resetScores: scoreReset.resetScores,
  deleteLead: leads.deleteLead,
  previewLeadImport: leadImports.previewLeadImport,
  startLeadImport: leadImports.startLeadImport,
  listLeadImports: leadImports.listLeadImports,
  findLeadImports: leadImports.findLeadImports,
  listDeals: deals.listDeals,
  getAttributionInsights: attribution.getAttributionInsights,
  listAttributedDeals: attribution.listAttributedDeals,
  getDeal: deals.getDeal,
  listIgnoredDeals: deals.listIgnoredDeals,
  listTopLeads: analytics.listTopLeads,
  listScoreGains: analytics.listScoreGains,
  getUsage: usage.getUsage,
  listAccounts: accounts.listAccounts,
  getAccount: accounts.getAccount,
  mergeAccounts: accounts.mergeAccounts,
  getBuyingCommittee: buyingCommittee.getBuyingCommittee,
  createShare: shares.createShare,
  listShares: shares.listShares,
  revokeShare: shares.revokeShare,
  readShare: shares.readShare,
  shareCsv: shares.shareCsv,
  sharePreview: shares.sharePreview,
  sharePage: shares.sharePage,
  listFilters: filters.listFilters,
  createFilter: filters.createFilter,
  previewFilter: filters.previewFilter,
  getFilter: filters.getFilter,
  updateFilter: filters.updateFilter,
  deleteFilter: filters.deleteFilter,
  listDecays: decays.listDecays,
  createDecay: decays.createDecay,
  getDecay: decays.getDecay,
  updateDecay: decays.updateDecay,
  deleteDecay: decays.deleteDecay,
  createRuleset: configuration.createRuleset,
  listAllRulesets: rules.listAllRulesets,
  getRuleset: rules.getRuleset,
  updateRuleset: configuration.updateRuleset,
  deleteRuleset: rules.deleteRuleset,
  listRulesets: configuration.listRulesets,
  createRule: configuration.createRule,
  createEngagementRule: configuration.createEngagementRule,
  listRules: configuration.listRules,
  getRule: rules.getRule,
  updateRule: rules.updateRule,
  deleteRule: rules.deleteRule,
  listRuleVersions: rules.listRuleVersions,
  listEngagementLevels: configuration.listEngagementLevels,
  setEngagementLevels: configuration.setEngagementLevels,
  setRulesActive: configuration.setRulesActive,
  listProfileMappings: profiles.listProfileMappings,
  addProfileMapping: profiles.addProfileMapping,
  removeProfileMapping: profiles.removeProfileMapping,
  listProfileRulesets: profiles.listProfileRulesets,
  listProfileRules: profiles.listProfileRules,
  setProfileRulesActive: profiles.setProfileRulesActive,
  testProfile: profiles.testProfile,
  listDealRulesets: deals.listDealRulesets,
  listDealRules: deals.listDealRules,
  testDeal: deals.testDeal,
  listAccountRulesets: accountScoring.listAccountRulesets,
  listAccountRules: accountScoring.listAccountRules,
  createAccountRule: accountScoring.createAccountRule,
  setAccountRulesActive: accountScoring.setAccountRulesActive,
  getAccountRollUp: accountScoring.getAccountRollUp,
  setAccountRollUp: accountScoring.setAccountRollUp,
  listAccountLevels: accountScoring.listAccountLevels,
  setAccountLevels: accountScoring.setAccountLevels,
  testAccount: accountScoring.testAccount,
  testEngagementRules: ruleTests.testEngagementRules,
  getConfiguration: configurationFile.getConfiguration,
  putConfiguration: configurationFile.putConfiguration,
  listConfigurationVersions: configurationVersions.listConfigurationVersions,
  restoreConfiguration: configurationVersions.restoreConfiguration,
  startWhatIf: whatIf.startWhatIf,
  applyWhatIf: whatIf.applyWhatIf,
  drawWhatIf: whatIf.drawWhatIf,
  paintWhatIf: whatIf.paintWhatIf,
  startChallenger: challengers.startChallenger,
  listChallengers: challengers.listChallengers,
  getChallenger: challengers.getChallenger,
  applyChallenger: challengers.applyChallenger,
  endChallenger: challengers.endChallenger,
  startSuggestion: suggestions.startSuggestion,
  scoreNow: rescoring.scoreNow,
  backfillScores: rescoring.backfillScores,
  backfillProfiles: rescoring.backfillProfiles,
  backfillAccounts: accountBackfill.backfillAccounts,
  backfillLevels: levelBackfill.backfillLevels,
  backfillEventTypes: eventTypeBackfill.backfillEventTypes,
  listProfileLevels: profileLevels.listProfileLevels,
  setProfileLevels: profileLevels.setProfileLevels,
  getScoringGrid: profileLevels.getScoringGrid,
  setScoringGrid: profileLevels.setScoringGrid,
  listChannels: channels.listChannels,
  createChannel: channels.createChannel,
  replaceChannel: channels.replaceChannel,
  deleteChannel: channels.deleteChannel,
  testChannel: channels.testChannel,
  rotateChannelSecret: channels.rotateChannelSecret,
  resumeChannel: channels.resumeChannel,
  redeliverNotifications: channels.redeliverNotifications,
  listTriggers: milestones.listTriggers,
  createTrigger: milestones.createTrigger,
  getTrigger: milestones.getTrigger,
  replaceTrigger: milestones.replaceTrigger,
  deleteTrigger: milestones.deleteTrigger,
  simulateTrigger: milestones.simulateTrigger,
  listMilestoneEvents: milestones.listMilestoneEvents,
  listSequences: sequences.listSequences,
  createSequence: sequences.createSequence,
  getSequence: sequences.getSequence,
  replaceSequence: sequences.replaceSequence,
  deleteSequence: sequences.deleteSequence,
  simulateSequence: sequences.simulateSequence,
  listSequenceEvents: sequences.listSequenceEvents,
  listSurgeTriggers: surges.listSurgeTriggers,
  createSurgeTrigger: surges.createSurgeTrigger,
  getSurgeTrigger: surges.getSurgeTrigger,
  replaceSurgeTrigger: surges.replaceSurgeTrigger,
  deleteSurgeTrigger: surges.deleteSurgeTrigger,
  simulateSurgeTrigger: surges.simulateSurgeTrigger,
  previewSurgeTrigger: surges.previewSurgeTrigger,
  listSurgeEvents: surges.listSurgeEvents,
  listDeliveries: deliveries.listDeliveries,
  getDelivery: deliveries.getDelivery,
  redeliverNotification: deliveries.redeliverNotification,
  listJobs: jobs.listJobs,
  getJob: jobs.getJob,
  cancelJob: jobs.cancelJob,
  listJobErrors: jobs.listJobErrors,
  analyzeSite: sites.analyzeSite,
  listSiteAnalyses: sites.listSiteAnalyses,
  setActiveOrgUnit: administration.setActiveOrgUnit,
  listOrgUnits: administration.listOrgUnits,
  createOrgUnit: administration.createOrgUnit,
  renameOrgUnit: administration.renameOrgUnit,
  endOrgUnit: administration.endOrgUnit,
  listTokens: administration.listTokens,
  createToken: administration.createToken,
  changeToken: limits.changeToken,
  revokeToken: administration.revokeToken,
  listServiceAccounts: administration.listServiceAccounts,
  createServiceAccount: administration.createServiceAccount,
  changeServiceAccount: limits.changeServiceAccount,
  rotateServiceAccountSecret: administration.rotateServiceAccountSecret,
  revokeServiceAccount: administration.revokeServiceAccount,
  getLimits: limits.getLimits,
  changeLimits: limits.changeLimits,
  listMembers: members.listMembers,
  addMember: members.addMember,
  changeMember: members.changeMember,
  removeMember: members.removeMember,
  inviteMember: members.inviteMember,
  getInvitation: members.getInvitation,
  acceptInvitation: members.acceptInvitation,
  listAudit: audit.listAudit,
  listRefusedSignIns: audit.listRefusedSignIns,
  openApiDocument: description.openApiDocument,
  asyncApiDocument: description.asyncApiDocument,
  documentation: description.documentation,
  liveness: description.liveness,
  readiness: description.readiness,
} as const satisfies Record<string, RouteDeclaration>;

export type RouteName = keyof typeof routes;
