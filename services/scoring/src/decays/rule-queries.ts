// The decay rules of an OU.
import { routes } from '@lead-scoring/contracts';
import { noDecays } from '@lead-scoring/scoring-domain';
import { bindQuery, problem, type BoundQuery } from '@lead-scoring/service';
import { decayNotFoundMessage } from '../configuration/decision-model.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne, pageOf } from '../configuration/queries.js';

export function decayRuleQueries(configurations: PublishedConfigurations): BoundQuery[] {
  return [
    bindQuery(routes.listDecays, async ({ query, context }) => {
      const { decays = noDecays } = await loadOne(configurations, context.ouId);
      return pageOf([...decays.rules.values()], query);
    }),
    bindQuery(routes.getDecay, async ({ params, context }) => {
      const { decays = noDecays } = await loadOne(configurations, context.ouId);
      const found = decays.rules.get(params.id.toLowerCase());
      if (!found) throw problem('decay_not_found', decayNotFoundMessage);
      return found;
    }),
  ];
}
