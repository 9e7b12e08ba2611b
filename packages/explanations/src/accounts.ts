// Reads the accounts of many leads: their names and scores, and what each rule gave them.
import { findByIds, keyOf, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { emptyAccount, foldAccount, type LeadAccount } from './account-model.js';
import {
  decisionKeysBetween,
  decisions,
  leadKey,
  offsetOf,
  sharedLeads,
  toLead,
  toScoreDecision,
} from './model.js';
import type { SharedLead } from './state.js';
import { isSameLead, type ExplanationSource } from './whole.js';

export interface AccountRequest {
  ou_id: string;
  lead_id: string;
  /** Offset of the last decision that counts. Absent: all folded decisions count. */
  up_to?: number;
}

/** Maximum number of decisions read for one lead, the newest. */
const maximumDecisions = 5_000;
/** Number of leads whose decisions are read at the same time. */
const atATime = 16;

/**
 * The accounts in the order of the requests. Null for a lead that the OU did not have at that offset, or that was
 * removed.
 */
export async function readAccounts(
  { readModel, foldedUpTo }: ExplanationSource,
  requests: readonly AccountRequest[],
): Promise<(LeadAccount | null)[]> {
  if (requests.length === 0) return [];
  const leadOf = await findLeads(readModel, requests);
  const begun = requests.filter((request) => (leadOf(request)?.first_offset ?? Infinity) <= upTo(request));
  if (begun.length === 0) return requests.map(() => null);
  const endOf = await foldedUpTo([...new Set(begun.flatMap((request) => leadOf(request)?.partition ?? []))]);
  const found = new Map<AccountRequest, LeadAccount | null>();
  for (let from = 0; from < begun.length; from += atATime)
    await Promise.all(
      begun.slice(from, from + atATime).map(async (request) => {
        const lead = leadOf(request);
        if (!lead) return;
        const to = Math.min(upTo(request), endOf(lead.partition) - 1);
        if (lead.first_offset <= to)
          found.set(request, await accountOf(readModel, toLead(lead, request), to));
      }),
    );
  const leadOfNow = await findLeads(readModel, begun);
  return requests.map((request) => {
    const lead = leadOf(request);
    return lead && isSameLead(lead, leadOfNow(request)) ? (found.get(request) ?? null) : null;
  });
}

function upTo({ up_to }: AccountRequest): number {
  return up_to ?? Infinity;
}

/** @param to offset of the last decision that counts */
async function accountOf(readModel: ReadModel, lead: SharedLead, to: number): Promise<LeadAccount> {
  const { id, ou_id, given_name, given, overrides, first_alias, first_offset } = lead;
  const newest = await withClassifiedErrors(() =>
    readModel
      .collection(decisions)
      .find({ _id: decisionKeysBetween(ou_id, id, first_offset, to) })
      .sort({ _id: -1 })
      .limit(maximumDecisions)
      .toArray(),
  );
  const account = newest.reduceRight<LeadAccount | null>(
    (known, document) => foldAccount(known, toScoreDecision(document), offsetOf(document)),
    null,
  );
  return {
    // Leads without points were stored before the decision that makes a lead was: they may have no stored decision.
    ...(account ?? emptyAccount(lead, first_offset)),
    id,
    ou_id,
    given_name,
    given,
    ...(overrides && { overrides }),
    first_alias,
    first_offset,
  };
}

async function findLeads(readModel: ReadModel, requests: readonly AccountRequest[]) {
  const found = await findByIds(
    readModel.collection(sharedLeads),
    requests.map(({ ou_id, lead_id }) => leadKey(ou_id, lead_id)),
  );
  const byKey = new Map(found.map((document) => [keyOf(document._id), document]));
  return ({ ou_id, lead_id }: AccountRequest) => byKey.get(keyOf(leadKey(ou_id, lead_id)));
}
