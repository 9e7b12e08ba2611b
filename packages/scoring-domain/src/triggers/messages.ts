// The events of firing, and their drafts: a draft is decided before its lead is described.
import type { records } from '@lead-scoring/contracts';

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
export type Deletion = Pick<
  records.LeadForgotten,
  'ou_id' | 'lead_id' | 'deletion_id' | 'linked_to' | 'joined_to' | 'at'
>;

/** Topic, partition and offset of the record that an event was decided on. */
export type Source = records.ActivityObserved['source'];

const firedTypes: ReadonlySet<string> = new Set<FiredDraft['type']>([
  'MilestoneFired',
  'SequenceFired',
  'SurgeFired',
]);

/** Whether a trigger has fired. */
export function isFired(event: FiringDraft): event is FiredDraft {
  return firedTypes.has(event.type);
}
