// Limits on the points that a rule or a ruleset gives a lead, and what decisions record of them.
import { z } from 'zod';
import { id, score, text, wholeNumber } from '../common.js';

/** The prefix of `once_per` before the name of a metadata field. */
export const oncePerValue = 'value:';

/** A rule's limits in commands, events and answers. */
export const ruleLimitFields = {
  max_count: wholeNumber(1, 1_000_000)
    .optional()
    .describe('How many events of a lead count at most. The points of further events are held back.')
    .meta({ example: 20 }),
  once_per: text(206)
    .regex(
      /^(?:event|lead|value:.{1,200})$/,
      'must be event, lead, or value: with a field of the metadata, such as value:path',
    )
    .optional()
    .describe(
      'event (default): every event counts. lead: the first event of a lead counts. value:<field>: the first event with each value of this metadata field counts; texts are compared without case, numbers by value, and all events without the field have one value. At most 500 values of a lead count.',
    )
    .meta({ example: 'value:path' }),
  cap_points: wholeNumber(1, 1_000_000_000)
    .optional()
    .describe(
      'The most points that the rule gives a lead, or takes from it if the weight is negative. The event that would pass it counts in part.',
    )
    .meta({ example: 50 }),
  cap_days: wholeNumber(1, 365)
    .optional()
    .describe(
      'cap_points holds for each such number of consecutive days (UTC), by the times of the events, in whichever order they arrive. Without it cap_points holds for all time.',
    )
    .meta({ example: 7 }),
};

/** A ruleset's limits where they are present: the fields of events and answers. */
export const rulesetLimitFields = {
  min_score: wholeNumber(-1_000_000_000, 0)
    .optional()
    .describe('The lowest sum of the ruleset on a lead; absent: no limit.'),
  max_score: wholeNumber(0, 1_000_000_000)
    .optional()
    .describe('The highest sum of the ruleset on a lead; absent: no limit.'),
};

const lowest = 'must be a whole number from -1000000000 to 0: a lead begins with 0 points in a ruleset';
const highest = 'must be a whole number from 0 to 1000000000: a lead begins with 0 points in a ruleset';

/** A ruleset's limits in requests and commands. */
export const rulesetLimitForm = {
  min_score: z
    .int(lowest)
    .min(-1_000_000_000, lowest)
    .max(0, lowest)
    .nullable()
    .optional()
    .describe(
      'The lowest sum of the ruleset on a lead; points that would take it lower are held back. null: no limit.',
    )
    .meta({ example: -20 }),
  max_score: z
    .int(highest)
    .min(0, highest)
    .max(1_000_000_000, highest)
    .nullable()
    .optional()
    .describe(
      'The highest sum of the ruleset on a lead; points that would take it higher are held back. null: no limit.',
    )
    .meta({ example: 100 }),
};

/** The counted points of a match with limits: an optional field of each match. */
export const countedPoints = score
  .optional()
  .describe(
    'The points of these that counted; absent where all did. A limit of the rule held the others back.',
  );

/** Points of an event that limits of rulesets hold back. */
export const rulesetAdjustments = z
  .array(z.strictObject({ ruleset_id: id, points: score }))
  .min(1)
  .max(200)
  .optional()
  .describe(
    "Points that hold a ruleset's sum within its limits, of this event; the adjustments of reason held_by_ruleset are their sums.",
  );

/** The most that a lead's state remembers for one rule. */
export const ruleMemory = {
  /** Values of the field of `once_per`. */
  values: 500,
  /** Days on which the rule gave the lead points. */
  days: 400,
};

const limitUse = z.strictObject({
  rule_id: id,
  events: z
    .int()
    .min(1)
    .optional()
    .describe('Events that counted; of rules with max_count or once_per lead.'),
  points: z
    .int()
    .min(1)
    .optional()
    .describe('Points that counted, added or taken; of rules with cap_points and without cap_days.'),
  days: z
    .array(
      z.strictObject({
        day: text(10).regex(/^\d{4}-\d{2}-\d{2}$/),
        points: z.int().min(1),
      }),
    )
    .max(ruleMemory.days)
    .optional()
    .describe(
      'Points that counted, added or taken, by the day (UTC) of their event; of rules with cap_days.',
    ),
  values: z
    .array(z.string().length(8))
    .max(ruleMemory.values)
    .optional()
    .describe('Hashes of the values whose first event counted; of rules with once_per value:<field>.'),
});
/** Events, points and values that limits of a rule have counted on a lead: in one decision, or in all decisions so far. */
export type LimitUse = z.infer<typeof limitUse>;

export const limitUses = z
  .array(limitUse)
  .min(1)
  .max(1_000)
  .optional()
  .describe(
    'What counted toward the limits of rules, of each rule with limits that gave points. Decisions on later events follow from it.',
  );
