// How a score falls if nothing happens: the ticks to come, and the level that the score leaves. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '../configuration.js';
import { levelHolding, levelOf } from '../levels.js';
import { decayNameOf, noDecays, periodsOf } from './decay-configuration.js';
import { compileDecays, ticksUpTo, type DecayingLead } from './ticks.js';

type Forecast = routeDeclarations.ScoreForecast;

const dayMs = 86_400_000;

/**
 * @param at now, ISO 8601 UTC with milliseconds: ticks that are due and not recorded yet have taken their points
 * @param maximumSteps steps in the answer
 */
export function forecastScore(
  id: string,
  lead: DecayingLead,
  configuration: ScoringConfiguration,
  { at, days, maximumSteps }: { at: string; days: number; maximumSteps: number },
): Forecast {
  const { decays: known = noDecays, levels } = configuration;
  const decays = compileDecays(periodsOf(known));
  const now = ticksUpTo(lead, decays, at).lead;
  const until = new Date(Date.parse(at) + days * dayMs).toISOString();
  const { ticks, lead: end } = ticksUpTo(now, decays, until);
  const level = levelHolding(levels, now.score);
  const leaving = ticks.find(({ after }) => levelHolding(levels, after.score) !== level);
  return {
    lead_id: id,
    at,
    until,
    score: now.score,
    level: levelOf(levels, now.score),
    score_until: end.score,
    leaves_level_at: leaving?.tick.at ?? null,
    next_level: leaving ? levelOf(levels, leaving.after.score) : null,
    steps: ticks.slice(0, maximumSteps).map(({ tick, after }): Forecast['steps'][number] => {
      const { rule_id, ruleset_id } = tick.period;
      return {
        at: tick.at,
        score: after.score,
        points: tick.points,
        rule_id,
        rule_name: decayNameOf(known, rule_id) ?? '',
        ...(ruleset_id !== undefined && { ruleset_id }),
      };
    }),
    steps_total: ticks.length,
  };
}
