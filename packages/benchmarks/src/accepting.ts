// (a) Events accepted per second at POST /ingest: 500 events a request, 250 bytes each, acks=all, 16 connections.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { bareHandler } from './contenders/baselines.js';
import type { Contender } from './contenders/contender.js';
import { gatewayAlone, systemAccepting } from './contenders/whole-system.js';
import type { LoadGenerator } from './load/load-generator.js';
import type { FloodResult } from './load/protocol.js';
import { interleaved } from './rounds.js';
import type { WorkloadPlan } from './workload.js';

export interface AcceptingResult {
  contenders: { name: string; rounds: AcceptingRound[] }[];
  connections: number;
  measuredMs: number;
}

interface AcceptingRound extends FloodResult {
  eventsPerSecond: number;
  /** Processor time of the contender's own processes, microseconds an event. */
  cpuPerEventUs: number;
}

export interface AcceptingSizes {
  warmUpMs: number;
  measuredMs: number;
}

const connections = 16;

export async function measureAccepting(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { warmUpMs, measuredMs }: AcceptingSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<AcceptingResult> {
  const plan: WorkloadPlan = {
    name: 'accept',
    seed: 1,
    leads: 20_000,
    events: 40_000,
    eventsPerRequest: 500,
    distribution: 'even',
    firstEventAt: Date.now() - 3_600_000,
  };
  const measure = async (contender: Contender): Promise<AcceptingRound> => {
    const running = await contender.start(endpoints);
    try {
      const flood = { do: 'flood', target: running.target, plan, connections } as const;
      await generator.perform({ ...flood, forMs: warmUpMs });
      const before = running.cpuSeconds();
      const result = await generator.perform({ ...flood, forMs: measuredMs });
      const cpuSeconds = running.cpuSeconds() - before;
      return {
        ...result,
        eventsPerSecond: result.events / (result.acceptMs / 1_000),
        cpuPerEventUs: (cpuSeconds * 1_000_000) / result.events,
      };
    } finally {
      await running.stop();
    }
  };
  const contenders = await interleaved([bareHandler, gatewayAlone, systemAccepting], rounds, measure, {
    say,
    describe: (round) =>
      `${Math.round(round.eventsPerSecond)} events/s, p50 ${round.latencies.p50.toFixed(1)} ms, ` +
      `p99 ${round.latencies.p99.toFixed(1)} ms, ${round.cpuPerEventUs.toFixed(1)} µs an event`,
  });
  return { contenders, connections, measuredMs };
}
