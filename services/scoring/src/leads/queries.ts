// Lists of leads by score and by text, and the score of one lead.
import { routes, type routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { levelOf, levelsOfScore, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import { listByAccountScore } from '../accounts/list-leads.js';
import { loadOne } from '../configuration/queries.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import type { AwaitPositions } from '../visibility.js';
import { leadAnswer, pageAnswer } from './answers.js';
import { filterQuery, requireFilter } from '../filters/queries.js';
import { listByScore } from './list-by-score.js';
import { listFiltered } from './list-filtered.js';
import { everyLevel, everyScores, requireCell, requireLevel, scoreRange } from './score-range.js';
import { loadScoresBeside } from './scores-beside.js';
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
      return scoreAnswer(
        leadAnswer(found, configuration, await loadScoresBeside(readModel, [found], configuration)),
        { scoreType: query.score_type, profileScore: found.profile?.score ?? 0, configuration },
      );
    }),
  ];
}

type AskedScoreType = QueryInput<typeof routes.getScore>['query']['score_type'];

/** The part of a lead's answer that is about its score. */
function scoreAnswer(
  {
    id,
    account_id,
    score,
    scores,
    level,
    profile_level,
    grid,
    rulesets,
    last_activity_at,
  }: routeDeclarations.Lead,
  {
    scoreType,
    profileScore,
    configuration,
  }: { scoreType: AskedScoreType; profileScore: number; configuration: ScoringConfiguration },
) {
  const asked = () => {
    switch (scoreType) {
      case 'engagement':
        return { score, level };
      case 'profile':
        return {
          score_type: scoreType,
          score: profileScore,
          level: levelOf(levelsOfScore(configuration, scoreType), profileScore),
        };
      case 'account':
        return { score_type: scoreType, score: scores.account ?? 0, level: null };
    }
  };
  return {
    lead_id: id,
    ...(account_id !== undefined && { account_id }),
    ...asked(),
    scores,
    ...(profile_level !== undefined && { profile_level }),
    ...(grid && { grid }),
    rulesets,
    last_activity_at,
  };
}

/** A page of leads with what is read beside them. */
async function answered(
  readModel: ReadModel,
  page: LeadPage,
  query: { page: number; limit: number },
  configuration: ScoringConfiguration,
) {
  return pageAnswer(
    page,
    query,
    configuration,
    await loadScoresBeside(readModel, page.documents, configuration),
  );
}
