// The expected totals over the leads of a contender. A measurement with other totals is discarded.
import type { RunningScoringContender, Totals } from './contenders/contender.js';
import type { PaceResult } from './load/protocol.js';
import { createWorkload, probePoints, type Scoring, type Workload, type WorkloadPlan } from './workload.js';

/** The totals of all events of a plan. */
export function expectedTotals(plan: WorkloadPlan, scoring: Scoring): Totals {
  return { leads: plan.leads, events: plan.events, score: scoresOf(createWorkload(plan), scoring) };
}

function scoresOf(workload: Workload, scoring: Scoring, events?: number): number {
  return workload.expected(scoring, events).scores.reduce((sum, score) => sum + score, 0);
}

/**
 * The totals that sending at a fixed rate adds when all leads of the plan exist already: the plan's events, repeated from the first
 * one, and the probes, each of a new lead.
 */
export function addedAtPace(plan: WorkloadPlan, scoring: Scoring, { events, probes }: PaceResult): Totals {
  const workload = createWorkload(plan);
  const wholePlans = Math.floor(events / plan.events) * scoresOf(workload, scoring);
  const rest = scoresOf(workload, scoring, events % plan.events);
  return {
    leads: probes,
    events: events + probes,
    score: wholePlans + rest + probes * probePoints(scoring),
  };
}

export function sumOf(totals: readonly Totals[]): Totals {
  return totals.reduce((sum, one) => ({
    leads: sum.leads + one.leads,
    events: sum.events + one.events,
    score: sum.score + one.score,
  }));
}

/** @throws Error when they differ */
export function checkTotals(name: string, found: Totals, expected: Totals): void {
  if (found.leads !== expected.leads || found.events !== expected.events || found.score !== expected.score)
    throw new Error(`${name}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

/**
 * Waits until the contender has counted the expected number of events: its last batches may follow after the last probe is readable.
 * @throws Error when the totals differ then
 */
export async function untilTotals(
  name: string,
  running: RunningScoringContender,
  expected: Totals,
  timeoutMs: number,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const totals = await running.totals();
    if (totals.events < expected.events && Date.now() < deadline) continue;
    checkTotals(name, totals, expected);
    return;
  }
}
