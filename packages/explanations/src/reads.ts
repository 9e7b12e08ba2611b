// The event types that explanations are folded from.
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
    // Ignored: explanations are those of leads, whose scores accounts do not change.
    LeadContributed: 'ignored',
    AccountScored: 'ignored',
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
  },
} as const satisfies ReadTable;
