// Live events at a fixed rate, with probes that are timed from POST to readable, while nothing else happens or beside some work.
import type { RunningRuledSystem } from './contenders/whole-system.js';
import type { LoadGenerator } from './load/load-generator.js';
import type { Latencies } from './statistics.js';
import { medianOf, table } from './tables.js';
import type { WorkloadPlan } from './workload.js';

export interface LiveLoad {
  plan: WorkloadPlan;
  eventsPerSecond: number;
  forMs: number;
  /** The type of the probes; absent: that of the first visit. */
  probeType?: string;
}

/** @throws Error when no probe was timed */
export async function paceLive(
  generator: LoadGenerator,
  { target, readable }: RunningRuledSystem,
  { plan, eventsPerSecond, forMs, probeType }: LiveLoad,
): Promise<Latencies> {
  const { probeLatencies } = await generator.perform({
    do: 'pace',
    target,
    plan,
    connections: 64,
    eventsPerSecond,
    forMs,
    probes: {
      perSecond: 10,
      readable,
      timeoutMs: 60_000,
      ...(probeType !== undefined && { eventType: probeType }),
    },
  });
  if (!probeLatencies) throw new Error('no live event was timed');
  return probeLatencies;
}

/** A table of the latencies of live events: one row for each of the circumstances, medians over the rounds. */
export function liveEventsTable<When extends string>(
  rounds: readonly Record<NoInfer<When>, Latencies>[],
  names: Record<When, string>,
): string[] {
  return table(
    ['live events', 'p50 ms', 'p99 ms', 'longest ms'],
    (Object.keys(names) as When[]).map((when) => [
      names[when],
      medianOf(rounds, (round) => round[when].p50).toFixed(0),
      medianOf(rounds, (round) => round[when].p99).toFixed(0),
      medianOf(rounds, (round) => round[when].max).toFixed(0),
    ]),
  );
}
