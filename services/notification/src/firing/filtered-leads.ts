// The leads of a batch as of its records. The fields that saved filters compare are read only where a trigger with a filter may
// fire.
import { shownFields } from '@lead-scoring/contracts';
import type { LeadAccount } from '@lead-scoring/explanations';
import type { FilteredLead } from '@lead-scoring/scoring-domain';
import type { BatchAccounts, SeenLead } from './accounts.js';
import type { LeadRecord } from './lead-records.js';

/** A lead as of a record. */
export interface LeadMoment {
  /** What passed of the lead; undefined where nothing did. */
  readonly seen: SeenLead | undefined;
  /** null: no trigger with a filter may fire, or the lead was removed. */
  readonly lead: FilteredLead | null;
}

/**
 * The leads as of the records.
 * @param seen what had passed of the leads at the records
 * @throws ExplanationsBehind
 */
export async function leadMoments(
  seen: ReadonlyMap<LeadRecord, SeenLead | undefined>,
  accounts: Pick<BatchAccounts, 'of'>,
): Promise<(leadRecord: LeadRecord) => LeadMoment> {
  const asking = [...seen].filter(([{ asksFilters }]) => asksFilters);
  const found = await accounts.of(asking.map(([{ ou_id, lead_id }, one]) => ({ ou_id, lead_id, seen: one })));
  const leads = new Map(asking.map(([leadRecord], index) => [leadRecord, found[index] ?? null]));
  return (leadRecord) => {
    const account = leads.get(leadRecord);
    return { seen: seen.get(leadRecord), lead: account ? filteredLeadOf(account) : null };
  };
}

/** The fields of an account that filters compare. */
export function filteredLeadOf(account: LeadAccount): FilteredLead {
  const { given_name, given, overrides, activity, score, rulesets, profile } = account;
  return {
    // The account of a lead with very many decisions lacks those of its oldest ones.
    fields: shownFields({ ...(given_name && { name: given_name }), ...given, ...activity.fields }, overrides),
    aliases: activity.aliases,
    score,
    rulesets,
    ...(profile && { profile }),
    event_count: activity.event_count,
    first_activity_at: activity.first_activity_at ?? '',
    last_activity_at: activity.last_activity_at ?? '',
  };
}
