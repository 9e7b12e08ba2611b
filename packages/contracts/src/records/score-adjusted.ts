// Score decisions that no event caused: the command that asks for a reset, and the record of every such decision.
import { z } from 'zod';
import { id, name, score, time } from '../common.js';
import { recordedActor, requested } from '../vocabulary/actor.js';
import { deletedOfLead } from './event-deletion.js';
import { defineRecord, type PayloadOf } from './record.js';
import { rescored } from './rescored.js';
import { adjustment, decayDueAt } from './scoring.js';

/** Why a person resets a score, in their words. */
export const resetReason = name(500).meta({ example: 'Handed back by sales: nurture from the start' });

export const resetScores = defineRecord({
  type: 'ResetScores',
  topic: 'scoring.commands',
  key: 'lead_id',
  description: "Restart a lead's score from zero. The lead's events and earlier decisions stay.",
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    reset_id: id.describe('A reset takes effect once, however often it comes.'),
    reason_text: resetReason.optional(),
    ...requested,
  }),
});
export type ResetScores = PayloadOf<typeof resetScores>;

export const scoreAdjusted = defineRecord({
  type: 'ScoreAdjusted',
  topic: 'scoring.events',
  key: 'lead_id',
  description:
    'A decision that changed a score without an event of the lead: the score before and after, and why. ' +
    'A `reset` restarts the score from zero: what earlier decisions gave no longer explains it. ' +
    'A deal score changes when a deal does that the lead named: each adjustment names its deal. ' +
    'A `decay` is one tick of one decay rule; `as_of` is the time of the tick, whenever it was decided. ' +
    'A `rescored` puts the score that a job has computed anew in the place of the one of before; ScoringEpochActivated follows those of its partition. ' +
    'An `events_deleted` does the same without the events of a type that were deleted; `deleted` says which.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    score_type: z.enum(['engagement', 'profile', 'deal']),
    previous_score: score,
    score,
    configuration_version: z.int().min(0).describe("The version of the OU's configuration that decided."),
    adjustments: z.array(adjustment).min(1).max(1_000).describe('previous_score and these make score.'),
    decided_at: time.describe('The moment from which the score counts.'),
    as_of: time.optional().describe('The moment of the clock of events that the decision answers for.'),
    fire_triggers: z.boolean(),
    decay_due_at: decayDueAt,
    rescored,
    deleted: deletedOfLead,
    reset_id: id.optional().describe('The reset that this decides.'),
    actor: recordedActor.optional(),
    reason_text: resetReason.optional(),
  }),
});
export type ScoreAdjusted = PayloadOf<typeof scoreAdjusted>;

export const scoreAdjustedRecords = [resetScores, scoreAdjusted] as const;
