// Whether events complete a sequence: each step has its own event, and all events are within one window of event time.
import type { StepMatch } from './lead-state.js';

export interface Pattern {
  /** Number of steps. */
  readonly steps: number;
  readonly ordered: boolean;
  readonly windowMs: number;
}

/**
 * The events that complete the sequence, in the order of its steps; null if there are none. `newest` is one of them. The oldest
 * possible events are chosen, so that newer events are left for the next firing. Both ends of the window are inclusive.
 * @param matches by event time; those of one moment in the order of the log
 * @param newest the match that was added last
 */
export function findSequence(
  matches: readonly StepMatch[],
  newest: StepMatch,
  pattern: Pattern,
): readonly StepMatch[] | null {
  if (!hasAllSteps(matches, pattern.steps)) return null;
  const near = matches.filter(({ at }) => Math.abs(at - newest.at) <= pattern.windowMs);
  if (!near.includes(newest) || !hasAllSteps(near, pattern.steps)) return null;
  return pattern.ordered ? findOrdered(near, newest, pattern) : findInAnyOrder(near, newest, pattern);
}

function hasAllSteps(matches: readonly StepMatch[], steps: number): boolean {
  const all = 2 ** steps - 1;
  let found = 0;
  for (const match of matches) {
    for (const step of match.steps) found |= 1 << step;
    if (found === all) return true;
  }
  return false;
}

function findOrdered(
  matches: readonly StepMatch[],
  newest: StepMatch,
  { steps, windowMs }: Pattern,
): readonly StepMatch[] | null {
  const place = matches.indexOf(newest);
  for (const step of newest.steps) {
    const after = chain(matches.slice(place + 1), step + 1, steps);
    if (!after) continue;
    const end = after.at(-1)?.at ?? newest.at;
    const before = chain(
      matches.slice(0, place).filter(({ at }) => at >= end - windowMs),
      0,
      step,
    );
    if (before) return [...before, newest, ...after];
  }
  return null;
}

/** The earliest events for the steps `from` to `to` (exclusive), each after the event of the step before. */
function chain(matches: readonly StepMatch[], from: number, to: number): StepMatch[] | null {
  const found: StepMatch[] = [];
  let step = from;
  for (const match of matches) {
    if (step >= to) break;
    if (!match.steps.includes(step)) continue;
    found.push(match);
    step += 1;
  }
  return step >= to ? found : null;
}

function findInAnyOrder(
  matches: readonly StepMatch[],
  newest: StepMatch,
  { steps, windowMs }: Pattern,
): readonly StepMatch[] | null {
  for (const [first, { at: from }] of matches.entries()) {
    if (from > newest.at) return null;
    const within = matches.slice(first).filter(({ at }) => at <= from + windowMs);
    if (!hasAllSteps(within, steps)) continue;
    const found = assign(within, newest, steps);
    if (found) return found;
  }
  return null;
}

/** Assigns each step its own event, and one of the steps the newest event: augmenting paths in a bipartite graph. */
function assign(
  matches: readonly StepMatch[],
  newest: StepMatch,
  steps: number,
): readonly StepMatch[] | null {
  const others = matches.filter((match) => match !== newest);
  for (const own of newest.steps) {
    const stepOf = new Map<StepMatch, number>();
    const place = (step: number, tried: Set<StepMatch>): boolean => {
      for (const match of others) {
        if (!match.steps.includes(step) || tried.has(match)) continue;
        tried.add(match);
        const taken = stepOf.get(match);
        if (taken !== undefined && !place(taken, tried)) continue;
        stepOf.set(match, step);
        return true;
      }
      return false;
    };
    const rest = Array.from({ length: steps }, (_, step) => step).filter((step) => step !== own);
    if (!rest.every((step) => place(step, new Set()))) continue;
    return [...stepOf, [newest, own] as const].sort(([, a], [, b]) => a - b).map(([match]) => match);
  }
  return null;
}
