// The events of firing: as recorded, and as drafts that are decided before the lead is described.
import { eventOf, records, type RecordDeclaration, type RecordedEvent } from '@lead-scoring/contracts';

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
