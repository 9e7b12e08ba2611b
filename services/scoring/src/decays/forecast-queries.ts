// How the score of a lead falls if nothing happens.
import { routeDeclarations, routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { forecastScore } from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { loadOne } from '../configuration/queries.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { toLead } from '../leads/documents.js';
import { findLead } from '../leads/stored-leads.js';
import type { AwaitPositions } from '../visibility.js';

export interface ForecastDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
  awaitPositions: AwaitPositions;
  now: () => Date;
}

export function forecastQueries({
  readModel,
  configurations,
  awaitPositions,
  now,
}: ForecastDependencies): BoundQuery[] {
  return [
    bindQuery(routes.forecastScore, async ({ params, query, context: { ouId, ...context } }) => {
      await awaitPositions(context);
      const [found, configuration] = await Promise.all([
        findLead(readModel, ouId, params.leadID),
        loadOne(configurations, ouId),
      ]);
      const lead = toLead(found, ouId);
      return forecastScore(lead.id, lead, configuration, {
        at: now().toISOString(),
        days: query.days,
        maximumSteps: routeDeclarations.maximumForecastSteps,
      });
    }),
  ];
}
