// How a partition's redirects and claims are stored.
import type { records } from '@lead-scoring/contracts';
import { defineCollection, uuidToBinary, type Binary, type GuardedDocument } from '@lead-scoring/read-model';

/** A redirect, under the id of the lead that is redirected. */
export interface RedirectDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  lead_id: string;
  alias_kind: string;
  alias: string;
  linked_at: string;
}

/** A claim: `_id` is the claiming lead's id and the id of the lead that the alias named. */
export interface ClaimDocument {
  _id: string;
  ou: Binary;
  partition: number;
}

export const redirects = defineCollection<RedirectDocument>({
  name: 'redirects',
  indexes: [{ key: { partition: 1 } }],
});
export const claims = defineCollection<ClaimDocument>({
  name: 'alias_claims',
  indexes: [{ key: { partition: 1 } }],
});

export function redirectDocument(
  { ou_id, alias, alias_lead_id, lead_id, linked_at }: records.AliasLinked,
  at: { partition: number; offset: number },
): RedirectDocument {
  return { _id: uuidToBinary(alias_lead_id), ou: uuidToBinary(ou_id), lead_id, ...alias, linked_at, ...at };
}
