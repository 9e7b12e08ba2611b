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

/** A claim; `_id` is claimId. */
export interface ClaimDocument {
  _id: string;
  ou: Binary;
  partition: number;
}

/** The last deletion of a lead, under the lead's id: tells a deletion that comes again from one of a new lead. */
export interface DeletionDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  deletion_id: string;
}

export const redirects = defineCollection<RedirectDocument>({
  name: 'redirects',
  indexes: [{ key: { partition: 1 } }],
});
export const claims = defineCollection<ClaimDocument>({
  name: 'alias_claims',
  indexes: [{ key: { partition: 1 } }],
});

export const deletions = defineCollection<DeletionDocument>({ name: 'lead_deletions', indexes: [] });

/** The id of the claiming lead, and that of the lead which the alias names by itself. */
export function claimId(leadId: string, aliasLeadId: string): string {
  return `${leadId}${aliasLeadId}`;
}

export function readClaimId(id: string): { lead_id: string; alias_lead_id: string } {
  return { lead_id: id.slice(0, uuidLength), alias_lead_id: id.slice(uuidLength) };
}

/** The ids of all claims of a lead. */
export function claimIdsOf(leadId: string): { $gte: string; $lt: string } {
  return { $gte: leadId, $lt: `${leadId}g` };
}

const uuidLength = 36;

export function deletionDocument(
  { ou_id, lead_id, deletion_id }: records.LeadDeleted,
  at: { partition: number; offset: number },
): DeletionDocument {
  return { _id: uuidToBinary(lead_id), ou: uuidToBinary(ou_id), deletion_id, ...at };
}

export function redirectDocument(
  { ou_id, alias, alias_lead_id, lead_id, linked_at }: records.AliasLinked,
  at: { partition: number; offset: number },
): RedirectDocument {
  return { _id: uuidToBinary(alias_lead_id), ou: uuidToBinary(ou_id), lead_id, ...alias, linked_at, ...at };
}
