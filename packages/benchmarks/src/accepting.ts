// (a) Events accepted per second at POST /ingest: 500 events a request, 250 bytes each, acks=all, 16 connections.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { bareHandler } from './contenders/baselines.js';
import type { RunningContender } from './contenders/contender.js';
import {
  gatewayAlone,
  systemAccepting,
  withEarlier,
  type EarlierCheckout,
} from './contenders/whole-system.js';
import type { LoadGenerator } from './load/load-generator.js';
import type { FloodResult } from './load/protocol.js';
import { interleaved } from './rounds.js';
import type { WorkloadPlan } from './workload.js';

export interface AcceptingResult {
  contenders: { name: string; rounds: AcceptingRound[] }[];
  connections: number;
  /** The length of a turn of the bare handler and of the gateway. */
  turnMs: number;
  /** The length of a round of the whole system, which runs alone. */
  systemMs: number;
}

interface AcceptingRound extends FloodResult {
  eventsPerSecond: number;
  /** Processor time of the contender's own processes, in microseconds per event. */
  cpuPerEventUs: number;
}

export interface AcceptingSizes {
  warmUpMs: number;
  measuredMs: number;
}

const connections = 16;
/** Turns are short, so that a slowdown of the machine, which lasts seconds to minutes, affects both contenders. */
const turnsInRound = 5;

export async function measureAccepting(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { warmUpMs, measuredMs }: AcceptingSizes,
  rounds: number,
  before: EarlierCheckout | undefined,
  say: (message: string) => void,
): Promise<AcceptingResult> {
  const measure = createMeasure(generator);
  const progress = { say, describe };
  const turnMs = measuredMs / turnsInRound;
  const contenders: AcceptingResult['contenders'] = [];
  const running: (RunningContender & { name: string })[] = [];
  try {
    for (const contender of [bareHandler, ...withEarlier(gatewayAlone, before)])
      running.push({ name: contender.name, ...(await contender.start(endpoints)) });
    for (const one of running) await measure(one, warmUpMs);
    contenders.push(
      ...(await interleaved(running, rounds * turnsInRound, (one) => measure(one, turnMs), progress)),
    );
  } finally {
    for (const one of running) await one.stop();
  }
  // Not in turn with those two: the system goes on scoring when its turn is over.
  contenders.push(
    ...(await interleaved(
      withEarlier(systemAccepting, before),
      rounds,
      async (contender) => {
        const system = await contender.start(endpoints);
        try {
          await measure(system, warmUpMs);
          return await measure(system, measuredMs);
        } finally {
          await system.stop();
        }
      },
      progress,
    )),
  );
  return { contenders, connections, turnMs, systemMs: measuredMs };
}

type Measure = (running: RunningContender, forMs: number) => Promise<AcceptingRound>;

/** A function that measures one contender for a given time, with the same events each time. */
function createMeasure(generator: LoadGenerator): Measure {
  const plan: WorkloadPlan = {
    name: 'accept',
    seed: 1,
    leads: 20_000,
    events: 40_000,
    eventsPerRequest: 500,
    distribution: 'even',
    firstEventAt: Date.now() - 3_600_000,
  };
  return async (running, forMs) => {
    const before = running.cpuSeconds();
    const result = await generator.perform({ do: 'flood', target: running.target, plan, connections, forMs });
    const cpuSeconds = running.cpuSeconds() - before;
    return {
      ...result,
      eventsPerSecond: result.events / (result.acceptMs / 1_000),
      cpuPerEventUs: (cpuSeconds * 1_000_000) / result.events,
    };
  };
}

function describe({ eventsPerSecond, latencies, cpuPerEventUs }: AcceptingRound): string {
  return (
    `${Math.round(eventsPerSecond)} events/s, p50 ${latencies.p50.toFixed(1)} ms, ` +
    `p99 ${latencies.p99.toFixed(1)} ms, ${cpuPerEventUs.toFixed(1)} µs an event`
  );
}
