// The past of a lead's score by hour or day: as numbers, and as a picture.
import { renderScoreHistory } from '@lead-scoring/charts';
import { routes, type LeadScoreType, type routeDeclarations } from '@lead-scoring/contracts';
import {
  changesOfConditions,
  changesOfScore,
  historyOfScore,
  momentOfNow,
  type ScoreChange,
} from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import { loadOne } from '../configuration/queries.js';
import { configurationAt } from '../configuration-changes/documents.js';
import { leadOfKey } from '../keys.js';
import { pngAnswer, svgAnswer, type PictureDependencies } from '../pictures.js';
import { findExplainedLead, type ExplainedLead } from './explained-lead.js';
import type { ExplanationDependencies } from './queries.js';

/** What each score is called in a picture. */
const kinds: Record<LeadScoreType, string> = {
  engagement: 'Lead score',
  profile: 'Profile score',
  deal: 'Deal score',
};

type HistoryDependencies = ExplanationDependencies & PictureDependencies;

export function historyQueries(dependencies: HistoryDependencies): BoundQuery[] {
  return [
    bindQuery(routes.getScoreHistory, async (input) => {
      const history = await readHistory(dependencies, input);
      switch (input.context.preferred(['application/json', 'image/svg+xml', 'image/png'])) {
        case 'image/svg+xml':
          return svgAnswer(drawn(history, input));
        case 'image/png':
          return pngAnswer(drawn(history, input), dependencies);
        default:
          return history;
      }
    }),
    bindQuery(routes.drawScoreHistory, async (input) =>
      svgAnswer(drawn(await readHistory(dependencies, input), input)),
    ),
    bindQuery(routes.paintScoreHistory, async (input) =>
      pngAnswer(drawn(await readHistory(dependencies, input), input), dependencies),
    ),
  ];
}

function drawn(
  history: routeDeclarations.ScoreHistory,
  { query: { width } }: Pick<HistoryInput, 'query'>,
): string {
  return renderScoreHistory({ ...history, kind: kinds[history.score_type] }, width);
}

/** What the routes take. */
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
