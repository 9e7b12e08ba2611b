// What is kept of a lead: the name that it is shown by, and its score. Nothing else of it can be shown.

export interface SharedLead {
  readonly id: string;
  readonly ou_id: string;
  /** The name that events gave, and the time of the event that gave it. */
  readonly given_name: { readonly value: string; readonly at: string } | null;
  readonly first_alias: string | null;
  readonly score: number;
  /** Offset of the decision that made the lead: tells it from one of the same id that was deleted. */
  readonly first_offset: number;
  /** Offset of the last decision that changed what can be shown. */
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
