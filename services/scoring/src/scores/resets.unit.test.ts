// Given a lead's score, when its reset is asked for, then it restarts from zero: once for each command.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { foldAdjusted } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { at, idOf, ingested, ouId, resetScores } from '../testing/builders.js';
import { viewRules } from '../testing/view-rules.js';
import { decideScore } from './decide.js';
import { decideResets } from './resets.js';

const actor = { kind: 'token', id: idOf('token'), name: 'Ada' } as const;

function scoredLead(views: number): Lead {
  const [decision] = decideScore(
    ingested(
      'ada',
      Array.from({ length: views }, () => ({})),
    ),
    null,
    viewRules(),
  );
  if (!decision) throw new Error('nothing was decided');
  return foldLead(null, decision, 0);
}

const decide = (lead: Lead | null, ...commands: records.ResetScores[]) =>
  decideResets(
    commands,
    () => lead,
    () => ({ version: 7, decays: null }),
  );

describe('a reset', () => {
  test('is recorded with the score before, the reason, the actor and the configuration', () => {
    const [decision] = decide(scoredLead(2), resetScores('ada', { reason_text: 'Back to marketing', actor }));
    const event = decision?.outcome === 'reset' ? decision.event : null;
    expect(records.scoreAdjusted.schema.safeParse(event).error).toBeUndefined();
    expect(event).toEqual({
      ou_id: ouId,
      lead_id: idOf('ada'),
      score_type: 'engagement',
      previous_score: 20,
      score: 0,
      configuration_version: 7,
      adjustments: [{ reason: 'reset', points: -20 }],
      decided_at: at,
      fire_triggers: false,
      reset_id: idOf('reset of ada'),
      actor,
      reason_text: 'Back to marketing',
    });
  });

  test('of a lead that does not exist is refused', () => {
    expect(decide(null, resetScores('ada'))).toEqual([{ outcome: 'lead_not_found' }]);
  });

  test('empties the score and those of rulesets; nothing else of the lead changes', () => {
    const lead = scoredLead(2);
    const [decision] = decide(lead, resetScores('ada'));
    if (decision?.outcome !== 'reset' || !decision.event) throw new Error('not decided');
    const { score, rulesets, resets, offset, ...rest } = foldAdjusted(lead, decision.event, 5);
    const { score: before, rulesets: points, offset: last, ...unchanged } = lead;
    expect({ before, points, last }).toEqual({
      before: 20,
      points: [{ ruleset_id: expect.any(String), score: 20 }],
      last: 0,
    });
    expect({ score, rulesets, offset }).toEqual({ score: 0, rulesets: [], offset: 5 });
    expect(resets).toEqual([decision.reset]);
    expect(rest).toEqual(unchanged);
  });

  test('that comes again, in one batch or later, gets the first answer and changes nothing', () => {
    const lead = scoredLead(2);
    const [first, again] = decide(lead, resetScores('ada'), resetScores('ada'));
    if (first?.outcome !== 'reset' || !first.event) throw new Error('not decided');
    expect(again).toEqual({ ...first, event: null });
    const scored = foldLead(
      foldAdjusted(lead, first.event, 5),
      decideScore(ingested('ada', [{}]), { score: 0 }, viewRules())[0] as records.LeadScored,
      6,
    );
    expect(scored.score).toBe(10);
    expect(decide(scored, resetScores('ada'))).toEqual([again]);
    const other = resetScores('ada', { reset_id: idOf('another') });
    expect(decide(scored, other)).toMatchObject([{ event: { previous_score: 10, score: 0 } }]);
  });

  test.each([2_147_483_647, -2_147_483_648])('of a score of %d is a valid record', (score) => {
    const [decision] = decide({ ...scoredLead(1), score }, resetScores('ada'));
    expect(
      decision?.outcome === 'reset' && records.scoreAdjusted.schema.safeParse(decision.event).error,
    ).toBe(undefined);
  });
});
