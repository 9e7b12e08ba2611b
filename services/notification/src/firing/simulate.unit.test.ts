// The simulation of a trigger over histories in which scores were rescored.
import { describe, expect, test } from '@jest/globals';
import { emptyConfiguration, type ScoreDecision } from '@lead-scoring/scoring-domain';
import type { ExplanationReader } from '@lead-scoring/explanations';
import { act, idOf, leadScored, milestone, ouId, scoreRescored, second } from '../testing/firing-builders.js';
import { simulateMilestone } from './simulate.js';

/** A reader that has these decisions on one lead. */
function readerOf(decisions: readonly ScoreDecision[]): ExplanationReader {
  return {
    // oxlint-disable-next-line typescript/require-await
    decisionsOf: async function* () {
      yield* decisions;
    },
    names: () => Promise.resolve(new Map()),
  } as Partial<ExplanationReader> as ExplanationReader;
}

describe('a milestone simulated over a history with a rescoring', () => {
  const imported = { fire_triggers: false };
  const simulated = async (score_type: 'engagement' | 'profile', fire_triggers: boolean) => {
    const decisions = [
      { ...leadScored([act('view', 'Page View', 0, 120)], 0, 1), ...imported },
      scoreRescored(score_type === 'engagement' ? 120 : 0, 20, 5),
      scoreRescored(20, 130, 10, { score_type, fire_triggers, rescored: { job_id: idOf('rescoring') } }),
    ];
    const { data } = await simulateMilestone(
      { explanations: readerOf(decisions), scoring: emptyConfiguration(ouId) },
      milestone({ score_type }),
      { from: second(0), to: second(60) },
      { timeMs: 60_000, events: 1_000 },
    );
    return data.map(({ score, cause }) => [score, cause.reason]);
  };

  test('fires on imported history, and on the rescoring only where that was to fire triggers', async () => {
    expect(await simulated('engagement', false)).toEqual([[120, undefined]]);
    expect(await simulated('profile', false)).toEqual([]);
    expect(await simulated('engagement', true)).toEqual([
      [130, 'rescoring'],
      [120, undefined],
    ]);
    expect(await simulated('profile', true)).toEqual([[130, 'rescoring']]);
  });
});
