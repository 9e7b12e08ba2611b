// (e) Capacity: the highest steady rate of events that a contender holds for a minute while 99 of 100 single events can be
// read within a second, and within a quarter of one. Found by stepping up, halving the step, and holding what is left.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { naiveWiring } from './contenders/baselines.js';
import type { RunningScoringContender, ScoringContender } from './contenders/contender.js';
import { wholeSystem, withEarlier, type EarlierCheckout } from './contenders/whole-system.js';
import { findCapacity, type Trial } from './find-capacity.js';
import type { LoadGenerator } from './load/load-generator.js';
import type { PaceResult } from './load/protocol.js';
import { interleaved } from './rounds.js';
import { addedAtPace, expectedTotals, sumOf, untilTotals } from './totals.js';
import { counted } from './words.js';
import type { WorkloadPlan } from './workload.js';

/** What one measurement is of. */
export interface CapacityCell {
  eventsPerRequest: number;
  leads: number;
  /** Of each topic, all in one process of each service. */
  partitions: number;
}

export interface CapacitySizes {
  cells: CapacityCell[];
  /** Events a second of the first trial. */
  firstRate: number;
  trialMs: number;
  heldMs: number;
}

/** Milliseconds from POST to readable that 99 of 100 single events may take. */
export const capacityLimitsMs = [1_000, 250] as const;

export interface CapacityRound {
  trials: Trial[];
  /** By limit: the highest rate that was held, 0 for none. */
  held: { limitMs: number; eventsPerSecond: number }[];
  /** Processor time of the contender's own processes at the highest rate that was held under the first limit. */
  cpuPerEventUs: number | null;
}

export interface CapacityResult {
  heldMs: number;
  cells: (CapacityCell & { contenders: { name: string; rounds: CapacityRound[] }[] })[];
}

const connections = 64;
const probesPerSecond = 10;
const timeoutMs = 180_000;
/** A rate at which a probe takes as long is not held. */
const giveUpAfterMs = 3_000;

export async function measureCapacity(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  sizes: CapacitySizes,
  before: EarlierCheckout | undefined,
  say: (message: string) => void,
): Promise<CapacityResult> {
  const cells: CapacityResult['cells'] = [];
  for (const cell of sizes.cells) {
    say(nameOfCell(cell));
    const { partitions } = cell;
    const contenders = await interleaved(
      [
        naiveWiring(partitions),
        ...withEarlier((checkout?: EarlierCheckout) => wholeSystem(checkout, partitions), before),
      ],
      1,
      (contender) => measureOnce(contender, endpoints, generator, cell, sizes),
      {
        say,
        describe: ({ trials, held }) =>
          `${held.map(({ limitMs, eventsPerSecond }) => `${eventsPerSecond} events/s under ${limitMs} ms`).join(', ')} ` +
          `(${counted(trials.length, 'trial')})`,
      },
    );
    cells.push({ ...cell, contenders });
  }
  return { heldMs: sizes.heldMs, cells };
}

export function nameOfCell({ eventsPerRequest, leads, partitions }: CapacityCell): string {
  return `requests of ${counted(eventsPerRequest, 'event')}, ${leads} leads, ${counted(partitions, 'partition')}`;
}

async function measureOnce(
  contender: ScoringContender,
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  cell: CapacityCell,
  { firstRate, trialMs, heldMs }: CapacitySizes,
): Promise<CapacityRound> {
  const running = await contender.start(endpoints);
  try {
    let seed = 1;
    const first = planOf(cell, seed);
    await generator.perform({
      do: 'flood',
      target: running.target,
      plan: { ...first, eventsPerRequest: 500 },
      connections: 16,
      readable: { by: running.readable, timeoutMs, acceptedBefore: 0 },
    });
    const sent = [expectedTotals(first, contender.scoring)];
    const costs = new Map<Trial, number>();
    const trial = async (eventsPerSecond: number, isHeld: boolean): Promise<Trial> => {
      seed += 1;
      const plan = planOf(cell, seed);
      const cpuBefore = running.cpuSeconds();
      const result = await atRate(generator, running, plan, eventsPerSecond, isHeld ? heldMs : trialMs);
      sent.push(addedAtPace(plan, contender.scoring, result));
      // Nothing of this trial is left for the next one to wait for.
      await untilTotals(contender.name, running, sumOf(sent), timeoutMs);
      const { probeLatencies, gaveUp, events, probes } = result;
      const done: Trial = {
        eventsPerSecond,
        isHeld,
        gaveUp,
        p50Ms: probeLatencies?.p50 ?? Infinity,
        p99Ms: probeLatencies?.p99 ?? Infinity,
      };
      costs.set(done, ((running.cpuSeconds() - cpuBefore) * 1_000_000) / (events + probes));
      return done;
    };
    const { trials, held } = await findCapacity(capacityLimitsMs, firstRate, trial);
    const best = trials.find((one) => one.isHeld && one.eventsPerSecond === held[0]?.eventsPerSecond);
    return { trials, held, cpuPerEventUs: (best && costs.get(best)) ?? null };
  } finally {
    await running.stop();
  }
}

function atRate(
  generator: LoadGenerator,
  running: RunningScoringContender,
  plan: WorkloadPlan,
  eventsPerSecond: number,
  forMs: number,
): Promise<PaceResult> {
  return generator.perform({
    do: 'pace',
    target: running.target,
    plan,
    connections,
    eventsPerSecond,
    forMs,
    probes: { perSecond: probesPerSecond, readable: running.readable, timeoutMs, giveUpAfterMs },
  });
}

/** The same leads each time; a probe is a lead of its own in each trial. */
function planOf({ eventsPerRequest, leads }: CapacityCell, seed: number): WorkloadPlan {
  return {
    name: 'steady',
    seed,
    leads,
    events: leads,
    eventsPerRequest,
    distribution: 'even',
    firstEventAt: Date.now() - 3_600_000,
  };
}
