// The reader of the read model: one object for each projector that folds it.
import type { AnyScoreType } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import type { ScoreDecision } from '@lead-scoring/scoring-domain';
import type { LeadAccount } from './account-model.js';
import { readAccounts, type AccountRequest } from './accounts.js';
import { readDeletedEvents, type IsDeletedEvent } from './deleted-types.js';
import { decisionsOf, readNames } from './history.js';
import { findLead, readExplanation, type FoundLead, type ReadExplanation } from './read.js';
import { createFoldedUpTo } from './whole.js';

export interface ExplanationReader {
  /** Null when the OU has no such lead. A lead may be found a moment before it can be explained. */
  findLead(lead: { ou_id: string; lead_id: string }): Promise<FoundLead | null>;
  /**
   * The explanation as of `now`, of the engagement score by default; an account score needs `keepsAccounts`. Null when the lead was
   * removed since it was found, or is not folded completely yet.
   */
  explain(lead: FoundLead, now: Date, scoreType?: AnyScoreType): Promise<ReadExplanation | null>;
  /** In the order of the requests. Null for a lead that the OU did not have at that offset, or that was removed. */
  accounts(requests: readonly AccountRequest[]): Promise<(LeadAccount | null)[]>;
  /** All stored decisions of an OU, lead by lead; the last decision on a lead has its score. */
  decisionsOf(ouId: string): AsyncIterable<ScoreDecision>;
  /** Which events of an OU are deleted. */
  deletedEvents(ouId: string): Promise<IsDeletedEvent>;
  /** The displayed names of leads; unknown leads are left out. */
  names(ouId: string, leadIds: readonly string[]): Promise<Map<string, string>>;
}

/** @param projectorName the projector whose checkpoints say how far the read model is folded */
export function createExplanationReader(readModel: ReadModel, projectorName: string): ExplanationReader {
  const source = { readModel, foldedUpTo: createFoldedUpTo(readModel, projectorName) };
  return {
    findLead: (lead) => findLead(readModel, lead),
    explain: (lead, now, scoreType = 'engagement') => readExplanation(source, lead, now, scoreType),
    accounts: (requests) => readAccounts(source, requests),
    decisionsOf: (ouId) => decisionsOf(source, ouId),
    deletedEvents: (ouId) => readDeletedEvents(readModel, ouId),
    names: (ouId, leadIds) => readNames(readModel, ouId, leadIds),
  };
}
