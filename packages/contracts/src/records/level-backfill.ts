// The job that compares the levels of all leads with those that were last told of them, and what it tells each lead where they differ.
import { z } from 'zod';
import { id, score, time } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { defineRecord, type PayloadOf } from './record.js';
import { maximumLevels } from './scoring.js';
import { replayedPartitions } from './what-if.js';

const asked = { dry_run: z.boolean().describe('Only say what would be told.') };

export const startLevelBackfill = defineRecord({
  type: 'StartLevelBackfill',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Tell of every lead of an organizational unit whose level is not the one last told, as a job.',
  schema: z.strictObject({ ou_id: id, job_id: id, ...asked, ...requested }),
});
export type StartLevelBackfill = PayloadOf<typeof startLevelBackfill>;

export const levelBackfillWork = z.strictObject({
  kind: z.literal('level-backfill'),
  ...asked,
  partitions: replayedPartitions,
});
export type LevelBackfillWork = z.infer<typeof levelBackfillWork>;

const count = z.int().min(0);

const placedLeads = z.strictObject({
  entering: count,
  moving: count,
  leaving: count,
  unchanged: count,
  levels: z
    .array(z.strictObject({ id, name: z.string().max(100), leads: count, told: count }))
    .max(maximumLevels),
});
export type PlacedLeads = z.infer<typeof placedLeads>;

export const levelBackfillFound = z.strictObject({ engagement: placedLeads, profile: placedLeads });
export type LevelBackfillFound = z.infer<typeof levelBackfillFound>;

export const tellLevel = defineRecord({
  type: 'TellLevel',
  topic: 'scoring.commands',
  key: 'lead_id',
  description:
    'Tell the level of a lead if it is still another one than was told last. A crossing that was decided since has told it.',
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    score_type: z.enum(levelledScoreTypes),
    told_level_id: id.nullable().describe('The level that was told last; null: none.'),
    seen_score: score.describe('The score that the job has seen.'),
    configuration_version: z.int().min(0).describe('The version of the configuration that the job has seen.'),
    decided_at: time,
  }),
});
export type TellLevel = PayloadOf<typeof tellLevel>;

export const levelBackfillRecords = [startLevelBackfill, tellLevel] as const;
