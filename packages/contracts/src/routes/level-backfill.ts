// Telling of all leads whose level is not the one that consumers of the log were told last.
import { z } from 'zod';
import { jobId } from '../records/job-id.js';
import { levelBackfillFound } from '../records/level-backfill.js';
import { defineRoute, editor } from './route.js';

export const backfillLevels = defineRoute({
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag: 'Scoring configuration',
  method: 'POST',
  name: 'backfillLevels',
  path: '/backfill/levels',
  summary: 'Tell consumers of the log the level of every lead',
  description:
    "The level of a lead follows from its score whenever it is read, so new levels are in force at once, and move nobody: consumers of `scoring.events` learn of a lead's level when a decision takes it to another one (`LeadLevelChanged`). After the levels were set for the first time or changed, they do not know where most leads are. A job compares, for engagement and profile scores, the level of each lead with the one that was told last, and where they differ appends `LeadLevelChanged` with the cause `levels`, so that a consumer that folds these records alone knows the level of every lead. No score changes, and no trigger fires. GET /jobs/{id} shows how far it is (`total` and `done` count records of the log that it reads) and, when it is completed, its `result`: how many leads it was told of. With `dry_run=true` nothing is told. An organizational unit has one such job at a time; another is refused (409 `job_running`, which names it).",
  query: z.strictObject({
    dry_run: z
      .enum(['true', 'false'], 'must be true or false')
      .default('false')
      .describe('Only say what would be told.')
      .meta({ example: 'true' }),
  }),
  responses: {
    202: {
      description: 'The job has begun',
      schema: z.strictObject({ job_id: jobId }).meta({ id: 'LevelBackfillStarted' }),
    },
  },
  problems: ['job_running'],
});

const counts = levelBackfillFound.shape.engagement.shape;
const placed = z
  .strictObject({
    entering: counts.entering.describe('Leads that are in a level, and were last told to be in none.'),
    moving: counts.moving.describe('Leads that are in another level than was last told.'),
    leaving: counts.leaving.describe('Leads that are in no level any more, and were last told to be in one.'),
    unchanged: counts.unchanged.describe('Leads whose level was told.'),
    levels: counts.levels.describe(
      'Each level with the leads that are in it (`leads`), and those that were told to be in it before the job (`told`).',
    ),
  })
  .meta({ id: 'PlacedLeads' });

export const levelBackfillResult = z
  .strictObject({
    dry_run: z.boolean().describe('Whether nothing was told.'),
    engagement: placed.describe('By engagement score.'),
    profile: placed.describe('By profile score. No leads where there is no profile scoring.'),
  })
  .describe('What a completed backfill of levels has found, as of the moment when it looked at each lead.')
  .meta({ id: 'LevelBackfillResult' });
export type LevelBackfillResult = z.infer<typeof levelBackfillResult>;
