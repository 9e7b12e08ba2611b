// The stored form of a partition's redirects, claims and counts of claims.
import { nameBasedId, type records } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { Redirect } from '../intake/state.js';

/** A redirect; `_id` is the id of the redirected lead. */
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

/** The number of claims of the leads of an OU in a partition; `_id` is aliasCountId. */
export interface AliasCountDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  count: number;
}

export const redirects = defineCollection<RedirectDocument>({
  name: 'redirects',
  indexes: [{ key: { partition: 1 } }, { key: { lead_id: 1 } }],
});
export const claims = defineCollection<ClaimDocument>({
  name: 'alias_claims',
  indexes: [{ key: { partition: 1 } }],
});
export const aliasCounts = defineCollection<AliasCountDocument>({ name: 'alias_counts', indexes: [] });

/** The id of the claiming lead, followed by the id of the lead that the alias names without a redirect. */
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

export function aliasCountId(ouId: string, partition: number): Binary {
  return uuidToBinary(nameBasedId(ouId, `alias-count:${String(partition)}`));
}

export function redirectDocument(
  { ou_id, alias, alias_lead_id, lead_id, linked_at }: records.AliasLinked,
  at: { partition: number; offset: number },
): RedirectDocument {
  return { _id: uuidToBinary(alias_lead_id), ou: uuidToBinary(ou_id), lead_id, ...alias, linked_at, ...at };
}

/** The redirected lead and its redirect. */
export function toRedirect({
  _id,
  lead_id,
  alias_kind,
  alias,
  linked_at,
}: RedirectDocument): readonly [string, Redirect] {
  return [binaryToUuid(_id), { lead_id, alias: { alias_kind, alias }, linked_at }];
}
