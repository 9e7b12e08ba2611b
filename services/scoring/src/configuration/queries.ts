// The lists of rulesets, rules and levels in force.
import { eventTypeKey, routes } from '@lead-scoring/contracts';
import { emptyConfiguration, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import type { PublishedConfigurations } from './published.js';
import type { Ruleset } from './state.js';

export function configurationQueries(configurations: PublishedConfigurations): BoundQuery[] {
  return [
    bindQuery(routes.listRulesets, async ({ query, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      return pageOf(rulesetsOf(configuration, 'engagement'), query);
    }),
    bindQuery(routes.listRules, async ({ query, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      const typeKey = query.event_type === undefined ? null : eventTypeKey(query.event_type);
      return pageOf(
        [...configuration.rules.values()].filter(
          (rule) =>
            (query.ruleset_id === undefined || rule.ruleset_id === query.ruleset_id.toLowerCase()) &&
            (typeKey === null || eventTypeKey(rule.event_type) === typeKey),
        ),
        query,
      );
    }),
    bindQuery(routes.listEngagementLevels, async ({ context }) => {
      const { levels } = await loadOne(configurations, context.ouId);
      return { levels: [...levels] };
    }),
  ];
}

export async function loadOne(
  configurations: PublishedConfigurations,
  ouId: string,
): Promise<ScoringConfiguration> {
  return (await configurations.load([ouId])).get(ouId) ?? emptyConfiguration(ouId);
}

export function rulesetsOf({ rulesets }: ScoringConfiguration, scoreType: Ruleset['score_type']): Ruleset[] {
  return [...rulesets.values()].filter(({ score_type }) => score_type === scoreType);
}

/** A page of a list that is in memory. */
export function pageOf<Item>(items: readonly Item[], { page, limit }: { page: number; limit: number }) {
  return { data: items.slice((page - 1) * limit, page * limit), total: items.length, page, limit };
}
