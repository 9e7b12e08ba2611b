// (e) Capacity: the highest steady rate of events that a contender holds for a minute while 99 % of single events are readable
// within 1 s, and within 0.25 s. find-capacity.ts is the search.
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

/** The parameters of one measurement of capacity. */
export interface CapacityCell {
  eventsPerRequest: number;
  leads: number;
  /** Partitions of each topic. Each service has one process. */
  partitions: number;
}

export interface CapacitySizes {
  cells: CapacityCell[];
  /** Events a second of the first trial. */
  firstRate: number;
  trialMs: number;
  heldMs: number;
}

/** The limits for the p99 from POST to readable of single events, in milliseconds. */
export const capacityLimitsMs = [1_000, 250] as const;

export interface CapacityRound {
  trials: Trial[];
  /** The highest rate that was held under each limit; 0 where none was. */
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
/** A trial ends early when a probe takes this long: its rate is not held. */
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
      const result = await sendAtRate(generator, running, plan, eventsPerSecond, isHeld ? heldMs : trialMs);
      sent.push(addedAtPace(plan, contender.scoring, result));
      // The next trial must not wait for events of this one.
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

function sendAtRate(
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

/** Every trial sends events of the same leads; its probes are of new leads. */
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
