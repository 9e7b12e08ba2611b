// Whether leads can be merged: what a merge and its preview check.
import type { Rejection } from '@lead-scoring/capability';
import { isAnonymous, type Alias } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { leadNow } from '../events/leads-of-alias.js';
import { ownAliasOf } from './reads.js';

/** A lead of a merge, with the alias from which it has its id. */
export interface MergeableLead {
  readonly lead_id: string;
  readonly alias: Alias;
}

export interface Mergeable {
  /** The lead that stays. */
  readonly target: MergeableLead;
  readonly sources: readonly MergeableLead[];
}

/** The leads of a merge, or why they cannot be merged. */
export async function leadsToMerge(
  readModel: ReadModel,
  ouId: string,
  { target_id, source_ids }: { readonly target_id: string; readonly source_ids: readonly string[] },
): Promise<Rejection | Mergeable> {
  const target = await targetOf(readModel, ouId, target_id);
  if ('outcome' in target) return target;
  const sources: MergeableLead[] = [];
  for (const leadId of new Set(source_ids)) {
    if (leadId === target_id)
      return rejection(
        'merge_not_possible',
        'A lead cannot be merged into itself. Leave the target out of source_ids.',
      );
    const source = await mergeableLead(readModel, ouId, leadId);
    if ('outcome' in source) return source;
    sources.push(source);
  }
  return { target, sources };
}

/** The lead that others may join: a person, because an event could redirect a visitor at the same moment. */
export async function targetOf(
  readModel: ReadModel,
  ouId: string,
  leadId: string,
): Promise<Rejection | MergeableLead> {
  const target = await mergeableLead(readModel, ouId, leadId);
  if ('outcome' in target || !isAnonymous(target.alias)) return target;
  return rejection(
    'merge_not_possible',
    `The lead ${leadId} is an anonymous visitor. Choose a lead that has a known alias, such as an e-mail address.`,
  );
}

async function mergeableLead(
  readModel: ReadModel,
  ouId: string,
  leadId: string,
): Promise<Rejection | MergeableLead> {
  const now = await leadNow(readModel, ouId, leadId);
  if (now !== leadId)
    return rejection('lead_merged', `The lead ${leadId} has joined the lead ${now}. Use that id.`);
  const alias = await ownAliasOf(readModel, ouId, leadId);
  return alias ? { lead_id: leadId, alias } : unknownLead(leadId);
}

export function unknownLead(leadId: string): Rejection {
  return rejection('lead_not_found', `No lead of this organizational unit has the id ${leadId}.`);
}

export function rejection(code: Rejection['code'], message: string): Rejection {
  return { outcome: 'rejected', code, message };
}
