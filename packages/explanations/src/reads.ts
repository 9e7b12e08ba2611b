// The event types that explanations are folded from, with and without the accounts of leads.
import type { ReadTable } from '@lead-scoring/capability';

export const explanationReads = {
  'scoring.events': {
    LeadScored: 'taken',
    ScoreAdjusted: 'taken',
    LeadRemoved: 'taken',
    RulesetCreated: 'taken',
    RulesetUpdated: 'taken',
    RuleCreated: 'taken',
    RuleUpdated: 'taken',
    RuleDeleted: 'taken',
    RulesetDeleted: 'taken',
    RulesActivationChanged: 'taken',
    EngagementLevelsSet: 'taken',
    // Ignored: the decision before it says the score, from which the level follows.
    LeadLevelChanged: 'ignored',
    // Explained are the scores of leads.
    DealScored: 'ignored',
    DealLeadRemoved: 'ignored',
    DealRemoved: 'ignored',
    DealsIgnored: 'ignored',
    JobStarted: 'ignored',
    JobAdvanced: 'ignored',
    JobEnded: 'ignored',
    JobCancelled: 'ignored',
    ChallengerStarted: 'ignored',
    ChallengerEnded: 'ignored',
    ProfileRuleCreated: 'taken',
    ProfileRuleUpdated: 'taken',
    ProfileRulesActivationChanged: 'taken',
    ProfileMappingAdded: 'taken',
    ProfileMappingRemoved: 'taken',
    DealRuleCreated: 'taken',
    DealRuleUpdated: 'taken',
    AccountRuleCreated: 'taken',
    AccountRuleUpdated: 'taken',
    AccountRulesActivationChanged: 'taken',
    AccountRollUpSet: 'taken',
    AccountLevelsSet: 'taken',
    AccountsMerged: 'taken',
    LeadContributed: 'taken',
    AccountScored: 'taken',
    ProfileLevelsSet: 'taken',
    ScoringGridSet: 'taken',
    FilterCreated: 'taken',
    FilterUpdated: 'taken',
    FilterDeleted: 'taken',
    DecayCreated: 'taken',
    DecayUpdated: 'taken',
    DecayDeleted: 'taken',
    // Ignored: it moves no score.
    DecaysScheduled: 'ignored',
    // Ignored: the decisions before it say the new scores.
    ScoringEpochActivated: 'ignored',
    // Of deletions of event types it needs the mark; the decisions before it say the new scores.
    EventScoresDeleted: 'taken',
  },
} as const satisfies ReadTable;

/** Of a service that explains no account scores: no other score follows from accounts. */
export const readsWithoutAccounts = {
  'scoring.events': {
    ...explanationReads['scoring.events'],
    LeadContributed: 'ignored',
    AccountScored: 'ignored',
  },
} as const satisfies ReadTable;
