// Given a lead, rules and levels, then the forecast lists the ticks to come, and says when the level is left.
import { expect, test } from '@jest/globals';
import { records, routeDeclarations } from '@lead-scoring/contracts';
import { emptyConfiguration, evolveConfiguration, type ScoringConfiguration } from '../configuration.js';
import type { ConfigurationEvent } from '../configuration-events.js';
import { forecastScore } from './forecast.js';
import type { DecayingLead } from './ticks.js';

const ouId = '11111111-1111-4111-8111-111111111111';
const leadId = '22222222-2222-4222-8222-222222222222';
const [quiet, warm, cold] = ['3', '4', '5'].map((digit) => `33333333-3333-4333-8333-33333333333${digit}`) as [
  string,
  string,
  string,
];
const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString();

const created: records.DecayCreated = {
  ou_id: ouId,
  decay_id: quiet,
  name: 'Quiet weeks',
  mode: 'inactivity_points',
  points: -10,
  interval_days: 7,
  floor: 0,
  active: true,
  version: 1,
  at: day(0),
};
const level = (id: string, name: string, min_score: number | null, max_score: number | null) => ({
  id,
  name,
  min_score,
  max_score,
  color: '#e8590c',
});
const events: ConfigurationEvent[] = [
  { type: 'DecayCreated', payload: created },
  {
    type: 'EngagementLevelsSet',
    payload: {
      ou_id: ouId,
      levels: [level(warm, 'Warm', 20, null), level(cold, 'Cold', null, 19)],
      at: day(0),
    },
  },
];
const configuration: ScoringConfiguration = events.reduce(evolveConfiguration, emptyConfiguration(ouId));
const lead: DecayingLead = { score: 38, rulesets: [], last_scored_at: day(0) };
const forecast = (
  of: DecayingLead,
  more: Partial<Parameters<typeof forecastScore>[3]> = {},
  of_ = configuration,
) => forecastScore(leadId, of, of_, { at: day(1), days: 90, maximumSteps: 1_000, ...more });

test('it lists each tick that takes points, and the level that the score comes to', () => {
  const found = forecast(lead);
  expect(routeDeclarations.scoreForecast.safeParse(found).error).toBeUndefined();
  expect(found).toMatchObject({
    lead_id: leadId,
    at: day(1),
    until: day(91),
    score: 38,
    level: { name: 'Warm' },
    score_until: 0,
    leaves_level_at: day(14),
    next_level: { name: 'Cold' },
    steps_total: 4,
  });
  expect(found.steps.map(({ at, score, points }) => [at, score, points])).toEqual([
    [day(7), 28, -10],
    [day(14), 18, -10],
    [day(21), 8, -10],
    [day(28), 0, -8],
  ]);
  expect(found.steps[0]).toMatchObject({ rule_id: quiet, rule_name: 'Quiet weeks' });
});

test('ticks that are due and not recorded yet have taken their points', () => {
  expect(forecast(lead, { at: day(8), days: 6 })).toMatchObject({
    score: 28,
    score_until: 18,
    leaves_level_at: day(14),
  });
});

test('it ends in time and at its maximum of steps; without rules nothing falls', () => {
  expect(forecast(lead, { days: 7 })).toMatchObject({
    score_until: 28,
    leaves_level_at: null,
    next_level: null,
  });
  expect(forecast(lead, { maximumSteps: 2 })).toMatchObject({
    steps: [{}, {}],
    steps_total: 4,
    score_until: 0,
  });
  const none = forecast(lead, {}, emptyConfiguration(ouId));
  expect(none).toMatchObject({
    score_until: 38,
    steps: [],
    steps_total: 0,
    leaves_level_at: null,
    level: null,
  });
});
