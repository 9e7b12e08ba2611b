// The reasons of an account score add up to it, and its public form tells of no lead but the one that is shared.
import { describe, expect, test } from '@jest/globals';
import { routeDeclarations, type records } from '@lead-scoring/contracts';
import { explainAccount } from './account-explanation.js';
import { foldAccountPoints, type AccountPoints } from './account-points.js';
import type { ConfigurationEvent } from './configuration-events.js';
import { emptyConfiguration, evolveConfiguration } from './configuration.js';
import { publicExplanation } from './explanation.js';
import { accountRuleCreated, accountScored, at, idOf, ouId, rulesetCreated } from './testing/builders.js';

const events: ConfigurationEvent[] = [
  {
    type: 'RulesetCreated',
    payload: rulesetCreated({
      ruleset_id: idOf('account ruleset'),
      name: 'Companies',
      score_type: 'account',
      max_score: 22,
    }),
  },
  { type: 'AccountRuleCreated', payload: accountRuleCreated('several', 20, { label: 'Several people' }) },
  { type: 'AccountRuleCreated', payload: accountRuleCreated('small', -5) },
];
const configuration = events.reduce(evolveConfiguration, emptyConfiguration(ouId));

const byRule = (rule: string, points: number) => ({
  reason: 'account_rule' as const,
  points,
  rule_id: idOf(rule),
  rule_version: 1,
  ruleset_id: idOf('account ruleset'),
});
const byLeads = (points: number) => ({ reason: 'leads' as const, points });
const heldBack = (points: number) => ({
  reason: 'held_by_ruleset' as const,
  ruleset_id: idOf('account ruleset'),
  points,
});

const folded = (...decisions: records.AccountScored[]) =>
  decisions.reduce<AccountPoints | null>(foldAccountPoints, null);
const moment = { at, range_hours: 720 };
const explained = (points: AccountPoints | null) => {
  const account = points && { ...points, id: idOf('acme'), name: 'Acme' };
  const explanation = explainAccount(
    { lead_id: idOf('ada'), lead_name: 'Ada' },
    account,
    configuration,
    moment,
  );
  expect(routeDeclarations.scoreExplanation.safeParse(explanation).error).toBeUndefined();
  return explanation;
};

describe('the explanation of an account score', () => {
  test('has the roll-up, the rules that the account meets and what limits hold, which add up to the score', () => {
    const { account, ...explanation } = explained(
      folded(
        accountScored('acme.com', { leads: 1, adjustments: [byLeads(10)] }),
        accountScored('acme.com', {
          ...{ previous: 10, leads: 3, roll_up: { method: 'top', leads: 2 } },
          adjustments: [byLeads(5), byRule('small', -5), byRule('several', 20), heldBack(-3)],
        }),
      ),
    );
    expect(explanation).toMatchObject({
      ...{ score: 27, unattributed: 0, level: null, entries: [] },
      top_drivers: [
        { rule_id: idOf('several'), total: 20, label: 'Several people' },
        { rule_id: idOf('small'), total: -5 },
      ],
      snapshot: [
        { event_type: 'Account', weight: 20 },
        { event_type: 'Account', weight: -5 },
      ],
    });
    expect(account?.reasons.map(({ reason, words }) => [reason, words])).toEqual([
      ['leads', '+15: the sum of the 2 highest scores of its 3 leads.'],
      ['account_rule', '+20: the account meets "Several people" (several is "yes").'],
      ['account_rule', '-5: the account meets the rule (small is "yes").'],
      ['held_by_ruleset', '-3: Companies: 3 points held back, at most 22 an account.'],
    ]);
  });

  test('names a rule of which nothing is known any more as deleted', () => {
    const points = folded(
      accountScored('acme.com', { leads: 1, adjustments: [byLeads(10), byRule('gone', 4)] }),
    );
    expect(explained(points).account?.reasons[1]?.words).toBe(
      '+4: the account meets a rule that was deleted since.',
    );
  });

  test.each([
    ['none', 2, 'the scores of its 2 leads do not count'],
    ['sum', 1, 'the sum of the scores of its lead'],
    ['mean', 2, 'the mean of the scores of its 2 leads'],
    ['max', 2, 'the highest score of its 2 leads'],
  ] as const)('says of the roll-up %s how the leads count', (method, leads, words) => {
    const points = folded(
      accountScored('acme.com', { leads, roll_up: { method }, adjustments: [byLeads(7)] }),
    );
    expect(explained(points).account?.reasons[0]?.words).toBe(`+7: ${words}.`);
  });

  test('of a lead without an account is the score 0', () => {
    expect(explained(null)).toMatchObject({ score: 0, top_drivers: [], unattributed: 0 });
    expect(explained(null)).not.toHaveProperty('account');
  });

  test('of an account that lost its last lead is that of none, and a later one begins anew', () => {
    const [joined, left] = [
      accountScored('acme.com', { leads: 1, adjustments: [byLeads(10), byRule('several', 20)] }),
      accountScored('acme.com', {
        previous: 30,
        leads: 0,
        adjustments: [byLeads(-10), byRule('several', -20)],
      }),
    ];
    expect(folded(joined, left)).toBeNull();
    const again = accountScored('acme.com', { leads: 1, adjustments: [byLeads(4)] });
    expect(folded(joined, left, again)).toEqual(folded(again));
  });
});

describe('the public explanation of an account score', () => {
  test('says how many leads count and how, and has no id of the account or of a lead', () => {
    const contributions = ['ada', 'bob'].map((lead) => ({
      lead_id: idOf(lead),
      previous_score: null,
      score: 5,
    }));
    const shown = publicExplanation(
      explained(
        folded(
          accountScored('acme.com', {
            ...{ leads: 2, contributions },
            adjustments: [byLeads(10), byRule('several', 20)],
          }),
        ),
      ),
    );
    expect(routeDeclarations.publicScoreExplanation.parse(shown)).toMatchObject({
      ...{ lead_name: 'Ada', score_type: 'account', score: 30 },
      account: {
        name: 'Acme',
        leads: 2,
        roll_up: { method: 'sum' },
        reasons: [
          { reason: 'leads', points: 10, words: '+10: the sum of the scores of its 2 leads.' },
          {
            ...{ reason: 'account_rule', rule_id: idOf('several'), points: 20 },
            words: '+20: the account meets "Several people" (several is "yes").',
          },
        ],
      },
    });
    const text = JSON.stringify(shown);
    for (const id of [idOf('acme'), idOf('ada'), idOf('bob')]) expect(text).not.toContain(id);
  });

  test('of a lead without an account has none', () => {
    const shown = publicExplanation(explained(null));
    expect(routeDeclarations.publicScoreExplanation.parse(shown)).toMatchObject({
      ...{ score_type: 'account', score: 0 },
    });
    expect(shown).not.toHaveProperty('account');
  });
});
