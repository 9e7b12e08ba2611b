// How a lead's score falls if nothing happens.
import { z } from 'zod';
import { id, integerParameter, leadId, ofMergedLead, score, time } from '../common.js';
import { minPosition } from './events.js';
import { leadLevel } from './leads.js';
import { defineRoute, viewer } from './route.js';

/** Steps in an answer. */
export const maximumForecastSteps = 1_000;

export const scoreForecast = z
  .strictObject({
    lead_id: id,
    ...ofMergedLead,
    at: time.describe('Now.'),
    until: time.describe('The end of the forecast.'),
    score: score.describe('Now, with the ticks that are due and not recorded yet.'),
    level: leadLevel.nullable().describe('The level that the score is in now.'),
    score_until: score.describe('At the end of the forecast.'),
    leaves_level_at: time
      .nullable()
      .describe('When the score leaves its level; null: not until the end of the forecast.'),
    next_level: leadLevel
      .nullable()
      .describe('The level that it comes to then; null when it comes to none, or leaves none.'),
    steps: z
      .array(
        z.strictObject({
          at: time,
          score: score.describe('After the tick.'),
          points: z.int().max(-1),
          rule_id: id,
          rule_name: z.string().max(100),
          ruleset_id: id.optional().describe('The ruleset whose points fade; absent: the whole score.'),
        }),
      )
      .max(maximumForecastSteps)
      .describe('The ticks that take points, the next one first. The first 1,000.'),
    steps_total: z.int().min(0),
  })
  .meta({ id: 'ScoreForecast' });
export type ScoreForecast = z.infer<typeof scoreForecast>;

export const forecastScore = defineRoute({
  name: 'forecastScore',
  method: 'GET',
  path: '/lead/{leadID}/score-forecast',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: "How a lead's score falls if nothing happens",
  description:
    'The ticks that the decay rules of now will have, as long as no event of the lead scores and no rule changes. A step is what the explanation will list when its time has come.',
  parameters: z.strictObject({ leadID: leadId }),
  query: z.strictObject({
    days: integerParameter(1, 365).default(90).describe('How far to look ahead.').meta({ default: 90 }),
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Forecast', schema: scoreForecast } },
  problems: ['lead_not_found'],
});
