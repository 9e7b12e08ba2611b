// The command that asks for suggested rules, and the work and the findings of the job that makes them.
import { z } from 'zod';
import { id, text, time } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { filterField, operand } from '../vocabulary/filters.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { defineRecord, type PayloadOf } from './record.js';
import { draftChange, histogram, deletedTypes, logOffset, recordedOutcome, whatIfLimits } from './what-if.js';

export const suggestionLimits = {
  /** Leads of which the history is read, chosen by their ids; of more leads it is this sample. */
  leads: 20_000,
  /** One of so many leads is held out: no weight is learned from it. */
  heldOutOneIn: 4,
  /** Rules that there are, for which a weight is suggested: those that match most leads. */
  rules: 24,
  /** Candidates that are weighed together: those that go with the outcome most clearly. */
  candidates: 40,
  /** New rules that are suggested. */
  additions: 20,
  /** Traits that one step records, and all steps together. */
  traitsPerStep: 300,
  traits: 2_000,
  /** Leads that must have a trait, and leads that must lack it, for a suggestion to be about it. */
  leadsWithTrait: 20,
  /** Leads of one partition that must have a trait before anything records it. */
  leadsInPartition: 5,
  /** Leads with the outcome, and without it, from which nothing can be learned if there are fewer. */
  leadsOfKind: 10,
};

const { leads: sampled, ...limits } = suggestionLimits;

const asked = {
  outcome: recordedOutcome,
  from: time.optional().describe('Events that happened earlier do not count.'),
  to: time.optional().describe('Events that happened then or later do not count.'),
  dimension: z.enum(levelledScoreTypes),
};

export const startSuggestion = defineRecord({
  type: 'StartSuggestion',
  topic: 'scoring.commands',
  key: 'ou_id',
  description:
    'Learn from the history of an organizational unit which rules would tell the leads that come to an outcome from the others, as a job.',
  schema: z.strictObject({ ou_id: id, job_id: id, ...asked, ...requested }),
});
export type StartSuggestion = PayloadOf<typeof startSuggestion>;

export const suggestionWork = z.strictObject({
  kind: z.literal('suggestion'),
  ...asked,
  configuration_version: z.int().min(0).describe('Of the live rules, which the suggestion changes.'),
  ruleset_id: id.optional().describe('Takes suggested profile rules.'),
  sample_end: z
    .int()
    .min(1)
    .max(2 ** 32)
    .describe('Leads whose ids begin with a smaller number of 32 bits are read.'),
  partitions: z
    .array(
      z.strictObject({
        ingest_end: logOffset.describe('Where ingest.events ended when the job began.'),
        scoring_end: logOffset.describe('Where scoring.events ended then.'),
        deleted: deletedTypes,
      }),
    )
    .max(whatIfLimits.partitions),
});
export type SuggestionWork = z.infer<typeof suggestionWork>;

const property = z.strictObject({ field: filterField, value: operand });

/** A trait: a lead has it or lacks it, and a rule can give points for it. */
const trait = z.union([
  z.strictObject({ rule_id: id }).describe('A rule that there is has matched.'),
  z
    .strictObject({ event_type: z.string().min(1).max(100), property: property.optional() })
    .describe('It had an event of this type, with this property.'),
  z.strictObject({ property }).describe('Its profile has this value.'),
]);
export type SuggestionTrait = z.infer<typeof trait>;

const count = z.int().min(0);
const counted = { leads: count, won: count.describe('Of these, the leads with the outcome.') };

const support = z.strictObject({
  with: z.strictObject(counted),
  without: z.strictObject(counted),
  odds_ratio: z.number().min(0),
});

const judgedSide = z.strictObject({ won: histogram, others: histogram });

/** The findings of a step. Each step has one part; the result of the job is joined from all. */
export const suggestionFound = z.strictObject({
  survey: z
    .strictObject({
      ...counted,
      traits: z.array(z.strictObject({ trait, ...counted })).max(limits.traits),
    })
    .optional()
    .describe('The leads to learn from, and the traits that enough of them have.'),
  rows: z
    .strictObject({
      has: text(16 * sampled)
        .regex(/^[0-9a-f]*$/)
        .describe('16 digits for each kind of lead: a bit for each trait that is weighed.'),
      leads: z.array(count).max(sampled),
      won: z.array(count).max(sampled),
    })
    .optional()
    .describe('The leads to learn from, by the traits that they have.'),
  suggested: z
    .strictObject({
      ...counted,
      changes: z.array(draftChange).max(whatIfLimits.changes),
      support: z.array(support).max(whatIfLimits.changes),
    })
    .optional(),
  judged: z
    .strictObject({ live: judgedSide, draft: judgedSide })
    .optional()
    .describe('Scores of the leads that were held out, as they were before the outcome.'),
});
export type SuggestionFound = z.infer<typeof suggestionFound>;

export const suggestionRecords = [startSuggestion] as const;
