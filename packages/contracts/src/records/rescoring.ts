// The command that asks for a rescoring, the work of its job (scores computed anew from the recorded history by the rules of now), and
// how the new scores of a group of leads come into force at one position of the log.
import { z } from 'zod';
import { id, time } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { defineRecord, type PayloadOf } from './record.js';
import { replayedPartitions } from './what-if.js';

const scoreType = z.enum(levelledScoreTypes);
const rulesetId = id
  .optional()
  .describe('Only the points of this ruleset are computed anew. Absent: all points.');
const fireTriggers = z.boolean().describe('Whether triggers may fire on the new scores.');

const asked = {
  score_type: scoreType,
  ruleset_id: rulesetId,
  dry_run: z.boolean().describe('Only say what would change.'),
  fire_triggers: fireTriggers.optional(),
};

export const startRescoring = defineRecord({
  type: 'StartRescoring',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Compute the scores of an organizational unit anew from its recorded history, as a job.',
  schema: z.strictObject({ ou_id: id, job_id: id, ...asked, ...requested }),
});
export type StartRescoring = PayloadOf<typeof startRescoring>;

export const rescoringWork = z.strictObject({
  kind: z.literal('rescoring'),
  ...asked,
  configuration_version: z.int().min(0).describe('Of the rules by which scores are computed anew.'),
  partitions: replayedPartitions,
});
export type RescoringWork = z.infer<typeof rescoringWork>;

const epoch = {
  ou_id: id,
  job_id: id.describe('The job that has computed the scores.'),
  partition: z.int().min(0),
  group: z
    .int()
    .min(0)
    .describe("Which of the groups of the organizational unit's leads in the partition, from 0."),
  groups: z
    .int()
    .min(1)
    .describe('How many groups there are; more than one only where the leads are very many.'),
  score_type: scoreType,
  ruleset_id: rulesetId,
  configuration_version: z.int().min(0).describe('Of the rules by which the scores were computed.'),
  fire_triggers: fireTriggers,
};

export const activateScoringEpoch = defineRecord({
  type: 'ActivateScoringEpoch',
  topic: 'scoring.commands',
  key: 'partition',
  description:
    'Bring the scores that a job has computed for a group of leads into force, all at once. They take effect once, however often this comes, and not before what has happened since was taken into account.',
  schema: z.strictObject({
    ...epoch,
    scoring_end: z
      .int()
      .min(0)
      .describe(
        'The offset of scoring.events up to which the computed scores have taken decisions into account.',
      ),
    prepared: z.int().min(0).describe('Leads whose scores are computed.'),
    requested_at: time,
  }),
});
export type ActivateScoringEpoch = PayloadOf<typeof activateScoringEpoch>;

export const scoringEpochActivated = defineRecord({
  type: 'ScoringEpochActivated',
  topic: 'scoring.events',
  key: 'partition',
  description:
    'The scores that a rescoring has computed for the leads of a partition have come into force, with everything taken into account that was decided before. ' +
    'It is the last record of its transaction: the ScoreAdjusted with `rescored` before it say the new score of each lead that changes, and from here on all are in force. ' +
    'Whoever folds ScoreAdjusted has the new scores without looking at this.',
  schema: z.strictObject({
    ...epoch,
    leads: z.int().min(0).describe('Leads of which something has changed.'),
    at: time,
  }),
});
export type ScoringEpochActivated = PayloadOf<typeof scoringEpochActivated>;

export const rescoringRecords = [startRescoring, activateScoringEpoch, scoringEpochActivated] as const;
