// The versions of a rule, also of a deleted one.
import { routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { changesNaming } from '../configuration-changes/documents.js';
import { pageOf } from '../configuration/queries.js';
import { concernsRule, versionsOf } from './version-model.js';

export function ruleHistoryQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.listRuleVersions, async ({ params, query, context }) => {
      const id = params.id.toLowerCase();
      const changes = await changesNaming(readModel, context.ouId, id);
      const versions = versionsOf(
        changes.filter((event) => concernsRule(event, id)),
        id,
      );
      if (versions.length === 0)
        throw new ProblemError(
          404,
          'rule_not_found',
          'No rule of this organizational unit has or had this id. GET /engagement-scoring/rules lists those that there are.',
        );
      return pageOf(versions.reverse(), query);
    }),
  ];
}
