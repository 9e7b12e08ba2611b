// Attribution: computed for each question from the won deals here and the touches in ingest. docs/decisions/0044.
import {
  epochMsIn,
  routes,
  usualAttributionDays,
  usualHalfLifeDays,
  type AttributionModel,
} from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type AskedService, type BoundQuery, type QueryContext } from '@lead-scoring/service';
import { creditedDeals, type CreditedDeal, type CreditOptions } from './credit-model.js';
import { dealsOf, insightsOf } from './insights-model.js';
import { dayMs } from './models.js';
import { touchesOf } from './touches.js';
import { wonDeals, type ClosedRange } from './won-deals.js';

export interface AttributionDependencies {
  readModel: ReadModel;
  /** Knows the touches of leads. */
  ingest: AskedService;
  /** The clock, for ranges that have no end. */
  now: () => Date;
}

interface AttributionQuery {
  model: AttributionModel;
  from?: string | undefined;
  to?: string | undefined;
  timezone: string;
  stage?: string | undefined;
  half_life_days?: number | undefined;
  lookback_days?: number | undefined;
}

export function attributionQueries(dependencies: AttributionDependencies): BoundQuery[] {
  return [
    bindQuery(routes.getAttributionInsights, async ({ query, context }) => {
      const range = rangeOf(query, dependencies.now());
      const { model, half_life_days, lookback_days } = optionsOf(query);
      const deals = await creditedIn(dependencies, range, query, context);
      return {
        model,
        from: range.from,
        to: range.to,
        timezone: query.timezone,
        half_life_days: model === 'time_decay' ? half_life_days : null,
        lookback_days,
        ...insightsOf(deals, query),
      };
    }),
    bindQuery(routes.listAttributedDeals, async ({ query, context }) => {
      const range = rangeOf(query, dependencies.now());
      const found = dealsOf(await creditedIn(dependencies, range, query, context), query);
      const { page, limit } = query;
      return { data: found.slice((page - 1) * limit, page * limit), total: found.length, page, limit };
    }),
  ];
}

async function creditedIn(
  { readModel, ingest }: AttributionDependencies,
  range: ClosedRange,
  query: AttributionQuery,
  context: QueryContext,
): Promise<CreditedDeal[]> {
  const deals = await wonDeals(readModel, context.ouId, range);
  const leads = [...new Set(deals.flatMap((deal) => deal.leads))];
  const touches = await touchesOf(ingest, { leads, before: range.to }, context);
  return creditedDeals(deals, touches, optionsOf(query));
}

function rangeOf({ from, to, timezone, stage }: AttributionQuery, now: Date): ClosedRange {
  const end = to === undefined ? now.getTime() : epochMsIn(to, timezone);
  const beginning = from === undefined ? end - usualAttributionDays * dayMs : epochMsIn(from, timezone);
  return { from: new Date(beginning).toISOString(), to: new Date(end).toISOString(), stage };
}

function optionsOf({
  model,
  half_life_days = usualHalfLifeDays,
  lookback_days,
}: AttributionQuery): CreditOptions {
  return { model, half_life_days, lookback_days: lookback_days ?? null };
}
