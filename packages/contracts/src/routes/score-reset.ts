// The reset of a lead's score.
import { z } from 'zod';
import { id, leadId, score, time } from '../common.js';
import { resetReason } from '../records/score-adjusted.js';
import { defineRoute, editor } from './route.js';

export const resetScores = defineRoute({
  name: 'resetScores',
  method: 'POST',
  path: '/leads/{leadID}/reset-scores',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag: 'Leads',
  summary: "Restart a lead's score from zero",
  description:
    'The score is 0 when this is answered, and so are those of its rulesets; what the lead does from then on counts. Events and earlier decisions stay, and the explanation shows when the score was reset. No trigger fires because of a reset; a milestone trigger that had fired may fire again once the score crosses its threshold again. Events that are accepted and not scored yet count after the reset: wait for their position first (`min_position` of GET /score/{leadID}).',
  parameters: z.strictObject({ leadID: leadId }),
  body: z.strictObject({ reason: resetReason.optional().describe('Why, for those who read the log.') }),
  responses: {
    200: {
      description: 'Reset',
      schema: z
        .strictObject({
          lead_id: id,
          previous_score: score,
          score: score.describe('0.'),
          score_reset_at: time,
        })
        .meta({ id: 'ScoreReset' }),
    },
  },
  problems: ['lead_not_found'],
});
