// Lists of leads by score and by text, and the score of one lead.
import { routes, type routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { levelOf, levelsOfScore, noAccounts, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import { listByAccountScore } from '../accounts/list-leads.js';
import { loadAccountScores } from '../accounts/stored-accounts.js';
import { loadOne } from '../configuration/queries.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import type { AwaitPositions } from '../visibility.js';
import { leadAnswer, pageAnswer } from './answers.js';
import { filterQuery, requireFilter } from '../filters/queries.js';
import type { LeadDocument } from './documents.js';
import { listByScore } from './list-by-score.js';
import { listFiltered } from './list-filtered.js';
import { everyLevel, everyScores, requireCell, requireLevel, scoreRange } from './score-range.js';
import { searchLeads } from './search.js';
import { findLead, type LeadPage } from './stored-leads.js';

export interface LeadQueryDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
  awaitPositions: AwaitPositions;
  now: () => Date;
}

export function leadQueries({
  readModel,
  configurations,
  awaitPositions,
  now,
}: LeadQueryDependencies): BoundQuery[] {
  const matching = (configuration: ScoringConfiguration, filterId: string) =>
    filterQuery(requireFilter(configuration, filterId).conditions, configuration, now());
  return [
    bindQuery(routes.listLeads, async ({ query, context }) => {
      await awaitPositions(context);
      const byScore = query.sort === 'score' || query.sort === '-score';
      const loading = loadOne(configurations, context.ouId);
      if (query.score_type === 'account') {
        const range = scoreRange(query, everyLevel);
        const listing = listByAccountScore(readModel, context.ouId, query, range);
        const [ofAccounts, known] = await Promise.all([listing, loading]);
        return answered(readModel, ofAccounts, query, known);
      }
      const ofLeads = { ...query, score_type: query.score_type };
      // The list waits for the configuration only if the query names a level, a cell or a filter.
      const level =
        query.level === undefined ? everyLevel : requireLevel(await loading, query.score_type, query.level);
      const cell = query.grid === undefined ? null : requireCell(await loading, query.grid);
      const filter = query.filter_id === undefined ? undefined : matching(await loading, query.filter_id);
      const ranges = {
        ...(cell ?? everyScores),
        [query.score_type]: scoreRange(query, level, cell?.[query.score_type]),
      };
      const [page, configuration] = await Promise.all([
        byScore && query.owner === undefined && query.q === undefined && !cell && !filter
          ? listByScore(readModel, context.ouId, ofLeads, ranges[query.score_type])
          : listFiltered(readModel, context.ouId, ofLeads, { ranges, filter }),
        loading,
      ]);
      return answered(readModel, page, query, configuration);
    }),
    bindQuery(routes.searchLeads, async ({ query, context }) => {
      await awaitPositions(context);
      const [page, configuration] = await Promise.all([
        searchLeads(readModel, context.ouId, query),
        loadOne(configurations, context.ouId),
      ]);
      return answered(readModel, page, query, configuration);
    }),
    bindQuery(routes.getScore, async ({ params, query, context }) => {
      await awaitPositions(context);
      const [found, configuration] = await Promise.all([
        findLead(readModel, context.ouId, params.leadID),
        loadOne(configurations, context.ouId),
      ]);
      const answer = leadAnswer(
        found,
        configuration,
        await loadAccountScores(readModel, context.ouId, [found]),
      );
      return scoreAnswer(answer, askedScore(query.score_type, answer, found, configuration));
    }),
  ];
}

type AskedScoreType = QueryInput<typeof routes.getScore>['query']['score_type'];

/** The part of a lead's answer that is about its score. */
function scoreAnswer(
  { id, account_id, scores, profile_level, grid, rulesets, last_activity_at }: routeDeclarations.Lead,
  asked: ReturnType<typeof askedScore>,
) {
  return {
    lead_id: id,
    ...(account_id !== undefined && { account_id }),
    ...asked,
    scores,
    ...(profile_level !== undefined && { profile_level }),
    ...(grid && { grid }),
    rulesets,
    last_activity_at,
  };
}

/** The score that was asked for, with its level: deal scores have none, nor has a lead without an account. */
function askedScore(
  score_type: AskedScoreType,
  { score, scores, level }: routeDeclarations.Lead,
  { profile, deal_score = 0 }: LeadDocument,
  configuration: ScoringConfiguration,
) {
  switch (score_type) {
    case 'engagement':
      return { score, level };
    case 'profile': {
      const ofProfile = profile?.score ?? 0;
      return {
        score_type,
        score: ofProfile,
        level: levelOf(levelsOfScore(configuration, score_type), ofProfile),
      };
    }
    case 'deal':
      return { score_type, score: deal_score, level: null };
    case 'account':
      return {
        score_type,
        score: scores.account ?? 0,
        level:
          scores.account === undefined
            ? null
            : levelOf((configuration.accounts ?? noAccounts).levels, scores.account),
      };
  }
}

/** A page of leads with the scores of their accounts. */
export async function answered(
  readModel: ReadModel,
  page: LeadPage,
  query: { page: number; limit: number },
  configuration: ScoringConfiguration,
) {
  return pageAnswer(
    page,
    query,
    configuration,
    await loadAccountScores(readModel, configuration.ou_id, page.documents),
  );
}
