// The leads with the highest scores, and the leads whose scores rose most in the last hours.
import { z } from 'zod';
import { integerParameter, page, pageParameters, time } from '../common.js';
import { anyLeadScoreType } from './account-scores.js';
import { minPosition } from './events.js';
import { lead } from './leads.js';
import { defineRoute, viewer } from './route.js';

const shared = { owner: 'scoring', kind: 'query', access: viewer, tag: 'Analytics' } as const;
const { limit } = pageParameters;

export const listTopLeads = defineRoute({
  ...shared,
  name: 'listTopLeads',
  method: 'GET',
  path: '/top-leads',
  summary: 'The leads with the highest scores',
  description:
    'Only leads with a score above 0. total is the number of such leads: GET /leads with `min_score=1` and the same score_type lists them all.',
  query: z.strictObject({
    score_type: anyLeadScoreType.describe(
      'The score. account: that of the account that the lead belongs to; leads of an account follow each other.',
    ),
    limit,
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Leads', schema: page(lead) } },
  problems: [],
});

/** The longest range of GET /score-gains, in hours: a week. */
export const maximumGainHours = 168;

export const scoreGain = z
  .strictObject({
    ...lead.shape,
    gain: z
      .int()
      .min(1)
      .describe(
        'How many points the engagement score is above previous_score: what events since then gave, less what faded.',
      ),
    previous_score: z
      .int()
      .describe('The score less the gain: that of the moment before `from`, or 0 where it was reset since.'),
  })
  .meta({ id: 'ScoreGain' });
export type ScoreGain = z.infer<typeof scoreGain>;

export const listScoreGains = defineRoute({
  ...shared,
  name: 'listScoreGains',
  method: 'GET',
  path: '/score-gains',
  summary: 'The leads whose scores rose most lately',
  description:
    'Points count at the time of their event, so an imported past is no gain of today, and an event that arrives late counts in its own hour. What a rescoring adds or takes is no gain: the lead has done nothing. The answer begins at a full hour, `from`. total is the number of leads that gained. GET /lead/{leadID}/score-explain with `at` a millisecond before `from` gives the previous score with its reasons.',
  query: z.strictObject({
    hours: integerParameter(1, maximumGainHours)
      .default(24)
      .describe('1 to 168. The range begins with the full hour in which it was so many hours ago.')
      .meta({ default: 24 }),
    limit,
    min_position: minPosition,
  }),
  responses: {
    200: {
      description: 'Leads, the largest gain first; of one gain in the order of their ids',
      schema: page(scoreGain)
        .omit({ next_cursor: true })
        .extend({ from: time.describe('The first moment.'), to: time.describe('The moment of the answer.') }),
    },
  },
  problems: ['too_many_gains'],
});
