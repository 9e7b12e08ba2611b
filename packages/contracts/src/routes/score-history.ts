// The past of a lead's score by hour or day: as numbers to plot, and as a picture.
import { z } from 'zod';
import {
  dayOrMomentParameter,
  id,
  leadId,
  ofMergedLead,
  pastTimeParameter,
  score,
  text,
  time,
  timezoneParameter,
} from '../common.js';
import { maximumLevels } from '../records/scoring.js';
import { leadScoreTypes } from '../vocabulary/score-types.js';
import { defaultSpans } from '../vocabulary/time-spans.js';
import { boundedTime } from './bounded-time.js';
import { minPosition } from './events.js';
import { leadLevel } from './leads.js';
import { alsoAsPictureOrPng, pictureText, pictureWidth, pngText } from './picture.js';
import { defineRoute, viewer } from './route.js';
import { engagementLevel } from './scoring-configuration.js';

/** The most hours or days between `from` and `to`: three years of days. */
const maximumSpans = 1_100;

const points = z.strictObject({
  label: text(40)
    .describe('The hour or day in the time zone, for an axis: 2026-03-29, 2026-03-29T14:00+02:00.')
    .meta({ example: '2026-03-29' }),
  starts_at: time.describe('The beginning of the hour or day.'),
  at: time.describe(
    'The last moment that the point covers: the last millisecond of the hour or day, or the end of the answer. The explanation of this moment has the same score.',
  ),
  added: z.int().min(0).describe('The points that were given in the hour or day.'),
  taken: z.int().max(0).describe('The points that were taken: by rules of negative weight, fading, a reset.'),
  score: score.describe('The running total at the moment `at`.'),
});

export const scoreHistory = z
  .strictObject({
    lead_id: id,
    ...ofMergedLead,
    lead_name: z.string().max(512),
    score_type: z.enum(leadScoreTypes),
    granularity: z.enum(['hour', 'day']),
    timezone: text(64),
    from: time.describe('The beginning of the first hour or day.'),
    to: time.describe('The last moment that counts.'),
    known_at: time.optional().describe('The moment of knowledge that was asked for; absent: now.'),
    score_before: score.describe('The score before the first hour or day.'),
    score: score.describe('The score at the end.'),
    level: leadLevel.nullable().describe('The level of the score at the end.'),
    levels: z
      .array(engagementLevel)
      .max(maximumLevels)
      .describe(
        'The levels of this score, as bands of a plot: those of now, or of the moment `known_at`. Deal scores have none.',
      ),
    points: z
      .array(points)
      .min(1)
      .max(maximumSpans + 3)
      .describe('One for each hour or day, also for those in which nothing happened, the oldest first.'),
  })
  .meta({ id: 'ScoreHistory' });
export type ScoreHistory = z.infer<typeof scoreHistory>;

const historyQuery = {
  score_type: z
    .enum(leadScoreTypes, {
      error: `must be ${leadScoreTypes.join(' or ')}: past scores of accounts are not kept`,
    })
    .default('engagement')
    .describe('profile, deal: the score by the times of its decisions, the only clock of these scores.')
    .meta({ default: 'engagement' }),
  granularity: z.enum(['hour', 'day']).default('day').meta({ default: 'day' }),
  from: dayOrMomentParameter
    .optional()
    .describe(
      `The first hour or day is the one that this moment is in. A plain date is that day of the time zone. Default: ${String(defaultSpans.day)} days, or ${String(defaultSpans.hour)} hours, up to \`to\`.`,
    )
    .meta({ example: '2026-03-01' }),
  to: dayOrMomentParameter
    .optional()
    .describe(
      'Ends before this moment. A plain date is the beginning of that day in the time zone. Default `known_at`, else now; what is later than that is cut off.',
    )
    .meta({ example: '2026-04-01' }),
  timezone: timezoneParameter
    .default('UTC')
    .describe(
      'Where the days begin and end: a day of a clock change has 23 or 25 hours. A name of the IANA time zone database.',
    )
    .meta({ default: 'UTC', example: 'Europe/Berlin' }),
  known_at: pastTimeParameter
    .optional()
    .describe(
      'The history as the system knew it at this moment, with the levels of then: events that it scored later do not count. Default now.',
    )
    .meta({ example: '2026-04-01T00:00:00Z' }),
  min_position: minPosition,
  width: pictureWidth,
};

const bounded = <Shape extends z.ZodRawShape>(shape: Shape) =>
  boundedTime(
    shape,
    maximumSpans,
    `must be at most ${maximumSpans.toLocaleString('en')} hours, or days with granularity=day, before to, which is now by default`,
  );

const history = {
  method: 'GET',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  parameters: z.strictObject({ leadID: leadId }),
  problems: ['lead_not_found'],
} as const;

export const getScoreHistory = defineRoute({
  ...history,
  name: 'getScoreHistory',
  path: '/lead/{leadID}/score-history',
  summary: "A lead's score by hour or day, ready to plot",
  description:
    'By the clock of the events, as `at` of an explanation: an event counts from its own time on, also one of an imported history. `known_at` is the clock of the system. The score of each point is that of the explanation with the same `at` and `known_at`. ' +
    `${pictureText} Where it prefers \`image/png\`, it is a PNG.`,
  query: bounded(historyQuery),
  responses: { 200: { description: 'History', schema: scoreHistory, ...alsoAsPictureOrPng } },
});

export const drawScoreHistory = defineRoute({
  ...history,
  name: 'drawScoreHistory',
  path: '/lead/{leadID}/score-history.svg',
  summary: "A lead's score by hour or day, as a picture",
  description:
    'The history of GET /lead/{leadID}/score-history, drawn for a width, light or dark as the reader has it, with its title and its course in words for screen readers, and without scripts.',
  query: bounded(historyQuery),
  responses: { 200: { description: 'SVG', contentType: 'image/svg+xml' } },
});

export const paintScoreHistory = defineRoute({
  ...history,
  name: 'paintScoreHistory',
  path: '/lead/{leadID}/score-history.png',
  summary: "A lead's score by hour or day, as a PNG",
  description: `The picture of GET /lead/{leadID}/score-history.svg. ${pngText}`,
  query: bounded(historyQuery),
  responses: { 200: { description: 'PNG', contentType: 'image/png' } },
});
