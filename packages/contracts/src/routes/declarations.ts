// Schemas of requests and answers by name: `answers.Lead`, `answers.intakeLimits`.
export { accountBackfillResult, type AccountBackfillResult } from './account-backfill.js';
export { eventTypeBackfillResult, type EventTypeBackfillResult } from './event-type-backfill.js';
export { levelBackfillResult, type LevelBackfillResult } from './level-backfill.js';
export * from './account-scoring.js';
export * from './accounts.js';
export * from './administration.js';
export { maximumGainHours, type ScoreGain } from './analytics.js';
export * from './attribution.js';
export * from './audit.js';
export * from './buying-committee.js';
export { type Challenger, type ChallengerFigures } from './challengers.js';
export * from './cloud-events.js';
export * from './configuration-file.js';
export * from './configuration-versions.js';
export * from './decays.js';
export * from './deals.js';
export * from './deliveries.js';
export * from './description.js';
export {
  analyticsLimits,
  maximumSeries,
  maximumShownValue,
  type EventsAnalytics,
} from './event-analytics.js';
export { maximumBatchesAsked, maximumTypesListed, type EventStats } from './event-stats.js';
export * from './event-type-deletion.js';
export * from './event-types.js';
export * from './events.js';
export * from './filters.js';
export * from './intake.js';
export { maximumListedAliases, type LeadAlias } from './lead-aliases.js';
export * from './internal.js';
export * from './jobs.js';
export * from './lead-imports.js';
export * from './lead-merge-result.js';
export * from './lead-merges.js';
export { type LeadMetadata } from './lead-metadata.js';
export * from './leads.js';
export * from './limits.js';
export * from './score-explanation.js';
export * from './members.js';
export * from './milestone-triggers.js';
export * from './notification-channels.js';
export * from './profile-levels.js';
export * from './profile-rules.js';
export * from './profile-scoring.js';
export { ruleTestLimits, type EngagementTest, type EngagementTestForm } from './rule-tests.js';
export * from './scoring-configuration.js';
export * from './score-forecast.js';
export * from './score-history.js';
export * from './score-reset.js';
export * from './segment.js';
export * from './sequences.js';
export * from './shares.js';
export * from './site-analysis.js';
export * from './surge-triggers.js';
export { maximumTriggers } from './trigger-fields.js';
export * from './rules.js';
export { suggestionResult, type SuggestionResult } from './suggestions.js';
export { rescoringResult, type RescoringResult } from './rescoring.js';
export * from './usage.js';
export { whatIfResult, type WhatIfResult, type WhatIfSide } from './what-if.js';
