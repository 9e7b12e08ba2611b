// Rescoring: scores computed anew from the recorded history by the rules of now. A dry run only says what would change.
import { z } from 'zod';
import { id, score } from '../common.js';
import { jobId } from '../records/job-id.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { defineRoute, editor } from './route.js';
import { countedLeads, countedMoves, moversOf, reasonOfMove, reasonsOfMove } from './compared-leads.js';

const eitherWay = z.enum(['true', 'false'], 'must be true or false');

const rescoring = {
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag: 'Scoring configuration',
  method: 'POST',
  query: z.strictObject({
    dry_run: eitherWay.default('false').describe('Only say what would change.').meta({ example: 'true' }),
    fire_triggers: eitherWay
      .default('false')
      .describe('Whether triggers fire on the leads whose scores change. Of no effect on a dry run.'),
  }),
  responses: {
    202: {
      description: 'The job has begun',
      schema: z.strictObject({ job_id: jobId }).meta({ id: 'RescoringStarted' }),
    },
  },
} as const;

const howItWorks =
  'A job replays the recorded history by the rules of now, as if they had always been in force, decay rules too, and compares what comes of it with the recorded scores. Meanwhile events are scored as before, and lists, explanations and triggers have the scores of before. Then the new scores come into force, partition by partition, each at one position of its log (`ScoringEpochActivated` on `scoring.events`), with everything taken into account that was scored up to there; no trigger fires unless `fire_triggers=true`. GET /jobs/{id} shows how far it is (`total` and `done` count records of the log that it reads) and, when it is completed, its `result`: how many leads rise, fall, stay and come into another level, and who moves most, and why, as of the beginning of the job. A job that is cancelled changes no score of partitions whose new scores are not in force yet. With `dry_run=true` no score changes. An organizational unit has one rescoring at a time; another is refused (409 `job_running`, which names it).';

export const scoreNow = defineRoute({
  ...rescoring,
  name: 'scoreNow',
  path: '/scoring/rulesets/{dimension}/{id}/score-now',
  summary: 'Compute the points of a ruleset anew from the recorded history',
  description: `${howItWorks} The points of other rulesets stay, and what decay rules took from the whole score.`,
  parameters: z.strictObject({
    dimension: z
      .enum(
        levelledScoreTypes,
        'must be engagement or profile: scores of accounts and deals are not computed from the history',
      )
      .describe('The `score_type` of the ruleset.'),
    id,
  }),
  problems: ['job_running', 'ruleset_not_found'],
});

export const backfillScores = defineRoute({
  ...rescoring,
  name: 'backfillScores',
  path: '/backfill/scores',
  summary: 'Compute all engagement scores anew from the recorded history',
  description: howItWorks,
  problems: ['job_running'],
});

export const backfillProfiles = defineRoute({
  ...rescoring,
  name: 'backfillProfiles',
  path: '/backfill/profiles',
  summary: 'Compute all profile scores anew from the recorded history',
  description: `${howItWorks} The values of profiles are read again from the metadata of events, by the mappings of now.`,
  problems: ['job_running'],
});

const side = z.strictObject(countedLeads).meta({ id: 'RescoringSide' });

const reason = z
  .strictObject({
    ...reasonOfMove,
    now: z.int().describe('The points that the lead has from it.'),
    rescored: z.int().describe('The points that it would have.'),
  })
  .meta({ id: 'RescoringReason' });

const mover = z
  .strictObject({
    lead_id: id,
    name: z.string().max(512),
    now: score,
    rescored: score,
    why: reasonsOfMove(reason),
  })
  .meta({ id: 'RescoringMover' });

export const rescoringResult = z
  .strictObject({
    dry_run: z.boolean().describe('Whether the scores stayed as they were.'),
    configuration_version: z.int().min(0).describe('Of the rules by which scores were computed anew.'),
    overtaken: z
      .boolean()
      .describe(
        'Whether the configuration has changed since the job began: the result is then about earlier rules.',
      ),
    ...countedMoves,
    now: side.describe('The recorded scores, as they were when the job began.'),
    rescored: side,
    movers: moversOf(mover),
  })
  .describe(
    'What a completed rescoring has found. Events that were accepted and not scored when it began count on neither side. Scores of 1,024 and more are counted in steps of at most 0.2 %.',
  )
  .meta({ id: 'RescoringResult' });
export type RescoringResult = z.infer<typeof rescoringResult>;
