// Reads a lead with all decisions that explain its score, concurrently with their fold.
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { scoredEventsOf, type ExplainedDecision, type ConditionDecision } from '@lead-scoring/scoring-domain';
import { recordKeysUpTo } from '../keys.js';
import { decisionOf, timeline, type LeadDocument, type TimelineDocument } from '../leads/documents.js';
import { findLead } from '../leads/stored-leads.js';

export interface ExplainedLead {
  lead: LeadDocument;
  /** In the order of the log. */
  decisions: (ExplainedDecision & { score: number })[];
  /** The decisions on its profile, in the order of the log. */
  profileDecisions: ConditionDecision[];
  /** The decisions on its deal score, in the order of the log. */
  dealDecisions: ConditionDecision[];
}

/**
 * The lead is read first: decisions are stored before the lead that counts them, so up to its offset none is missing. It is
 * read again after its decisions: a removal deletes the lead, or replaces it by that of the next lead with its id, before it
 * deletes decisions. So when it is the same lead, all of its decisions were read.
 * @throws ProblemError 404 `lead_not_found`, also for a lead that is removed meanwhile
 */
export async function findExplainedLead(
  readModel: ReadModel,
  ouId: string,
  leadId: string,
): Promise<ExplainedLead> {
  const lead = await findLead(readModel, ouId, leadId);
  const recorded = await withClassifiedErrors(() =>
    readModel
      .collection(timeline)
      .find({
        // Begins at the lead's first decision, to exclude those of a deleted lead with the same id.
        _id: recordKeysUpTo(leadId, lead.offset, lead.first_offset),
        ou: uuidToBinary(ouId),
      })
      .sort({ _id: 1 })
      .toArray(),
  );
  const { first_offset } = await findLead(readModel, ouId, leadId);
  if (first_offset !== lead.first_offset) return findExplainedLead(readModel, ouId, leadId);
  return { lead, ...decisionsOf(recorded) };
}

/** The recorded decisions by score. */
function decisionsOf(recorded: readonly TimelineDocument[]): Omit<ExplainedLead, 'lead'> {
  const decisions: ExplainedLead['decisions'] = [];
  const profileDecisions: ConditionDecision[] = [];
  const dealDecisions: ConditionDecision[] = [];
  for (const document of recorded) {
    const decision = decisionOf(document);
    if ('score_type' in decision && decision.score_type === 'profile') profileDecisions.push(decision);
    else if ('score_type' in decision && decision.score_type === 'deal') dealDecisions.push(decision);
    else decisions.push({ ...decision, scored_events: scoredEventsOf(decision) });
  }
  return { decisions, profileDecisions, dealDecisions };
}
