// Commands of what-ifs, and the work and the findings of the jobs that compute them: recorded history replayed by the live rules and by a draft.
import { z } from 'zod';
import { id, score, time } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { gridCell } from '../vocabulary/grid.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { configurationFile } from './configuration-file.js';
import { profileRuleFields, recordedConditions } from './profile-scoring.js';
import { defineRecord, type PayloadOf } from './record.js';
import { updateRule } from './rules.js';
import { maximumLevels, ruleFields } from './scoring.js';

export const whatIfLimits = {
  /** Changes of rules in one draft. */
  changes: 100,
  /** Leads that are listed as rising, and as many as falling. */
  movers: 25,
  /** Reasons that are listed for each of them. */
  reasons: 10,
  /** Numbers in a histogram, pairs of a bucket and a count: there are no more buckets. */
  histogram: 60_000,
  partitions: 1_000,
  /** Triggers that are evaluated: as many as an organizational unit may have. */
  triggers: 1_000,
};

/** A rule of a draft, in the form of the command that creates it. */
const draftRule = z.union([
  z.strictObject({ ruleset_id: id.optional(), ...ruleFields }),
  z.strictObject({ ruleset_id: id, conditions: recordedConditions, ...profileRuleFields }),
]);

export const draftChange = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('add'), rule: draftRule }),
  z.strictObject({
    op: z.literal('change'),
    rule_id: id,
    rule: updateRule.schema.omit({ ou_id: true, rule_id: true, requested_at: true, actor: true }),
  }),
  z.strictObject({ op: z.literal('remove'), rule_id: id }),
]);
export type DraftChange = z.infer<typeof draftChange>;

/** The changes of a draft. */
export const draftFields = {
  changes: z.array(draftChange).max(whatIfLimits.changes),
  levels: configurationFile.shape.engagement_levels.describe('All levels of the score. Absent: as they are.'),
  decays: configurationFile.shape.decays.describe('All decay rules. Absent: as they are.'),
};
/** The outcome that tells good leads from others, in commands and in the work of jobs. */
export const recordedOutcome = z.union([
  z.strictObject({ event_type: z.string().min(1).max(100) }),
  attributeFilter,
]);

/** The score that is compared, and the outcome by which both sides are judged. */
export const comparedFields = {
  score_type: z.enum(levelledScoreTypes),
  outcome: recordedOutcome.optional(),
  threshold: score.optional(),
};

const asked = {
  from: time.optional().describe('Events that happened earlier do not count.'),
  to: time.optional().describe('Events that happened then or later do not count.'),
  ...comparedFields,
};

export const startWhatIf = defineRecord({
  type: 'StartWhatIf',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Replay the history of an organizational unit by its live rules and by a draft, as a job.',
  schema: z.strictObject({ ou_id: id, job_id: id, ...draftFields, ...asked, ...requested }),
});
export type StartWhatIf = PayloadOf<typeof startWhatIf>;

export const applyWhatIf = defineRecord({
  type: 'ApplyWhatIf',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Make the draft of a what-if live: all of its changes or, when one is refused, none.',
  schema: z.strictObject({ ou_id: id, job_id: id, ...requested }),
});
export type ApplyWhatIf = PayloadOf<typeof applyWhatIf>;

export const logOffset = z.int().min(0);

export const deletedTypes = z
  .array(z.strictObject({ key: z.string().max(100), before: logOffset }))
  .max(100_000)
  .optional()
  .describe('Types of which the events before an offset of ingest.events are deleted. Absent: none.');

/** The history that a job replays, a group of leads in one partition after the other. */
export const replayedPartitions = z
  .array(
    z.strictObject({
      ingest_end: logOffset.describe('Where ingest.events ended when the job began.'),
      scoring_end: logOffset.describe('Where scoring.events ended then.'),
      groups: z.int().min(1).describe('Groups of leads, one of which is in memory at a time.'),
      deleted: deletedTypes,
    }),
  )
  .max(whatIfLimits.partitions);
export type ReplayedPartition = z.infer<typeof replayedPartitions>[number];

export const whatIfWork = z.strictObject({
  kind: z.literal('what-if'),
  ...draftFields,
  ...asked,
  configuration_version: z.int().min(0).describe('Of the live rules, and of those that the draft changes.'),
  partitions: replayedPartitions,
  triggers: z.array(id).max(whatIfLimits.triggers).optional().describe('The triggers that are evaluated.'),
});
export type WhatIfWork = z.infer<typeof whatIfWork>;

const count = z.int().min(0);
export const histogram = z
  .array(z.int())
  .max(whatIfLimits.histogram)
  .describe('A score, its number of leads, the next score, its number, and so on.');

const foundSide = z.strictObject({
  scores: histogram,
  levels: z.array(z.strictObject({ id, name: z.string().max(100), leads: count })).max(maximumLevels),
  cells: z.array(z.strictObject({ cell: gridCell, leads: count })).max(16),
  outcome: z
    .strictObject({ won: histogram, others: histogram })
    .optional()
    .describe('Scores of the leads that had the outcome, as they were before it, and of the others.'),
});
export type FoundSide = z.infer<typeof foundSide>;

const reason = z.strictObject({
  kind: z.enum(['rule', 'decay', 'limit']),
  id: id.optional().describe('The rule or, of a limit of a ruleset, the ruleset.'),
  label: z.string().max(200),
  live: z.int(),
  draft: z.int(),
});
export type WhatIfReason = z.infer<typeof reason>;

const mover = z.strictObject({
  lead_id: id,
  live: score,
  draft: score,
  why: z.array(reason).max(whatIfLimits.reasons),
});
export type FoundMover = z.infer<typeof mover>;

/** The findings of a step about a group of leads. */
export const whatIfFound = z.strictObject({
  leads: count,
  rising: count,
  falling: count,
  crossing: count,
  live: foundSide,
  draft: foundSide,
  movers: z.array(mover).max(2 * whatIfLimits.movers),
  triggers: z
    .array(z.strictObject({ id, live: count, draft: count }))
    .max(whatIfLimits.triggers)
    .optional()
    .describe('How often triggers would have fired, those that would have.'),
});
export type WhatIfFound = z.infer<typeof whatIfFound>;

export const whatIfRecords = [startWhatIf, applyWhatIf] as const;
