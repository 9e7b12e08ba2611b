// Profile levels, and the grid of profile by engagement, in force.
import { routes } from '@lead-scoring/contracts';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';

export function gridQueries(configurations: PublishedConfigurations): BoundQuery[] {
  return [
    bindQuery(routes.listProfileLevels, async ({ context }) => {
      const { profile_levels = [] } = await loadOne(configurations, context.ouId);
      return { levels: [...profile_levels] };
    }),
    bindQuery(routes.getScoringGrid, async ({ context }) => {
      const { grid = null } = await loadOne(configurations, context.ouId);
      return { grid };
    }),
  ];
}
