// The command that asks for a rescoring, and the work of its job: scores computed anew from the recorded history by the rules of now.
import { z } from 'zod';
import { id } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { defineRecord, type PayloadOf } from './record.js';
import { replayedPartitions } from './what-if.js';

const asked = {
  score_type: z.enum(levelledScoreTypes),
  ruleset_id: id
    .optional()
    .describe('Only the points of this ruleset are computed anew. Absent: all points.'),
  dry_run: z.literal(true).describe('Only say what would change.'),
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

export const rescoringRecords = [startRescoring] as const;
