// (o) Several processes of a service: 1, 2 and 4 processes of ingest and of scoring, each held to the same small share of a core. What more
// processes cost shows as processor time an event, and what they bring as events a second.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { cpuSecondsOf } from './contenders/process-costs.js';
import { startScaledSystem, type RunningScaledSystem } from './contenders/whole-system.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { interleaved } from './rounds.js';
import { checkTotals, expectedTotals, sumOf } from './totals.js';
import type { WorkloadPlan } from './workload.js';

export interface ScalingSizes {
  leads: number;
  /** Before the measurement and without a limit, for each process: a multiple of 500. */
  warmUpEvents: number;
  /** For each process: a multiple of `leads`. */
  events: number;
  /** The part of a core that each process of ingest and of scoring may use, in per cent. */
  sharePercent: number;
}

export interface ScalingRound {
  eventsPerSecond: number;
  /** Microseconds of processor time, of all processes of the service together. */
  ingestPerEventUs: number;
  scoringPerEventUs: number;
}

export interface ScalingResult extends Pick<ScalingSizes, 'leads' | 'events' | 'sharePercent'> {
  partitions: number;
  counts: { processes: number; rounds: ScalingRound[] }[];
}

/** Divides evenly by each number of processes. */
const partitions = 12;
const processCounts = [1, 2, 4];

/** @throws Error when the program `cpulimit` is missing */
export async function measureScaling(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  sizes: ScalingSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<ScalingResult> {
  const { leads, events, sharePercent } = sizes;
  const contenders = await interleaved(
    processCounts.map((processes) => ({ name: `${processes} of each`, processes })),
    rounds,
    ({ processes }) => measureOnce(endpoints, generator, sizes, processes),
    {
      say,
      describe: ({ eventsPerSecond, ingestPerEventUs, scoringPerEventUs }) =>
        `${Math.round(eventsPerSecond)} events/s, ingest ${ingestPerEventUs.toFixed(1)} and scoring ` +
        `${scoringPerEventUs.toFixed(1)} µs an event`,
    },
  );
  const counts = contenders.map(({ rounds: measured }, index) => ({
    processes: processCounts[index] ?? 0,
    rounds: measured,
  }));
  return { leads, events, sharePercent, partitions, counts };
}

async function measureOnce(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, warmUpEvents, events, sharePercent }: ScalingSizes,
  processes: number,
): Promise<ScalingRound> {
  const system = await startScaledSystem(endpoints, { processes, partitions });
  const plans = [
    planOf('warmup', 500, warmUpEvents * processes),
    planOf('load', leads, events * processes),
  ] as const;
  const limits: CpuLimit[] = [];
  try {
    await floodUntilReadable(generator, system, plans[0]);
    for (const pid of [...system.pids('ingest'), ...system.pids('scoring')])
      limits.push(await limitCpu(pid, sharePercent));
    const before = cpuOf(system);
    const load = await floodUntilReadable(generator, system, plans[1], plans[0].events);
    const after = cpuOf(system);
    for (const limit of limits) await limit.end();
    checkTotals(
      `${processes} of each`,
      await system.totals(),
      sumOf(plans.map((plan) => expectedTotals(plan, 'rules'))),
    );
    const perEventUs = (seconds: number) => (seconds * 1_000_000) / load.events;
    return {
      eventsPerSecond: load.events / (load.readableMs / 1_000),
      ingestPerEventUs: perEventUs(after.ingest - before.ingest),
      scoringPerEventUs: perEventUs(after.scoring - before.scoring),
    };
  } finally {
    for (const limit of limits) await limit.end();
    await system.stop();
  }
}

function cpuOf(system: RunningScaledSystem): { ingest: number; scoring: number } {
  return {
    ingest: cpuSecondsOf(system.pids('ingest')),
    scoring: cpuSecondsOf(system.pids('scoring')),
  };
}

interface CpuLimit {
  /** Lets the process go on without a limit; a second call does nothing. */
  end(): Promise<void>;
}

/** Holds a process to a share of a core: the program `cpulimit` suspends it again and again. */
async function limitCpu(pid: number, percent: number): Promise<CpuLimit> {
  const limiter: ChildProcess = spawn('cpulimit', ['--pid', String(pid), '--limit', String(percent)], {
    stdio: 'ignore',
  });
  try {
    await once(limiter, 'spawn');
  } catch (error) {
    throw new Error('the program cpulimit cannot be started: install it (Debian: apt-get install cpulimit)', {
      cause: error,
    });
  }
  return {
    end: async () => {
      if (limiter.exitCode !== null || limiter.signalCode !== null) return;
      limiter.kill('SIGKILL');
      await once(limiter, 'exit');
      process.kill(pid, 'SIGCONT');
    },
  };
}

function planOf(name: string, leads: number, events: number): WorkloadPlan {
  return {
    name,
    seed: 53,
    leads,
    events,
    eventsPerRequest: 500,
    distribution: 'even',
    firstEventAt: Date.now() - 7_200_000,
  };
}
