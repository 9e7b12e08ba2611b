// Deals with their scores, the rules that score them, and tests of these rules.
import { z } from 'zod';
import {
  cursorParameter,
  id,
  inOrder,
  leadId,
  name,
  numberParameter,
  page,
  pageParameters,
  score,
  time,
} from '../common.js';
import { profileRuleFields } from '../records/profile-scoring.js';
import { dealFieldForms, dealId, dealLimits } from '../vocabulary/deals.js';
import { attributeFilterForms } from '../vocabulary/filter-forms.js';
import { profileRule } from './profile-rules.js';
import { testedRules } from './profile-scoring.js';
import { defineRoute, viewer } from './route.js';
import { ruleset } from './scoring-configuration.js';

const query = { owner: 'scoring', kind: 'query', access: viewer } as const;

const dealFields = {
  stage: z.string().max(100).nullable(),
  amount: z.number().nullable(),
  currency: z.string().max(3).nullable(),
  closed_at: time.nullable(),
};

/** The most reasons of one deal; a list shows fewer of each. */
export const maximumDealReasons = { ofOne: 1_200, inList: 20 };

const dealReason = z.strictObject({
  ruleset_id: id,
  ruleset_name: z.string().max(100),
  rule_id: id.optional().describe('Absent where a limit of the ruleset holds points.'),
  rule_version: z.int().min(1).optional().describe('The version with which the points last changed.'),
  label: z.string().max(100).optional(),
  points: z.int(),
  text: z.string().max(1_000).meta({ example: 'stage is "won"' }),
});

export const deal = z
  .strictObject({
    id: dealId,
    ...dealFields,
    score,
    reasons: z
      .array(dealReason)
      .max(maximumDealReasons.ofOne)
      .describe(
        'The rules that give points now and what limits hold, the largest first. They add up to the score.',
      ),
    reasons_total: z
      .int()
      .min(0)
      .describe(`A list shows at most ${String(maximumDealReasons.inList)} reasons of each deal.`),
    lead_ids: z
      .array(id)
      .max(dealLimits.leads)
      .describe(`Leads whose events named the deal, in this order; at most ${String(dealLimits.leads)}.`),
    created_at: time.describe('When the deal was first named.'),
    updated_at: time.describe('When the deal or its score last changed.'),
  })
  .meta({ id: 'Deal' });
export type Deal = z.infer<typeof deal>;

const sort = z
  .enum(['score', '-score', 'updated_at', '-updated_at', 'created_at', '-created_at'])
  .default('-score')
  .describe('A minus in front: descending.');

const bound = numberParameter(-2_147_483_648, 2_147_483_647);

export const listDeals = defineRoute({
  ...query,
  name: 'listDeals',
  method: 'GET',
  path: '/deals',
  tag: 'Deals',
  summary: 'Deals with their scores, highest first',
  description:
    "Deals come from events that carry `metadata.deal` {id, stage, amount, currency, closed_at}. A deal follows its lead's event within moments. GET /deal-scoring/ignored-deals lists what was no deal, and why.",
  query: inOrder({
    min_score: bound.optional(),
    max_score: bound.optional(),
    stage: name(100).optional().describe('Whatever the case.'),
    lead_id: leadId.optional().describe('Deals that events of this lead named.'),
    sort,
    ...pageParameters,
    cursor: cursorParameter,
  }),
  responses: { 200: { description: 'Deals', schema: page(deal) } },
  problems: [],
});

export const getDeal = defineRoute({
  ...query,
  name: 'getDeal',
  method: 'GET',
  path: '/deals/{id}',
  tag: 'Deals',
  summary: 'One deal, with its score and the reasons',
  parameters: z.strictObject({ id: dealId }),
  responses: { 200: { description: 'The deal', schema: deal } },
  problems: ['deal_not_found'],
});

export const ignoredDeal = z
  .strictObject({
    lead_id: id,
    event_id: id,
    path: z.string().max(40).meta({ example: 'metadata.deal.amount' }),
    problem: z.string().max(200).describe('What to change.'),
    at: time.describe('When it was ignored.'),
  })
  .meta({ id: 'IgnoredDeal' });
export type IgnoredDeal = z.infer<typeof ignoredDeal>;

export const listIgnoredDeals = defineRoute({
  ...query,
  name: 'listIgnoredDeals',
  method: 'GET',
  path: '/deal-scoring/ignored-deals',
  tag: 'Deals',
  summary: 'What events said of deals and was ignored, newest first',
  description: `A \`metadata.deal\` that is no deal is ignored as a whole; its event counts. At least the latest ${String(dealLimits.ignored)} are listed.`,
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Ignored deals', schema: page(ignoredDeal) } },
  problems: [],
});

export const listDealRulesets = defineRoute({
  ...query,
  name: 'listDealRulesets',
  method: 'GET',
  path: '/deal-scoring/rulesets',
  tag: 'Scoring configuration',
  summary: 'Deal rulesets',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Rulesets', schema: page(ruleset) } },
  problems: [],
});

export const listDealRules = defineRoute({
  ...query,
  name: 'listDealRules',
  method: 'GET',
  path: '/deal-scoring/rules',
  tag: 'Scoring configuration',
  summary: 'Deal rules',
  query: z.strictObject({ ruleset_id: id.optional(), ...pageParameters }),
  responses: { 200: { description: 'Rules', schema: page(profileRule) } },
  problems: [],
});

export const testDeal = defineRoute({
  ...query,
  name: 'testDeal',
  method: 'POST',
  path: '/deal-scoring/test',
  tag: 'Scoring configuration',
  summary: 'Test the deal rules on a sample or on a deal',
  description:
    'Says for each deal rule, and for each draft, whether it matches and why. Nothing is stored. The fields are those of the deal `deal_id`, then those of `deal`, which take the place of the ones before them.',
  body: z
    .strictObject({
      deal_id: dealId.optional().describe('A deal of this organizational unit.'),
      deal: z.strictObject({ id: dealId.optional(), ...dealFieldForms }).optional(),
      rules: z
        .array(
          z
            .strictObject({
              conditions: attributeFilterForms.min(1, 'must hold at least one condition'),
              weight: profileRuleFields.weight,
              label: name(100).optional(),
            })
            .meta({ id: 'DraftDealRule' }),
        )
        .max(100)
        .optional()
        .describe('Drafts to be tested beside the rules.'),
    })
    .refine(
      ({ deal_id, deal: sample }) => deal_id !== undefined || sample !== undefined,
      'must hold deal_id or deal',
    )
    .meta({
      id: 'DealTestForm',
      anyOf: [{ required: ['deal_id'] }, { required: ['deal'] }],
      example: { deal: { stage: 'won', amount: 12_500, currency: 'EUR' } },
    }),
  responses: {
    200: {
      description: 'The points, and each rule with the reason',
      schema: z
        .strictObject({
          ...testedRules('deal'),
          deal: z
            .strictObject({ id: dealId.nullable(), ...dealFields })
            .describe('What the rules were tested on.'),
        })
        .meta({ id: 'DealTest' }),
    },
  },
  problems: ['deal_not_found'],
});
export type DealTest = z.infer<(typeof testDeal)['responses'][200]['schema']>;
