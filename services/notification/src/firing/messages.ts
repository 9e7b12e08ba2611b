// The records that firing reads, its events, and the drafts of its events: a draft is decided before its lead is described.
import { eventOf, records, type RecordDeclaration, type RecordedEvent } from '@lead-scoring/contracts';

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
  },
  'ingest.events': {
    EventsIngested: 'taken',
    LeadDeleted: 'taken',
    // Triggers do not depend on aliases, and a repeated event made triggers fire when it first came.
    AliasClaimed: 'ignored',
    AliasLinked: 'ignored',
    EventsRemembered: 'ignored',
    RepeatsDropped: 'ignored',
    AliasesRefused: 'ignored',
    EventTypeVisibilityChanged: 'ignored',
  },
} as const;

/** A firing's payload before the lead is described. */
type PayloadDraft<Payload> = Omit<Payload, 'lead' | 'level' | 'top_drivers'>;

export type FiredEvent =
  | { type: 'MilestoneFired'; payload: records.MilestoneFired }
  | { type: 'SequenceFired'; payload: records.SequenceFired }
  | { type: 'SurgeFired'; payload: records.SurgeFired };

type OtherEvent =
  | { type: 'TriggerRearmed'; payload: records.TriggerRearmed }
  | { type: 'TriggerSuppressed'; payload: records.TriggerSuppressed }
  | { type: 'ActivityObserved'; payload: records.ActivityObserved }
  | { type: 'LeadForgotten'; payload: records.LeadForgotten };

export type FiringEvent = FiredEvent | OtherEvent;

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

/** A firing before its lead is described; a sequence's draft has no score either, because no decision on scores caused it. */
export type FiredDraft =
  // A milestone by level names the level by the list that counted in the decision.
  | {
      type: 'MilestoneFired';
      payload: PayloadDraft<records.MilestoneFired> & Partial<Pick<records.MilestoneFired, 'level'>>;
    }
  | { type: 'SequenceFired'; payload: Omit<PayloadDraft<records.SequenceFired>, 'score' | 'previous_score'> }
  | { type: 'SurgeFired'; payload: PayloadDraft<records.SurgeFired> };

export type FiringDraft = FiredDraft | OtherEvent;

/** A deletion of a lead, as reported by scoring or ingest. */
export type Deletion = Pick<records.LeadForgotten, 'ou_id' | 'lead_id' | 'deletion_id' | 'linked_to' | 'at'>;

/** Topic, partition and offset of the record that an event was decided on. */
export type Source = records.ActivityObserved['source'];
