// The leads with the highest scores: the beginning of the order by a score.
import { routes } from '@lead-scoring/contracts';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { listByAccountScore } from '../accounts/list-leads.js';
import { loadOne } from '../configuration/queries.js';
import { listByScore } from './list-by-score.js';
import { answered, type LeadQueryDependencies } from './queries.js';
import { aboveZero } from './score-range.js';

export function topLeadQueries({
  readModel,
  configurations,
  awaitPositions,
}: Omit<LeadQueryDependencies, 'now'>): BoundQuery[] {
  return [
    bindQuery(routes.listTopLeads, async ({ query: { score_type, limit }, context }) => {
      await awaitPositions(context);
      const query = { sort: '-score', page: 1, limit, cursor: undefined } as const;
      const [{ documents, total }, configuration] = await Promise.all([
        score_type === 'account'
          ? listByAccountScore(readModel, context.ouId, query, aboveZero)
          : listByScore(readModel, context.ouId, { ...query, score_type }, aboveZero),
        loadOne(configurations, context.ouId),
      ]);
      return answered(readModel, { documents, total }, query, configuration);
    }),
  ];
}
