// Decay: how a rule takes points from the score of a lead without new scored events.
import { z } from 'zod';
import { id, score, time, wholeNumber } from '../common.js';

export const decayModes = ['inactivity_points', 'percent_interval', 'half_life'] as const;
export type DecayMode = (typeof decayModes)[number];

/** The field that says how much a rule of a mode takes. */
export const decayAmountFields = {
  inactivity_points: 'points',
  percent_interval: 'percent',
  half_life: 'half_life_days',
} as const satisfies Record<DecayMode, string>;

/** Days between two ticks of a half-life that names no interval. */
export const defaultHalfLifeInterval = 1;

/** Decay rules of an OU. */
export const maximumDecays = 20;

const mode = z.enum(decayModes, 'must be inactivity_points, percent_interval or half_life');

const amounts = {
  points: wholeNumber(-10_000, -1)
    .optional()
    .describe('inactivity_points: what each tick takes, as a negative number.')
    .meta({ example: -5 }),
  percent: z
    .number('must be a number from 0.1 to 100')
    .min(0.1)
    .max(100)
    .optional()
    .describe('percent_interval: the share of the score that each tick takes.'),
  half_life_days: wholeNumber(1, 3_650)
    .optional()
    .describe('half_life: the days in which half of the score fades.'),
};

const interval = wholeNumber(1, 365).describe('Days between two ticks.').meta({ example: 7 });
const rulesetOfDecay = id.describe(
  "The engagement ruleset whose points fade. Without it the lead's whole score does.",
);
const floor = score.describe('The score below which the rule takes nothing.');

/** The fields of a creation. */
export const decayForm = {
  mode,
  ...amounts,
  interval_days: interval.optional().describe('Days between two ticks; a half-life has 1 by default.'),
  ruleset_id: rulesetOfDecay.optional(),
  floor: floor.optional().describe('The score below which the rule takes nothing. Default 0.'),
  active: z.boolean().optional().describe('Default true.'),
};

/** The fields of a change: an absent one stays. A new mode needs its own amount, and drops that of the mode before. */
export const decayChanges = {
  mode: mode.optional(),
  ...amounts,
  interval_days: interval.optional(),
  ruleset_id: rulesetOfDecay.nullable().optional().describe('null: the whole score fades.'),
  floor: floor.optional(),
  active: z.boolean().optional(),
};

/** What a rule takes, and when: all that its ticks depend on. */
export const decaySettings = {
  mode: z.enum(decayModes),
  ...amounts,
  interval_days: interval,
  ruleset_id: rulesetOfDecay.optional(),
  floor,
};

/** A stretch of time in which a rule had the same settings. Its ticks are after `since` and not after `until`. */
export const decayPeriod = z.strictObject({
  rule_id: id,
  rule_version: z.int().min(1),
  ...decaySettings,
  since: time,
  until: time.optional().describe('Absent while the settings are in force.'),
});
export type DecayPeriod = z.infer<typeof decayPeriod>;
export type DecaySettings = Pick<
  DecayPeriod,
  'mode' | 'points' | 'percent' | 'half_life_days' | 'interval_days' | 'ruleset_id' | 'floor'
>;
