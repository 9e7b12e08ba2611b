// What is kept of a lead: the name that it is shown by, and since when it is there. Its score is in the last of its
// decisions, so the lead itself changes seldom, however many decisions there are.

import type { LeadFieldName, LeadFields } from '@lead-scoring/contracts';

/** What a notification tells of a lead beside its name. */
export const toldFields: readonly LeadFieldName[] = ['company', 'title', 'owner'];

export interface SharedLead {
  readonly id: string;
  readonly ou_id: string;
  /** The name that events gave, and the time of the event that gave it. */
  readonly given_name: { readonly value: string; readonly at: string } | null;
  /** Other fields that events gave, of those that whoever folds wants to tell of. */
  readonly given: LeadFields;
  readonly first_alias: string | null;
  /** Offset of the decision that made the lead: tells it from one of the same id that was deleted. */
  readonly first_offset: number;
  /** Offset of the decision that last changed what is kept here. */
  readonly offset: number;
}

/** Without a name in its metadata, a lead is shown by its first alias. */
export function nameOf({
  given_name,
  first_alias,
  id,
}: Pick<SharedLead, 'given_name' | 'first_alias' | 'id'>): string {
  return given_name?.value ?? first_alias ?? id;
}
