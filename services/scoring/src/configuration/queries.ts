// Rulesets, rules and levels in force: lists, and one by its id.
import { eventTypeKey, routes } from '@lead-scoring/contracts';
import { conditionRuleOf, emptyConfiguration, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { ruleNotFoundMessage, rulesetNotFoundMessage } from './decision-model.js';
import type { PublishedConfigurations } from './published.js';
import { rulesetsOf } from './state.js';

export function configurationQueries(configurations: PublishedConfigurations): BoundQuery[] {
  return [
    bindQuery(routes.listRulesets, async ({ query, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      return pageOf(rulesetsOf(configuration, 'engagement'), query);
    }),
    bindQuery(routes.listAllRulesets, async ({ query, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      const { score_type } = query;
      return pageOf(
        score_type ? rulesetsOf(configuration, score_type) : [...configuration.rulesets.values()],
        query,
      );
    }),
    bindQuery(routes.getRuleset, async ({ params, context }) => {
      const { rulesets } = await loadOne(configurations, context.ouId);
      const found = rulesets.get(params.id.toLowerCase());
      if (!found) throw new ProblemError(404, 'ruleset_not_found', rulesetNotFoundMessage);
      return found;
    }),
    bindQuery(routes.getRule, async ({ params, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      const id = params.id.toLowerCase();
      const found = configuration.rules.get(id) ?? conditionRuleOf(configuration, id);
      if (!found) throw new ProblemError(404, 'rule_not_found', ruleNotFoundMessage(configuration, id));
      return found;
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

/** A page of a list that is in memory. */
export function pageOf<Item>(items: readonly Item[], { page, limit }: { page: number; limit: number }) {
  return { data: items.slice((page - 1) * limit, page * limit), total: items.length, page, limit };
}
