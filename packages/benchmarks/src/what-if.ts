// (i) What-ifs and rescorings: how fast the recorded history is replayed by two sets of rules, and new scores brought into force, against
// the rate at which the same events were ingested and scored; how much memory that takes; and how long live events take meanwhile.
import { createClient, type Client } from '@lead-scoring/client';
import { leadIdOf } from '@lead-scoring/contracts';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { startSystemWithRules, type RunningRuledSystem } from './contenders/whole-system.js';
import { resultOfJob } from './jobs.js';
import { paceLive } from './live-events.js';
import { withMemory } from './memory.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { interleaved } from './rounds.js';
import { median, type Latencies } from './statistics.js';
import { createWorkload, eventTypes, workloadRules, type WorkloadPlan } from './workload.js';

export interface WhatIfSizes {
  leads: number;
  warmUpEvents: number;
  events: number;
  live: { leads: number; eventsPerSecond: number; forMs: number };
  /** Leads, with an event each, whose new scores come into force while leads are read. */
  switchedLeads: number;
}

interface WhatIfRound {
  /** Events of the history a second, from the request until the job is completed. */
  eventsPerSecond: number;
  /** By how much the memory of the scoring process rose at most, in MiB. */
  memoryMiB: number;
}

export interface WhatIfResult {
  leads: number;
  events: number;
  /** From the first POST until all events were readable. */
  ingestedPerSecond: number;
  contenders: { name: string; rounds: WhatIfRound[] }[];
  /** Of rescorings that change the score of nearly every lead. */
  rescorings: WhatIfRound[];
  liveEventsPerSecond: number;
  /** Of live events from POST to readable: without a job, and while one what-if or one rescoring runs after another. */
  live: { quiet: Latencies; whatIfs: Latencies; rescorings: Latencies }[];
  /** Of reads of single leads: without a job, and while a rescoring of many leads runs and comes into force. */
  reads: { leads: number; quiet: Latencies; rescoring: Latencies };
}

const eventsPerRequest = 500;
const outcome = { event_type: eventTypes[5] };
const contenders = [
  { name: 'without an outcome', asked: {} },
  { name: `with an outcome (${outcome.event_type})`, asked: { outcome } },
];

export async function measureWhatIf(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  sizes: WhatIfSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<WhatIfResult> {
  const { leads, warmUpEvents, events, live } = sizes;
  const running = await startSystemWithRules(
    endpoints,
    workloadRules.map(({ form }) => form),
  );
  try {
    await floodUntilReadable(generator, running, planOf('warmup', leads, warmUpEvents));
    const filled = await floodUntilReadable(generator, running, planOf('history', leads, events));
    const ingestedPerSecond = filled.events / (filled.readableMs / 1_000);
    say(`  ${Math.round(ingestedPerSecond)} events/s ingested to readable`);
    const whatIfs = new WhatIfs(running, warmUpEvents + events, 2 * leads);
    await whatIfs.prepare();
    for (const { asked } of contenders) await whatIfs.measure(asked);
    const measured = await interleaved(contenders, rounds, ({ asked }) => whatIfs.measure(asked), {
      say,
      describe: ({ eventsPerSecond, memoryMiB }) =>
        `${Math.round(eventsPerSecond)} events/s replayed, ${memoryMiB.toFixed(0)} MiB`,
    });
    const rescorings: WhatIfRound[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const rescored = await whatIfs.rescore(10 + round);
      say(
        `  ${Math.round(rescored.eventsPerSecond)} events/s rescored, ${rescored.memoryMiB.toFixed(0)} MiB`,
      );
      rescorings.push(rescored);
    }
    return {
      leads,
      events,
      ingestedPerSecond,
      contenders: measured,
      rescorings,
      liveEventsPerSecond: live.eventsPerSecond,
      live: await measureLive(generator, running, whatIfs, { live, rounds, say }),
      reads: await measureReads(generator, running, whatIfs, { leads: sizes.switchedLeads, say }),
    };
  } finally {
    await running.stop();
  }
}

/** Paces live events alone, beside what-ifs, and beside rescorings. */
async function measureLive(
  generator: LoadGenerator,
  running: RunningRuledSystem,
  whatIfs: WhatIfs,
  { live, rounds, say }: Pick<WhatIfSizes, 'live'> & { rounds: number; say: (message: string) => void },
): Promise<WhatIfResult['live']> {
  const paced = () => pace(generator, running, live);
  const measured: WhatIfResult['live'] = [];
  let weight = 100;
  // The leads of the first turn are new, which costs more than their later events.
  await paced();
  for (let round = 0; round < rounds; round += 1) {
    const quiet = await paced();
    const besideWhatIfs = await meanwhile(paced, () => whatIfs.measure({ outcome }));
    const besideRescorings = await meanwhile(paced, () => whatIfs.rescore((weight += 1)));
    say(
      `  p99 of live events ${quiet.p99.toFixed(0)} ms, beside what-ifs ${besideWhatIfs.p99.toFixed(0)} ms, ` +
        `beside rescorings ${besideRescorings.p99.toFixed(0)} ms`,
    );
    measured.push({ quiet, whatIfs: besideWhatIfs, rescorings: besideRescorings });
  }
  return measured;
}

/** Reads leads alone, and while the scores of many leads are computed anew and come into force. */
async function measureReads(
  generator: LoadGenerator,
  running: RunningRuledSystem,
  whatIfs: WhatIfs,
  { leads, say }: { leads: number; say: (message: string) => void },
): Promise<WhatIfResult['reads']> {
  const plan = planOf('switched', leads, leads);
  await floodUntilReadable(generator, running, plan);
  const workload = createWorkload(plan);
  const paths = Array.from(
    { length: readLeads },
    (_, index) => `/score/${leadIdOf(running.ouId, 'email', workload.aliasOf((index * 7) % leads))}`,
  );
  const read = async () => {
    const { target } = running;
    const work = { do: 'read', target, paths, connections: 2, forMs: readMs, atLeast: 10 } as const;
    return (await generator.perform(work)).latencies;
  };
  const quiet: Latencies[] = [];
  for (let turn = 0; turn < quietTurns; turn += 1) quiet.push(await read());
  const rescoring: Latencies[] = [];
  await meanwhile(
    () => whatIfs.rescore(50),
    async () => rescoring.push(await read()),
  );
  const result = { leads, quiet: slowestOf(quiet), rescoring: slowestOf(rescoring) };
  say(
    `  longest read ${result.quiet.max.toFixed(0)} ms, while ${leads} leads are rescored ${result.rescoring.max.toFixed(0)} ms`,
  );
  return result;
}

/** Leads that are read, one after another. */
const readLeads = 5_000;
/** Milliseconds of one turn of reading, and the turns without a job. */
const readMs = 500;
const quietTurns = 20;

/** Of several turns: the median of the medians, and of the other figures that of the slowest turn. */
function slowestOf(turns: readonly Latencies[]): Latencies {
  const slowest = (of: (turn: Latencies) => number) => Math.max(...turns.map(of));
  return {
    count: turns.reduce((sum, { count }) => sum + count, 0),
    p50: median(turns.map(({ p50 }) => p50)),
    p90: slowest(({ p90 }) => p90),
    p99: slowest(({ p99 }) => p99),
    max: slowest(({ max }) => max),
  };
}

class WhatIfs {
  readonly #client: Client;
  /** The rule that each draft changes. */
  #ruleId = '';

  constructor(
    private readonly running: RunningRuledSystem,
    private readonly events: number,
    private readonly leads: number,
  ) {
    this.#client = createClient({ baseUrl: running.target.baseUrl, token: running.token });
  }

  async prepare(): Promise<void> {
    const { data } = await this.#client.call('listRules', { query: { limit: 1 } });
    const [rule] = data;
    if (!rule) throw new Error('there is no rule to change');
    this.#ruleId = rule.id;
  }

  measure(asked: { outcome?: typeof outcome }): Promise<WhatIfRound> {
    return this.#timed(() => this.#completed(asked));
  }

  /** Changes the weight of the rule, and brings the scores by it into force. */
  async rescore(weight: number): Promise<WhatIfRound> {
    await this.#client.call('updateRule', { parameters: { id: this.#ruleId }, body: { weight } });
    return this.#timed(async () => {
      const { job_id } = await this.#client.call('backfillScores', {});
      this.#check(await resultOfJob(this.#client, job_id));
    });
  }

  async #timed(work: () => Promise<void>): Promise<WhatIfRound> {
    const begun = performance.now();
    const { memoryMiB } = await withMemory(this.running, ['scoring'], work);
    const seconds = (performance.now() - begun) / 1_000;
    return { eventsPerSecond: this.events / seconds, memoryMiB };
  }

  /** @throws Error where not all leads were replayed: the speed of wrong results is worth nothing */
  #check(result: unknown): void {
    const { leads } = (result ?? {}) as { leads?: number };
    if (leads === undefined || leads < this.leads)
      throw new Error(`a job has replayed ${leads ?? 'no'} leads of ${this.leads}`);
  }

  async #completed(asked: { outcome?: typeof outcome }): Promise<void> {
    const { job_id } = await this.#client.call('startWhatIf', {
      body: { changes: [{ op: 'change', rule_id: this.#ruleId, rule: { weight: 9 } }], ...asked },
    });
    this.#check(await resultOfJob(this.#client, job_id));
  }
}

/** Lets one job follow another until the work is done. */
async function meanwhile<Result>(work: () => Promise<Result>, job: () => Promise<unknown>): Promise<Result> {
  const working = work();
  const done = working.then(() => true);
  while (!(await Promise.race([done, Promise.resolve(false)]))) await job();
  return working;
}

function pace(
  generator: LoadGenerator,
  running: RunningRuledSystem,
  { leads, eventsPerSecond, forMs }: WhatIfSizes['live'],
): Promise<Latencies> {
  return paceLive(generator, running, { plan: planOf('live', leads, 5 * leads), eventsPerSecond, forMs });
}

function planOf(name: string, leads: number, events: number): WorkloadPlan {
  return {
    name,
    seed: 19,
    leads,
    events: events - (events % leads),
    eventsPerRequest,
    distribution: 'even',
    firstEventAt: Date.now() - 7_200_000,
  };
}
