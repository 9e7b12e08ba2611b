// A decision that is stored and read again has all that an explanation needs.
import { expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import { scoreRescored } from '@lead-scoring/scoring-domain/testing';
import { toDecision, toDecisionDocument } from './model.js';

const tick: records.ScoreAdjusted = {
  ou_id: '11111111-1111-4111-8111-111111111111',
  lead_id: '22222222-2222-4222-8222-222222222222',
  score_type: 'engagement',
  previous_score: 20,
  score: 15,
  configuration_version: 3,
  adjustments: [{ reason: 'decay', points: -5, rule_id: '33333333-3333-4333-8333-333333333333', tick: 1 }],
  decided_at: '2026-01-08T12:00:05.000Z',
  as_of: '2026-01-08T12:00:00.000Z',
  fire_triggers: true,
};

test('a tick of a decay rule keeps its time, at which its points count', () => {
  const document = toDecisionDocument(tick, Buffer.from(JSON.stringify(tick)), { partition: 0, offset: 7 });
  expect(toDecision(document)).toEqual({
    decided_at: tick.decided_at,
    as_of: tick.as_of,
    configuration_version: 3,
    scored_events: [],
    adjustments: tick.adjustments,
    score: 15,
    offset: 7,
  });
});

test('a decision of a rescoring keeps what the rescoring came to, with which explanations begin', () => {
  const rescored = scoreRescored('ada', 20, { matches: [{ rule: 'view', points: 5, count: 5 }] });
  const document = toDecisionDocument(rescored, Buffer.from(JSON.stringify(rescored)), {
    partition: 0,
    offset: 8,
  });
  expect(toDecision(document)).toMatchObject({ score: 25, rescored: rescored.rescored });
});
