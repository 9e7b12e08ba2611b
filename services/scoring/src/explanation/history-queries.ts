// The past of a lead's score by hour or day: as numbers, and as a picture.
import { pictureHeaders, renderScoreHistory } from '@lead-scoring/charts';
import { routes, type LeadScoreType, type routeDeclarations } from '@lead-scoring/contracts';
import {
  changesOfConditions,
  changesOfScore,
  historyOfScore,
  momentOfNow,
  type ScoreChange,
} from '@lead-scoring/scoring-domain';
import { bindQuery, RenderedAnswer, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import { loadOne } from '../configuration/queries.js';
import { configurationAt } from '../configuration-changes/documents.js';
import { leadOfKey } from '../keys.js';
import { findExplainedLead, type ExplainedLead } from './explained-lead.js';
import type { ExplanationDependencies } from './queries.js';

/** What each score is called in a picture. */
const kinds: Record<LeadScoreType, string> = {
  engagement: 'Lead score',
  profile: 'Profile score',
  deal: 'Deal score',
};

export function historyQueries(dependencies: ExplanationDependencies): BoundQuery[] {
  return [
    bindQuery(routes.getScoreHistory, (input) => readHistory(dependencies, input)),
    bindQuery(routes.drawScoreHistory, async (input) => {
      const history = await readHistory(dependencies, input);
      const drawn = { ...history, kind: kinds[history.score_type] };
      return new RenderedAnswer(
        'image/svg+xml; charset=utf-8',
        renderScoreHistory(drawn, input.query.width),
        {
          headers: pictureHeaders,
        },
      );
    }),
  ];
}

/** What both routes take. */
type HistoryInput = Pick<QueryInput<typeof routes.getScoreHistory>, 'params' | 'query' | 'context'>;

/** @throws ProblemError 404 `lead_not_found` */
async function readHistory(
  { readModel, configurations, awaitPositions, now }: ExplanationDependencies,
  { params, query, context: { ouId, ...context } }: HistoryInput,
): Promise<routeDeclarations.ScoreHistory> {
  await awaitPositions(context);
  const { known_at, score_type } = query;
  const [found, then] = await Promise.all([
    findExplainedLead(readModel, ouId, params.leadID),
    known_at === undefined ? loadOne(configurations, ouId) : configurationAt(readModel, ouId, known_at),
  ]);
  const { score, decisions, changes } = scoreOf(found, score_type);
  return historyOfScore({ id: leadOfKey(found.lead._id), name: found.lead.name, score }, changes, then, {
    ...query,
    latest: known_at ?? momentOfNow(decisions, now()),
  });
}

interface PresentScore {
  score: number;
  decisions: readonly { decided_at: string }[];
  changes: ScoreChange[];
}

function scoreOf(
  { lead, decisions, profileDecisions, dealDecisions }: ExplainedLead,
  scoreType: LeadScoreType,
): PresentScore {
  switch (scoreType) {
    case 'engagement':
      return { score: lead.score, decisions, changes: changesOfScore(decisions) };
    case 'profile':
      return {
        score: lead.profile?.score ?? 0,
        decisions: profileDecisions,
        changes: changesOfConditions(profileDecisions),
      };
    case 'deal':
      return {
        score: lead.deal_score ?? 0,
        decisions: dealDecisions,
        changes: changesOfConditions(dealDecisions),
      };
  }
}
