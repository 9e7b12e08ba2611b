// The lead or account for which triggers fire, and what the events of both have in common. Pure.
import type { FiringDraft, FiringEvent } from '@lead-scoring/scoring-domain/triggers';
import type { AccountFiringEvent } from '../account-firing/messages.js';

/** Identifies a lead or an account. */
export type SubjectIdentity = { readonly ou_id: string } & (
  { readonly lead_id: string } | { readonly account_id: string }
);

/** The id of the lead or account. */
export function subjectIdOf(subject: { lead_id: string } | { account_id: string }): string {
  return 'lead_id' in subject ? subject.lead_id : subject.account_id;
}

/** Identifies a lead or an account among those in memory. */
export function cacheKeyOf(subject: SubjectIdentity): string {
  return `${subject.ou_id}/${subjectIdOf(subject)}`;
}

/** The ids of an OU, and of a lead or an account in it. */
export interface SubjectIds {
  readonly ou_id: string;
  readonly id: string;
}

/** The inverse of `cacheKeyOf`. */
export function idsOfCacheKey(key: string): SubjectIds {
  const slash = key.indexOf('/');
  return { ou_id: key.slice(0, slash), id: key.slice(slash + 1) };
}

/** An event of firing for a lead or an account. */
export type SubjectEvent = FiringEvent | AccountFiringEvent;

/** The same, or a firing whose lead is not described yet. */
export type SubjectDraft = FiringDraft | AccountFiringEvent;

/** The payload of an event that forgets a lead or an account. */
export type SubjectEnd = Extract<SubjectEvent, { type: ForgettingType }>['payload'];

type FiredType = 'MilestoneFired' | 'SequenceFired' | 'SurgeFired' | 'AccountMilestoneFired';
type SuppressedType = 'TriggerSuppressed' | 'AccountTriggerSuppressed';
type ForgettingType = 'LeadForgotten' | 'AccountForgotten';

const firedTypes: ReadonlySet<string> = new Set<FiredType>([
  'MilestoneFired',
  'SequenceFired',
  'SurgeFired',
  'AccountMilestoneFired',
]);

export function isFired<Event extends SubjectDraft>(
  event: Event,
): event is Extract<Event, { type: FiredType }> {
  return firedTypes.has(event.type);
}

export function isSuppression<Event extends SubjectDraft>(
  event: Event,
): event is Extract<Event, { type: SuppressedType }> {
  return event.type === 'TriggerSuppressed' || event.type === 'AccountTriggerSuppressed';
}

export function isForgetting<Event extends SubjectDraft>(
  event: Event,
): event is Extract<Event, { type: ForgettingType }> {
  return event.type === 'LeadForgotten' || event.type === 'AccountForgotten';
}
