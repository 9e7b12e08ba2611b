// (b) Events per second from POST to readable score, by number of distinct leads, and the latency of one event at half of that
// rate. A contender whose totals differ from the expected ones has no result.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { naiveWiring } from './contenders/baselines.js';
import type { RunningScoringContender, ScoringContender, Totals } from './contenders/contender.js';
import { wholeSystem, withEarlier, type EarlierCheckout } from './contenders/whole-system.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import type { PaceResult } from './load/protocol.js';
import { interleaved } from './rounds.js';
import { addedAtPace, checkTotals, expectedTotals, sumOf, untilTotals } from './totals.js';
import type { WorkloadPlan } from './workload.js';

export interface PostToReadableSizes {
  warmUpEvents: number;
  sizes: { leads: number; events: number; latency: boolean }[];
  latencyMs: number;
}

interface PostToReadableRound {
  /** Over the time from the first POST until all events were readable. */
  eventsPerSecond: number;
  /** Over the time from the first POST until the last answer. */
  acceptedPerSecond: number;
  cpuPerEventUs: number;
  generatorCores: number;
  halfRate: (PaceResult & { eventsPerSecond: number }) | null;
}

export interface PostToReadableResult {
  leads: number;
  events: number;
  contenders: { name: string; rounds: PostToReadableRound[] }[];
}

const probesPerSecond = 10;
const timeoutMs = 600_000;

export async function measurePostToReadable(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { warmUpEvents, sizes, latencyMs }: PostToReadableSizes,
  rounds: number,
  before: EarlierCheckout | undefined,
  say: (message: string) => void,
): Promise<PostToReadableResult[]> {
  const results: PostToReadableResult[] = [];
  for (const { leads, events, latency } of sizes) {
    say(`${leads} leads, ${events} events`);
    const contenders = await interleaved(
      [naiveWiring(), ...withEarlier(wholeSystem, before)],
      rounds,
      (contender) =>
        measureOnce(
          contender,
          endpoints,
          generator,
          planOf('warmup', 500, warmUpEvents),
          planOf('load', leads, events),
          latency ? latencyMs : 0,
        ),
      {
        say,
        describe: ({ eventsPerSecond, acceptedPerSecond, cpuPerEventUs, halfRate }) =>
          `${Math.round(eventsPerSecond)} events/s to readable, ${Math.round(acceptedPerSecond)} accepted, ` +
          `${cpuPerEventUs.toFixed(1)} µs an event` +
          (halfRate?.probeLatencies
            ? `; at ${Math.round(halfRate.eventsPerSecond)}/s POST to readable p50 ` +
              `${halfRate.probeLatencies.p50.toFixed(0)} ms, p99 ${halfRate.probeLatencies.p99.toFixed(0)} ms`
            : ''),
      },
    );
    results.push({ leads, events, contenders });
  }
  return results;
}

async function measureOnce(
  contender: ScoringContender,
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  warmUp: WorkloadPlan,
  load: WorkloadPlan,
  latencyMs: number,
): Promise<PostToReadableRound> {
  const running = await contender.start(endpoints);
  try {
    await floodUntilReadable(generator, running, warmUp);
    const cpuBefore = running.cpuSeconds();
    const result = await floodUntilReadable(generator, running, load, warmUp.events);
    const cpuSeconds = running.cpuSeconds() - cpuBefore;
    const expected = sumOf([
      expectedTotals(warmUp, contender.scoring),
      expectedTotals(load, contender.scoring),
    ]);
    checkTotals(contender.name, await running.totals(), expected);
    const eventsPerSecond = result.events / (result.readableMs / 1_000);
    return {
      eventsPerSecond,
      acceptedPerSecond: result.events / (result.acceptMs / 1_000),
      cpuPerEventUs: (cpuSeconds * 1_000_000) / result.events,
      generatorCores: result.generatorCores,
      halfRate:
        latencyMs === 0
          ? null
          : await measureAtHalfRate(
              contender,
              running,
              generator,
              load,
              eventsPerSecond / 2,
              latencyMs,
              expected,
            ),
    };
  } finally {
    await running.stop();
  }
}

async function measureAtHalfRate(
  contender: ScoringContender,
  running: RunningScoringContender,
  generator: LoadGenerator,
  plan: WorkloadPlan,
  eventsPerSecond: number,
  forMs: number,
  before: Totals,
): Promise<PaceResult & { eventsPerSecond: number }> {
  const result = await generator.perform({
    do: 'pace',
    target: running.target,
    plan,
    connections: 64,
    eventsPerSecond,
    forMs,
    probes: { perSecond: probesPerSecond, readable: running.readable, timeoutMs: 60_000 },
  });
  const expected = sumOf([before, addedAtPace(plan, contender.scoring, result)]);
  await untilTotals(contender.name, running, expected, timeoutMs);
  return { ...result, eventsPerSecond };
}

function planOf(name: string, leads: number, events: number): WorkloadPlan {
  return {
    name,
    seed: 7,
    leads,
    events,
    eventsPerRequest: 500,
    distribution: 'even',
    firstEventAt: Date.now() - 3_600_000,
  };
}
