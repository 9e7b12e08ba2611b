// The points that limits held back, in sentences for a person.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import { emptyConfiguration, evolveConfiguration, type ScoringConfiguration } from './configuration.js';
import { explainScore, publicExplanation } from './explanation.js';
import { limitsInWords, type RuleLimits, type RulesetLimits } from './limits.js';
import { at, idOf, leadScored, ouId, ruleCreated, rulesetCreated } from './testing/builders.js';

test.each<[RuleLimits, string | undefined]>([
  [{}, undefined],
  [{ once_per: 'event' }, undefined],
  [{ max_count: 3 }, 'at most 3 a lead'],
  [{ once_per: 'lead' }, 'once a lead'],
  [{ once_per: 'value:path', max_count: 1_200 }, 'once for each path and at most 1,200 a lead'],
  [{ cap_points: 1 }, 'at most 1 point a lead'],
  [{ cap_points: 50, cap_days: 1 }, 'at most 50 points a day'],
  [{ cap_points: 50, cap_days: 7 }, 'at most 50 points in 7 days'],
])('%j in words: %s', (limits, words) => {
  expect(limitsInWords(limits)).toBe(words);
});

const configuration = (
  rule: Partial<records.RuleCreated>,
  ruleset: RulesetLimits = {},
): ScoringConfiguration =>
  [
    { type: 'RulesetCreated' as const, payload: rulesetCreated(ruleset) },
    { type: 'RuleCreated' as const, payload: ruleCreated('pricing', 10, { label: 'Pricing', ...rule }) },
  ].reduce(evolveConfiguration, emptyConfiguration(ouId));

/** Five events of ten points, of which these counted. */
function decision(counted: readonly number[], more: Partial<records.LeadScored> = {}): records.LeadScored {
  const made = leadScored('ada', { rule: 'pricing', points: 10, times: counted.length });
  const score = counted.reduce((sum, points) => sum + points, 0);
  return {
    ...made,
    score,
    scored_events: made.scored_events.map((event, index) => ({
      ...event,
      matches: event.matches.map((match) =>
        counted[index] === 10 ? match : { ...match, counted_points: counted[index] ?? 0 },
      ),
    })),
    adjustments: [
      {
        reason: 'capped_by_rule',
        points: score - 10 * counted.length,
        rule_id: idOf('pricing'),
        rule_version: 1,
        ruleset_id: idOf('ruleset'),
        counted: counted.filter((points) => points !== 0).length,
        matched: counted.length,
      },
    ],
    ...more,
  };
}

const explain = (decisions: records.LeadScored[], current: ScoringConfiguration) =>
  explainScore(
    { id: idOf('ada'), name: 'Ada', score: decisions.at(-1)?.score ?? 0 },
    decisions,
    current,
    current,
    { at, range_hours: 24 },
  );

describe('an explanation', () => {
  test('says how many events of a rule counted, beside the driver with all of them', () => {
    const explanation = explain([decision([10, 10, 10, 0, 0])], configuration({ max_count: 3 }));
    expect(explanation).toMatchObject({
      score: 30,
      unattributed: 0,
      top_drivers: [
        { count: 5, weight: 10, total: 50, counted: 3, counted_total: 30, limits: 'at most 3 a lead' },
      ],
      adjustments: [
        {
          reason: 'capped_by_rule',
          rule_id: idOf('pricing'),
          rule_version: 1,
          ruleset_id: idOf('ruleset'),
          label: 'Pricing',
          count: 2,
          points: -20,
          counted: 3,
          matched: 5,
          text: 'Pricing: 3 of 5 counted, at most 3 a lead',
        },
      ],
    });
    expect(explanation.entries.filter(({ counted_points }) => counted_points === 0)).toHaveLength(2);
    expect(publicExplanation(explanation)).toMatchObject({
      top_drivers: [{ counted: 3, counted_total: 30, limits: 'at most 3 a lead' }],
      adjustments: [{ text: 'Pricing: 3 of 5 counted, at most 3 a lead' }],
    });
    expect(publicExplanation(explanation).top_drivers[0]).not.toHaveProperty('rule_version');
  });

  test('says how many points counted of a rule with cap_points, and how a former version was limited', () => {
    const capped = configuration({ cap_points: 25 });
    const text = 'Pricing: 25 of 50 points counted, at most 25 points a lead';
    expect(explain([decision([10, 10, 5, 0, 0])], capped).adjustments).toMatchObject([{ count: 3, text }]);
    const changed = evolveConfiguration(capped, {
      type: 'RuleCreated',
      payload: ruleCreated('pricing', 10, { label: 'Prices', version: 2, max_count: 9 }),
    });
    expect(explain([decision([10, 10, 5, 0, 0])], changed).adjustments).toMatchObject([{ text }]);
  });

  test.each<[RulesetLimits, number, string]>([
    [{ max_score: 100 }, -30, 'Intent: 30 points held back, at most 100 a lead'],
    [{ min_score: -20 }, 1, 'Intent: 1 point not taken away, at least −20 a lead'],
    [{}, -1, 'Intent: 1 point held back, by a limit that it had'],
  ])('says what limits %j of a ruleset did with %i points', (limits, points, text) => {
    const made = leadScored('ada', { rule: 'pricing', points: 10 });
    const held = {
      ...made,
      score: 10 + points,
      scored_events: made.scored_events.map((event) => ({
        ...event,
        ruleset_adjustments: [{ ruleset_id: idOf('ruleset'), points }],
      })),
      adjustments: [{ reason: 'held_by_ruleset' as const, points, ruleset_id: idOf('ruleset') }],
    };
    expect(explain([held], configuration({}, limits))).toMatchObject({
      score: 10 + points,
      unattributed: 0,
      adjustments: [{ reason: 'held_by_ruleset', points, label: 'Intent', count: 1, text }],
    });
  });

  test('of a rule that is not known any more names the event type', () => {
    expect(explain([decision([10, 0])], emptyConfiguration(ouId)).adjustments).toMatchObject([
      { label: 'Page View', text: 'Page View: 1 of 2 counted' },
    ]);
  });
});
