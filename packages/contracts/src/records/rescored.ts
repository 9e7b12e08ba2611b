// What a score that was computed anew from the recorded history is made of from then on. Decisions on later events follow from it, and
// explanations begin with it.
import { z } from 'zod';
import { id, score, time } from '../common.js';
import { profileChange, profileLimits } from '../vocabulary/profile.js';
import { limitUses } from './rule-limits.js';
import { adjustment } from './scoring.js';

/** Entries of each list of a rescored score. */
export const maximumRescoredParts = 1_000;

const count = z.int().min(0);

const rescoredMatches = z.strictObject({
  rule_id: id,
  rule_version: z.int().min(1).describe('The highest version that matched.'),
  ruleset_id: id,
  event_type: z.string().max(100).describe('Of the first event that the rule matched.'),
  points: z.int().describe('Of each match.'),
  count: z.int().min(1).describe('Matches.'),
  counted: z
    .strictObject({ count, points: z.int() })
    .optional()
    .describe('The matches that counted, in full or in part, and their points; absent where all did.'),
});
export type RescoredMatches = z.infer<typeof rescoredMatches>;

const rescoredEngagement = z.strictObject({
  rulesets: z
    .array(z.strictObject({ ruleset_id: id, score }))
    .max(maximumRescoredParts)
    .describe('The points of each ruleset.'),
  limit_uses: limitUses,
  last_scored_at: time.optional().describe('Of the last event that gave points; absent: none did.'),
  decay: z
    .strictObject({
      since: time.optional(),
      ticks: z
        .array(z.strictObject({ rule_id: id, at: time, fraction: z.number().min(-1).max(1).optional() }))
        .max(maximumRescoredParts)
        .optional(),
    })
    .optional()
    .describe('From when on ticks of decay rules count, and the last tick of each.'),
  matches: z
    .array(rescoredMatches)
    .max(maximumRescoredParts)
    .describe('What rules gave, by rule and points of a match.'),
  others: z
    .array(adjustment)
    .max(maximumRescoredParts)
    .describe(
      'What no match gave, or limits of rulesets held back. The points of matches that counted and these make score.',
    ),
});
export type RescoredEngagement = z.infer<typeof rescoredEngagement>;

export const rescored = z
  .strictObject({
    job_id: id.describe(
      'The job that has computed the score anew; with `deleted`, the job of ingest that has deleted events.',
    ),
    ruleset_id: id.optional().describe('Only the points of this ruleset are new. Absent: all are.'),
    engagement: rescoredEngagement
      .optional()
      .describe('Of an engagement score: takes the place of all that was decided before.'),
    profile_values: z
      .array(profileChange)
      .max(maximumRescoredParts)
      .optional()
      .describe('Of a profile score: the values of the profile, in place of those of before.'),
    profile_overrides: z
      .array(profileChange)
      .max(profileLimits.mappings)
      .optional()
      .describe('Beside `profile_values`: those from metadata that callers have set. Absent: none.'),
  })
  .optional()
  .describe('Present on a decision that a rescoring made.');
export type Rescored = NonNullable<z.infer<typeof rescored>>;
