// The versions of a rule, also of a deleted one.
import { routes, type routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { pageOf } from '../configuration/queries.js';
import { readMovedSince } from '../rule-moves/documents.js';
import type { MoveCount } from '../rule-moves/moves-model.js';
import { changesOfRule } from './documents.js';
import { versionsOf, type RuleChange } from './version-model.js';

export function ruleHistoryQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.listRuleVersions, async ({ params, query, context }) => {
      const id = params.id.toLowerCase();
      const versions = versionsOf(await changesOfRule(readModel, context.ouId, id), id);
      if (versions.length === 0)
        throw new ProblemError(
          404,
          'rule_not_found',
          'No rule of this organizational unit has or had this id. GET /engagement-scoring/rules lists those that there are.',
        );
      const { data, ...page } = pageOf(versions.reverse(), query);
      const rule = { ou_id: context.ouId, rule_id: id };
      const counts = await readMovedSince(
        readModel,
        rule,
        data.map(({ version }) => version),
      );
      return { ...page, data: data.map((change, index) => withMoves(change, counts[index])) };
    }),
  ];
}

function withMoves(
  change: RuleChange,
  { leads, isEstimate }: MoveCount = { leads: 0, isEstimate: false },
): routeDeclarations.RuleVersion {
  return { ...change, leads_moved: leads, leads_moved_is_estimate: isEstimate };
}
