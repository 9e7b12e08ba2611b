// Crossings of levels: the event that scoring appends right after a decision whose score comes to another level.
import { z } from 'zod';
import { id, score, time } from '../common.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { defineRecord, type PayloadOf } from './record.js';

export const leadLevelChanged = defineRecord({
  type: 'LeadLevelChanged',
  topic: 'scoring.events',
  key: 'lead_id',
  description:
    'A decision took the lead to another level, into its first one, or out of all. It follows the decision directly, in the same transaction. ' +
    'Both levels are those of the configuration that decided: new levels alone (EngagementLevelsSet) move no lead and append none of these. ' +
    'A backfill of levels (cause levels) tells of a lead that new levels have left in another level than was told last; its score is that of before. ' +
    'LeadRemoved ends the level of a deleted lead.',
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    score_type: z.enum(levelledScoreTypes).describe('Whose levels they are.'),
    previous_level_id: id
      .nullable()
      .describe(
        'null: the previous score is in no level, or the lead is new. With the cause levels: the level that was told last, which may be gone.',
      ),
    level_id: id.nullable().describe('null: the score is in no level.'),
    level_name: z.string().max(100).nullable().describe('As the OU spelled it when this was decided.'),
    previous_score: score,
    score,
    configuration_version: z
      .int()
      .min(0)
      .describe("The version of the OU's configuration, levels included, that decided."),
    changed_at: time.describe('The moment from which the score counts: the decided_at of the decision.'),
    cause: z
      .enum(['events', 'reset', 'decay', 'profile', 'rescoring', 'levels', 'event_deletion'])
      .describe(
        'What was decided on: events of the lead, a reset, time without events, its profile, a rescoring of its whole history, new levels that a backfill tells of, or the deletion of events of a type.',
      ),
    fire_triggers: z.boolean().describe('That of the decision: false for imported history.'),
  }),
});
export type LeadLevelChanged = PayloadOf<typeof leadLevelChanged>;
