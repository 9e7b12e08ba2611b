// The records that firing reads, and its events: as recorded, and as drafts that are decided before the lead is described.
import { eventOf, records, type RecordDeclaration, type RecordedEvent } from '@lead-scoring/contracts';

/** The records that triggers are evaluated on. */
export const firingReads = {
  'scoring.events': {
    LeadScored: 'taken',
    LeadRemoved: 'taken',
    // The explanations' projector folds these, and firing reads them there.
    RulesetCreated: 'ignored',
    RulesetUpdated: 'ignored',
    RuleCreated: 'ignored',
    RulesActivationChanged: 'ignored',
    EngagementLevelsSet: 'ignored',
  },
  'ingest.events': {
    EventsIngested: 'taken',
    LeadDeleted: 'taken',
    // No trigger is about aliases, and a repeat has fired what it fires.
    AliasClaimed: 'ignored',
    AliasLinked: 'ignored',
    EventsRemembered: 'ignored',
    RepeatsDropped: 'ignored',
    AliasesRefused: 'ignored',
  },
} as const;

/** A firing's payload before the lead is described. */
type Undescribed<Payload> = Omit<Payload, 'lead' | 'level' | 'top_drivers'>;

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

/** A firing without what only the explanation of the lead's score says; a sequence learns the score from there too. */
export type FiredDraft =
  | { type: 'MilestoneFired'; payload: Undescribed<records.MilestoneFired> }
  | { type: 'SequenceFired'; payload: Omit<Undescribed<records.SequenceFired>, 'score' | 'previous_score'> }
  | { type: 'SurgeFired'; payload: Undescribed<records.SurgeFired> };

export type FiringDraft = FiredDraft | OtherEvent;

/** A deletion of the lead, as scoring or ingest tells of it. */
export type Deletion = Pick<records.LeadForgotten, 'ou_id' | 'lead_id' | 'deletion_id' | 'linked_to' | 'at'>;

/** The record that something is decided because of. */
export type Source = records.ActivityObserved['source'];

export function isFired(event: FiringEvent): event is FiredEvent;
export function isFired(event: FiringDraft): event is FiredDraft;
export function isFired({ type }: FiringDraft): boolean {
  return type === 'MilestoneFired' || type === 'SequenceFired' || type === 'SurgeFired';
}

export function isForgetting(
  event: FiringDraft,
): event is { type: 'LeadForgotten'; payload: records.LeadForgotten } {
  return event.type === 'LeadForgotten';
}
