// Reads the present explanation of a lead's score, computed on request.
import type { AnyScoreType, routeDeclarations } from '@lead-scoring/contracts';
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import {
  emptyConfiguration,
  explainAccount,
  explainDeals,
  explainProfile,
  explainScore,
  momentOfNow,
  publicExplanation,
  scoreTypeOf,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { readConfigurations } from './configurations.js';
import { conditionHistory, scoreHistory, type HistoryPoint } from './history-model.js';
import {
  decisionKeysBetween,
  decisions,
  leadKey,
  sharedAccounts,
  sharedLeads,
  toDecision,
  toLead,
  toScoreDecision,
  type DecisionDocument,
} from './model.js';
import { nameOf, type SharedLead } from './state.js';
import { isSameLead, type ExplanationSource } from './whole.js';

/** Hours of event times that drivers cover: the default range of GET /lead/{id}/score-explain. */
const rangeHours = 720;

export interface ReadExplanation {
  explanation: routeDeclarations.PublicScoreExplanation;
  /** The lead's level. The page shows it; the public form does not contain it. */
  level: routeDeclarations.LeadLevel | null;
  history: HistoryPoint[];
  computed_at: string;
}

export interface FoundLead extends SharedLead {
  partition: number;
}

/** Null when the OU has no such lead. A lead may be found a moment before it can be explained. */
export async function findLead(
  readModel: ReadModel,
  { ou_id, lead_id }: { ou_id: string; lead_id: string },
): Promise<FoundLead | null> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(sharedLeads).findOne({ _id: leadKey(ou_id, lead_id) }),
  );
  return found && { ...toLead(found, { ou_id, lead_id }), partition: found.partition };
}

/** Null when the lead was removed since it was found, or is not folded completely yet. */
export async function readExplanation(
  { readModel, foldedUpTo }: ExplanationSource,
  found: FoundLead,
  now: Date,
  scoreType: AnyScoreType = 'engagement',
): Promise<ReadExplanation | null> {
  if (scoreType === 'account') return accountExplanation(readModel, found, now);
  const { ou_id, id, first_offset, partition } = found;
  const end = (await foldedUpTo([partition]))(partition);
  if (first_offset >= end) return null;
  const [documents, [configuration = emptyConfiguration(ou_id)]] = await Promise.all([
    withClassifiedErrors(() =>
      readModel
        .collection(decisions)
        .find({ _id: decisionKeysBetween(ou_id, id, first_offset, end - 1) })
        .sort({ _id: 1 })
        .toArray(),
    ),
    readConfigurations(readModel, [ou_id]),
  ]);
  const lead = await findLead(readModel, { ou_id, lead_id: id });
  if (!lead || !isSameLead({ first_offset }, lead)) return null;
  const named = { id, name: nameOf(lead) };
  return scoreType === 'engagement'
    ? engagementExplanation(named, documents, configuration, now)
    : conditionExplanation(scoreType, named, documents, configuration, now);
}

/** The explanation of the score that the lead's account has now. Its past is not kept, so it has no history. */
async function accountExplanation(
  readModel: ReadModel,
  lead: FoundLead,
  now: Date,
): Promise<ReadExplanation> {
  const { id, ou_id, account_id } = lead;
  const [account, [configuration = emptyConfiguration(ou_id)]] = await Promise.all([
    account_id === undefined
      ? null
      : withClassifiedErrors(() =>
          readModel.collection(sharedAccounts).findOne({ _id: leadKey(ou_id, account_id) }),
        ),
    readConfigurations(readModel, [ou_id]),
  ]);
  const computed_at = now.toISOString();
  const explanation = explainAccount(
    { lead_id: id, lead_name: nameOf(lead) },
    account && { ...account, id: account_id ?? '' },
    configuration,
    { at: computed_at, range_hours: rangeHours },
  );
  return { explanation: publicExplanation(explanation), level: null, history: [], computed_at };
}

interface NamedLead {
  id: string;
  name: string;
}

function engagementExplanation(
  lead: NamedLead,
  documents: readonly DecisionDocument[],
  configuration: ScoringConfiguration,
  now: Date,
): ReadExplanation {
  const explained = documents.flatMap((document) => {
    const decision = toScoreDecision(document);
    return scoreTypeOf(decision) === 'engagement' ? [toDecision(document, decision)] : [];
  });
  return presentExplanation(explained, now, (score, request) => ({
    explanation: explainScore({ ...lead, score }, explained, configuration, configuration, request),
    history: scoreHistory(score, explained, request),
  }));
}

const explainConditions = { profile: explainProfile, deal: explainDeals } as const;

/** The explanation and the history of a profile or deal score. */
function conditionExplanation(
  scoreType: keyof typeof explainConditions,
  lead: NamedLead,
  documents: readonly DecisionDocument[],
  configuration: ScoringConfiguration,
  now: Date,
): ReadExplanation {
  const explained = documents.flatMap((document) => {
    const decision = toScoreDecision(document);
    return 'score_type' in decision && decision.score_type === scoreType ? [decision] : [];
  });
  return presentExplanation(explained, now, (score, request) => ({
    explanation: explainConditions[scoreType](
      { ...lead, score },
      explained,
      configuration,
      configuration,
      request,
    ),
    history: conditionHistory(score, explained, request),
  }));
}

/** The explanation of the present score by all of these decisions. */
function presentExplanation(
  decisions: readonly { readonly decided_at: string; readonly score: number }[],
  now: Date,
  explain: (
    score: number,
    request: { at: string; range_hours: number },
  ) => { explanation: routeDeclarations.ScoreExplanation; history: HistoryPoint[] },
): ReadExplanation {
  const request = { at: momentOfNow(decisions, now), range_hours: rangeHours };
  const { explanation, history } = explain(decisions.at(-1)?.score ?? 0, request);
  return {
    explanation: publicExplanation(explanation),
    level: explanation.level,
    history,
    computed_at: request.at,
  };
}
