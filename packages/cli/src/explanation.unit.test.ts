// The points in the table of an explanation add up to the score in its headline.
import { expect, test } from '@jest/globals';
import type { CallAnswer } from '@lead-scoring/client';
import fc from 'fast-check';
import { explanation } from './explanation.js';

type Explanation = CallAnswer<'explainScore'>;

const at = '2026-01-31T09:30:00.000Z';
const [pricing, blog, plain, unknown] = ['1', '2', '3', '4'].map(
  (digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`,
) as [string, string, string, string];
const driver = (rule_id: string, weight: number, count = 1): Explanation['top_drivers'][number] => ({
  rule_id,
  event_type: 'Page View',
  count,
  weight,
  total: count * weight,
  rule_version: 1,
});
const entry = (rule_id: string, rule_version = 1): Explanation['entries'][number] => ({
  event_id: pricing,
  event_type: 'Page View',
  timestamp: at,
  scored_at: at,
  rule_id,
  rule_version,
  points: 10,
  configuration_version: 1,
});
const answer = (more: Partial<Explanation>): Explanation => ({
  lead_id: pricing,
  lead_name: 'Ada',
  score: 20,
  level: null,
  top_drivers: [],
  snapshot: [],
  decay_applied: 0,
  range_hours: 24,
  at,
  unattributed: 0,
  entries: [],
  entries_total: 0,
  ...more,
});

/** The points of each row; the last is the sum. */
function points(text: string): number[] {
  const [table = ''] = text.split('\n\n').slice(1);
  return table
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => Number(/^\s*(-?\d+)/.exec(line)?.[1]));
}

test('points from before the range have a row of their own, which names the flag that shows more', () => {
  const text = explanation(answer({ score: 45, top_drivers: [driver(pricing, 10, 2)], decay_applied: -5 }));
  expect(points(text)).toEqual([20, -5, 30, 45]);
  expect(text).toMatch(/30 +from events before the last 24 hours; --hours shows more/);
});

test('when all points are from before the range, a row says that no rule gave points in it', () => {
  const text = explanation(answer({ score: 45 }));
  expect(points(text)).toEqual([0, 45, 45]);
  expect(text).toContain('no rule gave points in the last 24 hours');
});

test('an entry whose points a limit holds back shows what counts of them, and the limit has a row of its own', () => {
  const text = explanation(
    answer({
      score: 10,
      top_drivers: [
        { ...driver(pricing, 10, 2), label: 'Prices', counted: 1, counted_total: 10, limits: 'once a lead' },
      ],
      adjustments: [
        {
          reason: 'capped_by_rule',
          count: 1,
          points: -10,
          last_at: at,
          text: 'Prices: 1 of 2 counted, once a lead',
        },
      ],
      entries: [{ ...entry(pricing), counted_points: 0 }, entry(pricing)],
      entries_total: 2,
    }),
  );
  expect(points(text)).toEqual([20, -10, 10]);
  expect(text).toMatch(/-10 +once +Prices: 1 of 2 counted/);
  expect(text).toMatch(/ 0 of 10 +Page View +Prices, version 1\n.* 10 +Page View +Prices, version 1/);
});

test('the points add up to the score, for any parts of the score', () => {
  const weight = fc.integer({ min: -1_000, max: 1_000 });
  fc.assert(
    fc.property(
      fc.integer(),
      fc.array(weight),
      weight,
      fc.integer({ max: 0, min: -500 }),
      (score, weights, held, decay_applied) => {
        const adjustments = [
          {
            reason: 'held_at_largest_score' as const,
            count: 1,
            points: held,
            last_at: at,
            text: 'Held at the largest score that there is',
          },
        ];
        const top_drivers = weights.map((one) => driver(pricing, one));
        const rows = points(explanation(answer({ score, top_drivers, adjustments, decay_applied })));
        const sum = rows.pop();
        expect(sum).toBe(score);
        expect(rows.reduce((total, row) => total + row, 0)).toBe(score);
      },
    ),
  );
});

test('an entry names its rule by the label, else by the filter, else by the event type', () => {
  const text = explanation(
    answer({
      top_drivers: [
        { ...driver(pricing, 10), label: 'Pricing', rule_version: 2 },
        { ...driver(pricing, 5), label: 'Prices' },
        { ...driver(blog, 2), filter_label: 'path contains "/blog"' },
        driver(plain, 1),
      ],
      entries: [entry(pricing, 2), entry(pricing), entry(blog), entry(plain), entry(unknown)],
      entries_total: 5,
    }),
  );
  const rules = text
    .split('\n')
    .filter((line) => line.includes(', version'))
    .map((line) => line.replace(/^.*Page View +/, ''));
  expect(rules).toEqual([
    'Pricing, version 2',
    'Prices, version 1',
    'path contains "/blog", version 1',
    'every Page View, version 1',
    `${unknown}, version 1`,
  ]);
});

test('the headline names the explained moment, and what was known where that was asked for', () => {
  expect(explanation(answer({}))).toMatch(/^Ada has 20 points \(2026-01-31 09:30\)\.\n/);
  expect(explanation(answer({ known_at: '2026-02-01T00:00:00.000Z' }))).toMatch(
    /^Ada has 20 points \(2026-01-31 09:30, as known 2026-02-01 00:00\)\.\n/,
  );
});

test('a reset is named, and point entries from before it are marked', () => {
  const text = explanation(
    answer({
      score: 10,
      top_drivers: [driver(pricing, 10)],
      score_reset_at: at,
      entries: [entry(pricing), { ...entry(blog), before_reset: true }],
      entries_total: 2,
    }),
  );
  expect(text).toContain(
    'The score was restarted from zero (2026-01-31 09:30): what was given before counts no more.',
  );
  expect(points(text)).toEqual([10, 10]);
  expect(text.match(/before the reset/g)).toHaveLength(1);
});

test('a rescoring is named with its job, and point entries from before it are marked', () => {
  const text = explanation(
    answer({
      score: 30,
      top_drivers: [driver(pricing, 30)],
      rescored: { job_id: `scoring-${unknown}`, at },
      entries: [
        entry(pricing),
        { ...entry(blog), replaced_by: `scoring-${unknown}` },
        { ...entry(blog), before_reset: true, replaced_by: `scoring-${unknown}` },
      ],
      entries_total: 3,
    }),
  );
  expect(text).toContain(
    `The score was computed anew (2026-01-31 09:30, scoring-${unknown}): that takes the place of what was given before.`,
  );
  expect(text.match(/before the rescoring/g)).toHaveLength(1);
  expect(text.match(/before the reset/g)).toHaveLength(1);
});

test('a profile score is said to be one, and its changes are listed in words', () => {
  const text = explanation(
    answer({
      score_type: 'profile',
      score: 40,
      top_drivers: [{ ...driver(pricing, 40), label: 'Decides', filter_label: 'seniority is "vp"' }],
      profile_entries: [
        {
          rule_id: pricing,
          rule_version: 1,
          ruleset_id: blog,
          points: 40,
          decided_at: at,
          configuration_version: 1,
          words: '+40: the profile began to meet "Decides" (seniority is "vp").',
        },
      ],
    }),
  );
  expect(text).toContain('Ada has 40 points for its profile (2026-01-31 09:30).');
  expect(text).toMatch(/^POINTS +HOW +WHY$/m);
  expect(points(text)).toEqual([40, 40]);
  expect(text).toContain('1 change in the last 24 hours:');
  expect(text).toContain('2026-01-31 09:30  +40: the profile began to meet "Decides" (seniority is "vp").');
});

test('an account score lists the reasons that add up to it, and a lead without an account is said to have none', () => {
  const account: NonNullable<Explanation['account']> = {
    id: blog,
    name: 'Acme',
    leads: 1_315,
    roll_up: { method: 'sum' },
    reasons: [
      { reason: 'leads', points: 135, words: '+135: the sum of the scores of its 1,315 leads.' },
      { reason: 'account_rule', points: 25, words: '+25: the account meets "Many people".' },
    ],
  };
  const text = explanation(answer({ score_type: 'account', score: 160, account }));
  expect(text).toBe(
    'Ada has 160 points for its account Acme (2026-01-31 09:30).\n\n' +
      '+135: the sum of the scores of its 1,315 leads.\n+25: the account meets "Many people".\n',
  );
  expect(explanation(answer({ score_type: 'account', score: 0 }))).toBe(
    'Ada has 0 points: it belongs to no account (2026-01-31 09:30).\n',
  );
});
