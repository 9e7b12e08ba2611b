// Which touches came before won deals, and how much of each deal a model gives them.
import { z } from 'zod';
import {
  dayOrMomentParameter,
  id,
  name,
  numberParameter,
  page,
  pageParameters,
  text,
  time,
  timezoneParameter,
} from '../common.js';
import {
  attributionDimensions,
  attributionLimits,
  attributionModels,
  touchLimits,
  usualAttributionDays,
  usualHalfLifeDays,
  wonStages,
} from '../vocabulary/attribution.js';
import { dealId, dealLimits } from '../vocabulary/deals.js';
import { epochMsIn } from '../vocabulary/local-time.js';
import { defineRoute, viewer } from './route.js';

const shared = { owner: 'scoring', kind: 'query', access: viewer, tag: 'Deals' } as const;

const model = z
  .enum(attributionModels)
  .default('linear')
  .describe(
    'first_touch, last_touch: all to the first or the last touch. linear: the same to each. time_decay: half as much for each half-life that a touch is older. position_based: 40 % to the first, 40 % to the last, 20 % shared by those between them; of two touches each gets half, a single one gets all.',
  )
  .meta({ default: 'linear' });

const choice = {
  model,
  from: dayOrMomentParameter
    .optional()
    .describe(`Deals closed from this time on. Default: ${String(usualAttributionDays)} days before \`to\`.`),
  to: dayOrMomentParameter.optional().describe('Deals closed before this time. Default: now.'),
  timezone: timezoneParameter
    .default('UTC')
    .describe('Where a plain date begins: a name of the IANA time zone database.')
    .meta({ default: 'UTC', example: 'Europe/Berlin' }),
  stage: name(100)
    .optional()
    .describe(`The stage of won deals, whatever the case. Default: any of ${wonStages.join(', ')}.`),
  half_life_days: numberParameter(0.01, 3_650)
    .optional()
    .describe(`Of time_decay, in days of 24 hours. Default: ${String(usualHalfLifeDays)}.`),
  lookback_days: numberParameter(0.01, 3_650)
    .optional()
    .describe(
      'Touches at most this many days of 24 hours before the deal was closed. Default: all before it.',
    ),
};

type Choice = z.infer<z.ZodObject<typeof choice>>;

/** Adds the checks that concern several fields of a query. */
const agreed = <Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodObject<typeof choice & Shape, z.core.$strict> =>
  z
    .strictObject({ ...choice, ...shape })
    .refine(
      (query) => {
        const { from, to, timezone } = query as unknown as Choice;
        if (from === undefined || to === undefined) return true;
        return epochMsIn(from, timezone) <= epochMsIn(to, timezone);
      },
      { path: ['to'], error: 'must not be before from: nothing lies between them' },
    )
    .refine(
      (query) => {
        const { model: chosen, half_life_days } = query as unknown as Choice;
        return half_life_days === undefined || chosen === 'time_decay';
      },
      { path: ['half_life_days'], error: 'is for model=time_decay only' },
    );

const currency = z.string().max(3).nullable();
const amount = z.number();
const credit = z.number().min(0).describe('Deals, in millionths.');
const count = z.int().min(0);

const amounts = z
  .array(z.strictObject({ currency, amount }))
  .max(attributionLimits.deals)
  .describe('By currency; null: amounts without a currency. Never summed across currencies.');

const dealSum = {
  deals: count,
  amounts: z
    .array(z.strictObject({ currency, amount, deals: count.describe('Deals with an amount.') }))
    .max(attributionLimits.deals)
    .describe('By currency; null: amounts without a currency. Deals without an amount are not in it.'),
};

const row = z
  .strictObject({
    value: z.string().max(touchLimits.path).nullable().describe('null: touches that have none.'),
    credit,
    amounts,
    touches: count.describe('Touches of this value, once for each deal that they came before.'),
    deals: count.describe('Deals with such a touch.'),
    leads: count.describe('Leads with such a touch.'),
  })
  .meta({ id: 'AttributionRow' });
export type AttributionRow = z.infer<typeof row>;

const rows = z
  .strictObject({
    data: z.array(row).max(100).describe('Most credit first.'),
    total: count.describe('Different values.'),
    other: z
      .strictObject({ values: count, credit, amounts, touches: count })
      .describe('The values that are not on this page, together.'),
  })
  .meta({ id: 'AttributionRows' });
export type AttributionRows = z.infer<typeof rows>;

const chosen = {
  model: z.enum(attributionModels),
  from: time,
  to: time,
  timezone: z.string().max(64),
  half_life_days: z.number().nullable().describe('null: not of this model.'),
  lookback_days: z.number().nullable().describe('null: all touches before.'),
};

const about = `Won deals come from events that carry \`metadata.deal\`. A deal is closed at its \`closed_at\` or, without one, at the time of the event that gave it its stage. Touches are the events of the leads that named the deal, before it was closed; an event that carries a \`metadata.deal\` is a record of a deal and no touch. At most ${String(attributionLimits.deals)} deals, ${String(attributionLimits.leads)} of their leads and ${String(attributionLimits.events)} events of these are taken into account; more is 422, and says what to narrow.`;

export const getAttributionInsights = defineRoute({
  ...shared,
  name: 'getAttributionInsights',
  method: 'GET',
  path: '/deals/attribution-insights',
  summary: 'The touches before won deals, and the credit that a model gives them',
  description: `${about} In each of the three lists the credit of all rows, \`other\` included, and the deals of \`untouched\` add up to \`deals\` exactly, and the amounts to those of all deals. Amounts are counted to four decimal places. GET /deals/attribution-insights/deals lists the deals and leads of each number.`,
  query: agreed(pageParameters),
  responses: {
    200: {
      description: 'Credit by event type, campaign and path',
      schema: z
        .strictObject({
          ...chosen,
          ...dealSum,
          leads: count.describe('Leads with a touch.'),
          touches: count.describe('Touches, once for each deal that they came before.'),
          untouched: z.strictObject(dealSum).describe('Deals without a touch: nobody gets credit for them.'),
          event_types: rows,
          campaigns: rows.describe('By `utm_campaign`, else `campaign` (a text, or its `name`).'),
          paths: rows.describe('By `path`, else the path of `url`, without a query.'),
        })
        .meta({ id: 'AttributionInsights' }),
    },
  },
  problems: ['range_too_large'],
});
export type AttributionInsights = z.infer<(typeof getAttributionInsights)['responses'][200]['schema']>;

const creditedDeal = z
  .strictObject({
    deal_id: dealId,
    stage: z.string().max(100),
    amount: amount.nullable(),
    currency,
    closed_at: time,
    credit,
    credited_amount: amount.nullable().describe('The part of the amount; null where the deal has no amount.'),
    touches: count,
    leads: z
      .array(z.strictObject({ lead_id: id, credit, touches: count }))
      .max(dealLimits.leads)
      .describe('The leads of these touches, most credit first.'),
  })
  .meta({ id: 'CreditedDeal' });
export type CreditedDeal = z.infer<typeof creditedDeal>;

export const listAttributedDeals = defineRoute({
  ...shared,
  name: 'listAttributedDeals',
  method: 'GET',
  path: '/deals/attribution-insights/deals',
  summary: 'The deals and leads of a number of GET /deals/attribution-insights',
  description: `With the same model, range and half-life: \`by\` and \`value\` name a row, \`by\` without a value the row of touches that have none, \`by=untouched\` the deals without a touch; without \`by\` all deals. The credits of all listed deals add up to that of the row. Most credit first. ${about}`,
  query: agreed({
    by: z.enum([...attributionDimensions, 'untouched']).optional(),
    value: text(touchLimits.path, { minimum: 1 })
      .optional()
      .describe('A value of a row. Of an event type, either spelling.'),
    ...pageParameters,
  }).refine(({ by, value }) => value === undefined || (by !== undefined && by !== 'untouched'), {
    path: ['value'],
    error: 'must come with by=event_type, by=campaign or by=path',
  }),
  responses: { 200: { description: 'Deals', schema: page(creditedDeal) } },
  problems: ['range_too_large'],
});
