// The records that firing reads, and how its events are declared.
import { eventOf, records, type RecordDeclaration, type RecordedEvent } from '@lead-scoring/contracts';
import type { FiringEvent } from '@lead-scoring/scoring-domain/triggers';

/** The records that triggers are evaluated on. */
export const firingReads = {
  'scoring.events': {
    LeadScored: 'taken',
    ScoreAdjusted: 'taken',
    LeadRemoved: 'taken',
    // A milestone by level is decided on the decision before it, event by event: it names the event that made it fire.
    LeadLevelChanged: 'ignored',
    // Triggers watch the scores of leads.
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
    // Firing reads these through the explanations.
    RulesetCreated: 'ignored',
    RulesetUpdated: 'ignored',
    RuleCreated: 'ignored',
    RuleUpdated: 'ignored',
    RuleDeleted: 'ignored',
    RulesetDeleted: 'ignored',
    RulesActivationChanged: 'ignored',
    EngagementLevelsSet: 'ignored',
    ProfileRuleCreated: 'ignored',
    ProfileRuleUpdated: 'ignored',
    ProfileRulesActivationChanged: 'ignored',
    ProfileMappingAdded: 'ignored',
    ProfileMappingRemoved: 'ignored',
    DealRuleCreated: 'ignored',
    DealRuleUpdated: 'ignored',
    AccountRuleCreated: 'ignored',
    AccountRuleUpdated: 'ignored',
    AccountRulesActivationChanged: 'ignored',
    AccountRollUpSet: 'ignored',
    AccountLevelsSet: 'ignored',
    AccountsMerged: 'ignored',
    LeadContributed: 'ignored',
    // Triggers by account score are a capability of their own.
    AccountScored: 'ignored',
    ProfileLevelsSet: 'ignored',
    ScoringGridSet: 'ignored',
    FilterCreated: 'ignored',
    FilterUpdated: 'ignored',
    FilterDeleted: 'ignored',
    DecayCreated: 'ignored',
    DecayUpdated: 'ignored',
    DecayDeleted: 'ignored',
    DecaysScheduled: 'ignored',
    // Ignored: the decisions before it say the new scores.
    ScoringEpochActivated: 'ignored',
    EventScoresDeleted: 'ignored',
  },
  'ingest.events': {
    EventsIngested: 'taken',
    LeadDeleted: 'taken',
    // Triggers do not depend on aliases, and a repeated event made triggers fire when it first came.
    AliasClaimed: 'ignored',
    AliasLinked: 'ignored',
    EventsRemembered: 'ignored',
    RepeatsDropped: 'ignored',
    EventsCounted: 'ignored',
    AliasesRefused: 'ignored',
    AliasUnlinked: 'ignored',
    LeadConflicted: 'ignored',
    LeadDivided: 'ignored',
    LeadMetadataPatched: 'ignored',
    EventTypeVisibilityChanged: 'ignored',
    EventsOfTypeDeleted: 'ignored',
    RecountBegun: 'ignored',
    EventTypesRecounted: 'ignored',
    DeletedEventsCleared: 'ignored',
    JobStarted: 'ignored',
    JobAdvanced: 'ignored',
    JobEnded: 'ignored',
    JobCancelled: 'ignored',
  },
} as const;

/** How each event is declared on the log. */
export const firingRecords = {
  MilestoneFired: records.milestoneFired,
  SequenceFired: records.sequenceFired,
  SurgeFired: records.surgeFired,
  TriggerRearmed: records.triggerRearmed,
  TriggerSuppressed: records.triggerSuppressed,
  ActivityObserved: records.activityObserved,
  LeadForgotten: records.leadForgotten,
} satisfies { readonly [Type in FiringEvent['type']]: RecordDeclaration };

/** The firing event that a record is; null for any other record. */
export function firingEventOf(record: RecordedEvent): FiringEvent | null {
  return eventOf<FiringEvent>(firingRecords, record);
}
