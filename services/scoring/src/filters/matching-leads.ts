// The ids of the leads that a saved filter matches now, for series of their events, which ingest has.
import { routeDeclarations } from '@lead-scoring/contracts';
import { withClassifiedErrors, type Filter, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, problem, type BoundQuery } from '@lead-scoring/service';
import { loadOne } from '../configuration/queries.js';
import { leadKeysOf, leadOfKey } from '../keys.js';
import { leads, type LeadDocument } from '../leads/documents.js';
import type { LeadQueryDependencies } from '../leads/queries.js';
import { filterQuery, requireFilter } from './queries.js';

const { matchingLeads, analyticsLimits } = routeDeclarations;

export function matchingLeadQueries({
  readModel,
  configurations,
  awaitPositions,
  now,
}: LeadQueryDependencies): BoundQuery[] {
  return [
    bindQuery(matchingLeads, async ({ query, context }) => {
      await awaitPositions(context);
      const configuration = await loadOne(configurations, context.ouId);
      const { conditions } = requireFilter(configuration, query.filter_id);
      const matches = filterQuery(conditions, configuration, now());
      return { leads: await leadIdsOf(readModel, context.ouId, matches) };
    }),
  ];
}

/** @throws ProblemError 422 `range_too_large` */
export async function leadIdsOf(
  readModel: ReadModel,
  ouId: string,
  matches: Filter<LeadDocument>,
  limit: number = analyticsLimits.filteredLeads,
): Promise<string[]> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(leads)
      .find({ $and: [{ _id: leadKeysOf(ouId) }, matches] }, { projection: { _id: 1 } })
      .limit(limit + 1)
      .toArray(),
  );
  if (found.length > limit)
    throw problem(
      'range_too_large',
      `The filter matches more than ${limit.toLocaleString('en')} leads, which is more than one answer takes into account. Ask with a filter that matches fewer leads.`,
    );
  return found.map(({ _id }) => leadOfKey(_id));
}
