// Deals, what was ignored, the rules over deals, and tests of these rules.
import {
  dealKeyOf,
  routeDeclarations,
  routes,
  type JsonObject,
  type JsonValue,
} from '@lead-scoring/contracts';
import {
  findByIds,
  findPage,
  uuidToBinary,
  withClassifiedErrors,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { noDeals } from '@lead-scoring/scoring-domain';
import { bindQuery, ProblemError, type BoundQuery, type QueryInput } from '@lead-scoring/service';
import { testConditionRules } from '../condition-rules/tests-model.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne, pageOf } from '../configuration/queries.js';
import { rulesetsOf } from '../configuration/state.js';
import { dealAnswer, dealFieldsOf } from './answers.js';
import { deals, toDeal, type DealDocument } from './documents.js';
import { ignoredDeals, toIgnored } from './ignored.js';
import { conditionFieldsOf, type Deal } from './state.js';

const { maximumDealReasons } = routeDeclarations;

export interface DealQueryDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
}

export function dealQueries({ readModel, configurations }: DealQueryDependencies): BoundQuery[] {
  return [
    bindQuery(routes.listDeals, async ({ query, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      return findPage(readModel.collection(deals), {
        filter: filterOf(context.ouId, query),
        sort: {
          field: query.sort.replace('-', '') as 'score' | 'updated_at' | 'created_at',
          direction: query.sort.startsWith('-') ? 'descending' : 'ascending',
        },
        request: query,
        toItem: (document) => dealAnswer(toDeal(document), configuration, maximumDealReasons.inList),
      });
    }),
    bindQuery(routes.getDeal, async ({ params, context }) => {
      const [deal, configuration] = await Promise.all([
        findDeal(readModel, context.ouId, params.id),
        loadOne(configurations, context.ouId),
      ]);
      return dealAnswer(deal, configuration, maximumDealReasons.ofOne);
    }),
    bindQuery(routes.listIgnoredDeals, async ({ query, context }) =>
      pageOf(await ignoredOf(readModel, context.ouId), query),
    ),
    bindQuery(routes.listDealRulesets, async ({ query, context }) =>
      pageOf(rulesetsOf(await loadOne(configurations, context.ouId), 'deal'), query),
    ),
    bindQuery(routes.listDealRules, async ({ query, context }) => {
      const { deals: { rules } = noDeals } = await loadOne(configurations, context.ouId);
      const ruleset = query.ruleset_id?.toLowerCase();
      return pageOf(
        [...rules.values()].filter(({ ruleset_id }) => ruleset === undefined || ruleset_id === ruleset),
        query,
      );
    }),
    bindQuery(routes.testDeal, async ({ body, context }) => {
      const { deals: { rules } = noDeals, rulesets } = await loadOne(configurations, context.ouId);
      const stored =
        body.deal_id === undefined ? null : await findDeal(readModel, context.ouId, body.deal_id);
      const fields = withSample(stored ? conditionFieldsOf(stored) : {}, body.deal ?? {});
      return {
        ...testConditionRules({ noun: 'deal', fields }, rules.values(), rulesets, body.rules ?? []),
        deal: { id: typeof fields.id === 'string' ? fields.id : null, ...dealFieldsOf(fields) },
      };
    }),
  ];
}

type ListQuery = QueryInput<typeof routes.listDeals>['query'];

function filterOf(ouId: string, { min_score, max_score, stage, lead_id }: ListQuery): Filter<DealDocument> {
  const score = {
    ...(min_score !== undefined && { $gte: min_score }),
    ...(max_score !== undefined && { $lte: max_score }),
  };
  return {
    ou: uuidToBinary(ouId),
    ...(Object.keys(score).length > 0 && { score }),
    ...(stage !== undefined && { stage: stage.toLowerCase() }),
    ...(lead_id !== undefined && { leads: uuidToBinary(lead_id) }),
  };
}

/** @throws ProblemError 404 `deal_not_found`, both for a deal of another OU and for an unknown one */
async function findDeal(readModel: ReadModel, ouId: string, id: string): Promise<Deal> {
  // The key follows from the OU, so a deal of another OU is not found.
  const [found] = await findByIds(readModel.collection(deals), [uuidToBinary(dealKeyOf(ouId, id))]);
  if (found) return toDeal(found);
  throw new ProblemError(
    404,
    'deal_not_found',
    'No deal of this organizational unit has this id. GET /deals lists them; a metadata.deal that was no deal is in GET /deal-scoring/ignored-deals.',
  );
}

/** The newest first. */
async function ignoredOf(readModel: ReadModel, ouId: string): Promise<routeDeclarations.IgnoredDeal[]> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(ignoredDeals)
      .find({ ou: uuidToBinary(ouId) })
      .toArray(),
  );
  return found
    .flatMap((document) => [...toIgnored(document)].reverse())
    .sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
}

/** The fields of a stored deal, with those of a sample in their place: null removes one. */
function withSample(stored: JsonObject, sample: object): JsonObject {
  const given = Object.entries(sample) as [string, string | number | null | undefined][];
  const fields = new Map<string, JsonValue>(Object.entries(stored));
  for (const [field, value] of given)
    if (value === null) fields.delete(field);
    else if (value !== undefined) fields.set(field, value);
  return Object.fromEntries(fields);
}
