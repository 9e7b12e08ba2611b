// The read model as those who explain read it: one object, made once for the projector that folds it.
import type { records } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import type { LeadAccount } from './account-model.js';
import { readAccounts, type AccountRequest } from './accounts.js';
import { decisionsOf, readNames } from './history.js';
import { findLead, readExplanation, type FoundLead, type ReadExplanation } from './read.js';
import { createFoldedUpTo } from './whole.js';

export interface ExplanationReader {
  /** null: the OU has no such lead, as far as is folded. A lead may be found a moment before it can be explained. */
  findLead(lead: { ou_id: string; lead_id: string }): Promise<FoundLead | null>;
  /** As of now; null: the lead that was found is removed, or not folded whole yet. */
  explain(lead: FoundLead, now: Date): Promise<ReadExplanation | null>;
  /** In the order of the requests; null for a lead that the OU does not have up to there, or that was removed since. */
  accounts(requests: readonly AccountRequest[]): Promise<(LeadAccount | null)[]>;
  /** All decisions of an OU that say something of scores, lead by lead: the last of a lead tells its score. */
  decisionsOf(ouId: string): AsyncIterable<records.LeadScored>;
  /** What leads are shown by; a lead that is not there is left out. */
  names(ouId: string, leadIds: readonly string[]): Promise<Map<string, string>>;
}

/** @param projectorName the projector that folds: its checkpoints say what is whole */
export function createExplanationReader(readModel: ReadModel, projectorName: string): ExplanationReader {
  const source = { readModel, foldedUpTo: createFoldedUpTo(readModel, projectorName) };
  return {
    findLead: (lead) => findLead(readModel, lead),
    explain: (lead, now) => readExplanation(source, lead, now),
    accounts: (requests) => readAccounts(source, requests),
    decisionsOf: (ouId) => decisionsOf(source, ouId),
    names: (ouId, leadIds) => readNames(readModel, ouId, leadIds),
  };
}
