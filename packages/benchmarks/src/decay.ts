// (g) Decay: how fast the ticks of many leads that are due at one moment are decided, against the rate at which events are scored;
// and how long live events take meanwhile.
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@lead-scoring/client';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { MongoClient } from 'mongodb';
import { startSystemWithRules, type RunningRuledSystem } from './contenders/whole-system.js';
import { paceLive } from './live-events.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { interleaved } from './rounds.js';
import type { Latencies } from './statistics.js';
import { eventTypes, type WorkloadPlan } from './workload.js';

export interface DecaySizes {
  /** The leads that are due at one moment. */
  leads: number;
  warmUpEvents: number;
  /** From the sending of the leads' events until their ticks are due: the events must be scored by then. */
  dueAfterMs: number;
  live: { leads: number; eventsPerSecond: number };
}

interface DecayRound {
  /** Events of the leads a second, one of each lead, from the first POST until all were readable. */
  scoredPerSecond: number;
  /** Ticks a second, from the moment at which they are run until none is due. */
  ticksPerSecond: number;
  /** The same while live events come in, as long as the ticks took alone. */
  ticksBesideLivePerSecond: number;
  /** Of live events from POST to readable, while no tick is due and while ticks are decided. */
  quiet: Latencies;
  decaying: Latencies;
}

export interface DecayResult {
  leads: number;
  liveEventsPerSecond: number;
  rounds: DecayRound[];
}

const dayMs = 86_400_000;
/** Ticks are decided from so long after their time on (decision 0039). */
const graceMs = 5_000;
const pollMs = 200;
/** The number of partitions when nothing else is set. */
const partitions = Array.from({ length: 6 }, (_, partition) => partition);
const timeoutMs = 600_000;
/** Every event gives as many points, and every tick takes one. */
const rules = [{ event_type: 'Page View', weight: 10, label: 'A visit', attribute_filters: [] }];

export async function measureDecay(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  sizes: DecaySizes,
  rounds: number,
  say: (message: string) => void,
): Promise<DecayResult> {
  const running = await startSystemWithRules(endpoints, rules);
  const mongo = await MongoClient.connect(endpoints.mongodbUri);
  try {
    const client = createClient({ baseUrl: running.target.baseUrl, token: running.token });
    await client.call('createDecay', {
      body: { name: 'A quiet day', mode: 'inactivity_points', points: -1, interval_days: 1 },
    });
    const decay = new DecayMeasurement(running, generator, mongo, sizes);
    await decay.warmUp();
    const [measured] = await interleaved([{ name: 'decay' }], rounds, () => decay.round(), {
      say,
      describe: ({ scoredPerSecond, ticksPerSecond, ticksBesideLivePerSecond, quiet, decaying }) =>
        `${Math.round(scoredPerSecond)} events/s, ${Math.round(ticksPerSecond)} ticks/s, ` +
        `${Math.round(ticksBesideLivePerSecond)} ticks/s beside live events; p99 of live events ` +
        `${quiet.p99.toFixed(0)} ms without ticks, ${decaying.p99.toFixed(0)} ms beside them`,
    });
    const { leads, live } = sizes;
    return { leads, liveEventsPerSecond: live.eventsPerSecond, rounds: measured?.rounds ?? [] };
  } finally {
    await mongo.close();
    await running.stop();
  }
}

class DecayMeasurement {
  readonly #due;

  constructor(
    private readonly running: RunningRuledSystem,
    private readonly generator: LoadGenerator,
    mongo: MongoClient,
    private readonly sizes: DecaySizes,
  ) {
    this.#due = mongo
      .db(running.scoringDatabase)
      .collection<{ partition: number; due_at: string }>('decay_due_leads');
  }

  async warmUp(): Promise<void> {
    const { leads, warmUpEvents } = this.sizes;
    const events = warmUpEvents - (warmUpEvents % leads);
    const plan = planOf('warmup', leads, events, Date.now() - dayMs / 2);
    await floodUntilReadable(this.generator, this.running, plan);
    await this.#pace(this.sizes.dueAfterMs / 2);
  }

  async round(): Promise<DecayRound> {
    const { scoredPerSecond, dueAt } = await this.#leadsFallDue();
    await until(dueAt);
    const aloneMs = await this.#untilNoneIsDue(dueAt);

    const again = await this.#leadsFallDue();
    const quiet = await this.#pace(again.dueAt - Date.now());
    await until(again.dueAt);
    const end = this.#untilNoneIsDue(again.dueAt);
    const decaying = await this.#pace(aloneMs);
    const ticksBesideLivePerSecond = await this.#ticksPerSecondSince(again.dueAt);
    await end;
    return {
      scoredPerSecond,
      ticksPerSecond: perSecond(this.sizes.leads, aloneMs),
      ticksBesideLivePerSecond,
      quiet,
      decaying,
    };
  }

  /** Sends an event of each lead, all of the same time: a day later is soon. */
  async #leadsFallDue(): Promise<{ scoredPerSecond: number; dueAt: number }> {
    const { leads, dueAfterMs } = this.sizes;
    const tickAt = Date.now() + dueAfterMs - graceMs;
    const plan = planOf('idle', leads, leads, tickAt - dayMs);
    const { events, readableMs } = await floodUntilReadable(this.generator, this.running, plan);
    const dueAt = tickAt + graceMs;
    if (Date.now() > tickAt)
      throw new Error(`The events of ${leads} leads were not readable within ${dueAfterMs - graceMs} ms.`);
    return { scoredPerSecond: perSecond(events, readableMs), dueAt };
  }

  /** Sends live events of other leads, and returns how long probes took. */
  #pace(forMs: number): Promise<Latencies> {
    const { leads, eventsPerSecond } = this.sizes.live;
    return paceLive(this.generator, this.running, {
      plan: planOf('live', leads, 5 * leads, Date.now() - 60_000),
      eventsPerSecond,
      forMs,
      probeType: 'Page View',
    });
  }

  /** The rate at which the ticks that were due at `dueAt` were decided from then until now, in ticks a second. */
  async #ticksPerSecondSince(dueAt: number): Promise<number> {
    const now = Date.now();
    const left = await this.#due.countDocuments(dueBy(dueAt));
    return perSecond(this.sizes.leads - left, now - dueAt);
  }

  /** @returns milliseconds from `dueAt` on */
  async #untilNoneIsDue(dueAt: number): Promise<number> {
    while (await this.#due.findOne(dueBy(dueAt), { projection: { _id: 1 } })) {
      if (Date.now() > dueAt + timeoutMs) throw new Error('the ticks were not decided in time');
      await pause(pollMs);
    }
    return Date.now() - dueAt;
  }
}

/** The entries that are due, by the index, which begins with the partition. */
function dueBy(time: number) {
  return { partition: { $in: partitions }, due_at: { $lte: new Date(time).toISOString() } };
}

function planOf(name: string, leads: number, events: number, at: number): WorkloadPlan {
  return {
    name,
    seed: 17,
    leads,
    events,
    eventsPerRequest: 500,
    distribution: 'even',
    firstEventAt: at,
    eventEveryMs: 0,
    eventType: eventTypes[0],
  };
}

function perSecond(count: number, ms: number): number {
  return count / (ms / 1_000);
}

function until(time: number): Promise<void> {
  return pause(Math.max(0, time - Date.now()));
}
