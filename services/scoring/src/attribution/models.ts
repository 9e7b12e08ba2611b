// How a model shares one deal among its touches, in their order of time: pure. Weights are whole numbers, and only their ratio counts.
import type { AttributionModel } from '@lead-scoring/contracts';

/** A model, with the half-life that time_decay has. */
export interface ChosenModel {
  readonly model: AttributionModel;
  readonly half_life_days: number;
}

/**
 * The weight of each touch.
 *
 * - `first_touch`: all to the first touch.
 * - `last_touch`: all to the last touch before the deal was closed.
 * - `linear`: the same to each touch.
 * - `time_decay`: a touch that is one half-life older than another gets half as much. Its age runs in days of 24 hours; that all
 *   weights are measured from the last touch, and not from the moment of closing, changes no ratio.
 * - `position_based`: 40 % to the first touch, 40 % to the last, and 20 % in equal shares to those between them. Of two touches each
 *   gets half; a single one gets all.
 *
 * @param times of the touches in milliseconds, ascending
 */
export function weightsOf({ model, half_life_days }: ChosenModel, times: readonly number[]): bigint[] {
  const last = times.length - 1;
  switch (model) {
    case 'first_touch':
      return times.map((_, index) => (index === 0 ? 1n : 0n));
    case 'last_touch':
      return times.map((_, index) => (index === last ? 1n : 0n));
    case 'linear':
      return times.map(() => 1n);
    case 'time_decay':
      return times.map((time) => decayedWeight((times[last] ?? time) - time, half_life_days * dayMs));
    case 'position_based':
      return positionWeights(times.length);
  }
}

/** Days of half-lives and ranges have 24 hours. */
export const dayMs = 86_400_000;
/** The weight of the last touch under time_decay; one that is 50 half-lives older has none. */
const fullWeight = 2 ** 50;

function decayedWeight(ageMs: number, halfLifeMs: number): bigint {
  return BigInt(Math.round(fullWeight * 2 ** (-ageMs / halfLifeMs)));
}

/** Each of the middle touches has the weight 1, so that they are 1/5 together, and first and last 2/5 each. */
function positionWeights(touches: number): bigint[] {
  const middle = Math.max(0, touches - 2);
  const outer = middle === 0 ? 1n : BigInt(2 * middle);
  return Array.from({ length: touches }, (_, index) => (index === 0 || index === touches - 1 ? outer : 1n));
}
