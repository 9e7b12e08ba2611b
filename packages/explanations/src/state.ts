// The stored fields of a lead: its name and the offset at which it began. The score is in the lead's last decision, so
// the document of a lead changes seldom, however many decisions there are.

import type { LeadField, LeadFieldName, LeadFields } from '@lead-scoring/contracts';

/** Fields of a lead that notifications show besides its name. */
export const toldFields: readonly LeadFieldName[] = ['company', 'title', 'owner'];

export interface SharedLead {
  readonly id: string;
  readonly ou_id: string;
  /** The name from event metadata, and the time of that event. */
  readonly given_name: { readonly value: string; readonly at: string } | null;
  /** Other fields from event metadata: those that the projector was asked to keep. */
  readonly given: LeadFields;
  /** Fields that callers have set, in place of those from events. Absent: none were ever set. */
  readonly overrides?: readonly LeadField[];
  readonly first_alias: string | null;
  /** The account that the lead belongs to; absent: none, or the projector keeps no accounts. */
  readonly account_id?: string;
  /** Offset of the decision that made the lead. It tells the lead from a deleted one with the same id. */
  readonly first_offset: number;
  /** Offset of the event that last changed a field of this object. */
  readonly offset: number;
}

/** The displayed name of a lead: the name that a caller has set, else that from event metadata, else its first alias. */
export function nameOf({
  given_name,
  overrides,
  first_alias,
  id,
}: Pick<SharedLead, 'given_name' | 'overrides' | 'first_alias' | 'id'>): string {
  const set = overrides?.find(({ field }) => field === 'name');
  return set?.value ?? given_name?.value ?? first_alias ?? id;
}
