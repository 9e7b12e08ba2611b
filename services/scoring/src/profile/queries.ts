// Lists of mappings, profile rulesets and profile rules, and tests of profile rules.
import { routes, type JsonObject } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { compileMappings, noProfile, profileOf } from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne, pageOf } from '../configuration/queries.js';
import { rulesetsOf } from '../configuration/state.js';
import { findLead } from '../leads/stored-leads.js';
import { emptyProfile } from './state.js';
import { testProfile } from './test-rules.js';

export interface ProfileQueryDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
}

export function profileQueries({ readModel, configurations }: ProfileQueryDependencies): BoundQuery[] {
  return [
    bindQuery(routes.listProfileMappings, async ({ query, context }) => {
      const { profile = noProfile } = await loadOne(configurations, context.ouId);
      const mappings = [...profile.mappings.values()];
      return pageOf(
        mappings.filter(({ field }) => query.field === undefined || field === query.field),
        query,
      );
    }),
    bindQuery(routes.listProfileRulesets, async ({ query, context }) =>
      pageOf(rulesetsOf(await loadOne(configurations, context.ouId), 'profile'), query),
    ),
    bindQuery(routes.listProfileRules, async ({ query, context }) => {
      const { profile = noProfile } = await loadOne(configurations, context.ouId);
      const ruleset = query.ruleset_id?.toLowerCase();
      const rules = [...profile.rules.values()];
      return pageOf(
        rules.filter(({ ruleset_id }) => ruleset === undefined || ruleset_id === ruleset),
        query,
      );
    }),
    bindQuery(routes.testProfile, async ({ body, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      const ofLead =
        body.lead_id === undefined ? {} : await profileOfLead(readModel, context.ouId, body.lead_id);
      const { mappings } = configuration.profile ?? noProfile;
      const mapped = compileMappings(mappings.values()).read(body.metadata ?? {});
      const profile = { ...ofLead, ...Object.fromEntries(mapped), ...body.profile };
      return testProfile(profile, configuration, body.rules ?? []);
    }),
  ];
}

/** @throws ProblemError 404 `lead_not_found` */
async function profileOfLead(readModel: ReadModel, ouId: string, leadId: string): Promise<JsonObject> {
  const { fields, overridden, aliases, profile = emptyProfile } = await findLead(readModel, ouId, leadId);
  return profileOf({ fields, overridden, aliases, values: profile.values, overrides: profile.overrides });
}
