// (k) Deletion of events: how long it takes to delete all events of a type that had given points, and how long live events take meanwhile.
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Client } from '@lead-scoring/client';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { startSystemWithRules, type RunningRuledSystem } from './contenders/whole-system.js';
import { resultOfJob } from './jobs.js';
import { paceLive } from './live-events.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { interleaved } from './rounds.js';
import type { Latencies } from './statistics.js';
import { workloadRules, type WorkloadPlan } from './workload.js';

export interface DeletionSizes {
  /** The leads that have the events. */
  leads: number;
  /** The events that one deletion deletes. */
  events: number;
  live: { leads: number; eventsPerSecond: number; warmUpMs: number };
}

interface DeletionRound {
  /** From the request until its job is completed, while nothing else happens, and while live events come in. */
  aloneMs: number;
  besideLiveMs: number;
  /** Of live events from POST to readable, while nothing is deleted and while a deletion runs. */
  quiet: Latencies;
  deleting: Latencies;
}

export interface DeletionsResult {
  leads: number;
  events: number;
  liveEventsPerSecond: number;
  rounds: DeletionRound[];
}

const pollMs = 50;
/** The deletion of a type is refused until ingest has followed the deletion of its rule. */
const protectedAtMostMs = 60_000;
/** Live events are measured for at least this time, however soon the deletion is done. */
const pacedAtLeastMs = 5_000;

export async function measureDeletions(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  sizes: DeletionSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<DeletionsResult> {
  const types = Array.from({ length: 2 * rounds }, (_, number) => `Deleted ${number}`);
  const running = await startSystemWithRules(endpoints, [
    ...workloadRules.map(({ form }) => form),
    ...types.map((type) => ({ event_type: type, weight: 4, label: type, attribute_filters: [] })),
  ]);
  try {
    const { leads, events, live } = sizes;
    const measurement = new DeletionMeasurement(running, generator, sizes);
    for (const type of types) await measurement.fill(type);
    await measurement.pace(live.warmUpMs);
    const pending = [...types];
    const next = () => {
      const type = pending.pop();
      if (type === undefined) throw new RangeError('there are no events left to delete');
      return type;
    };
    const [measured] = await interleaved(
      [{ name: 'deletion' }],
      rounds,
      () => measurement.round(next(), next()),
      {
        say,
        describe: ({ aloneMs, besideLiveMs, quiet, deleting }) =>
          `${(aloneMs / 1_000).toFixed(1)} s alone, ${(besideLiveMs / 1_000).toFixed(1)} s beside live events; p99 of live events ` +
          `${quiet.p99.toFixed(0)} ms, beside the deletion ${deleting.p99.toFixed(0)} ms`,
      },
    );
    return { leads, events, liveEventsPerSecond: live.eventsPerSecond, rounds: measured?.rounds ?? [] };
  } finally {
    await running.stop();
  }
}

class DeletionMeasurement {
  readonly #client: Client;

  constructor(
    private readonly running: RunningRuledSystem,
    private readonly generator: LoadGenerator,
    private readonly sizes: DeletionSizes,
  ) {
    this.#client = createClient({ baseUrl: running.target.baseUrl, token: running.token });
  }

  /** Lets each lead have as many events of the type. */
  async fill(type: string): Promise<void> {
    const { leads, events } = this.sizes;
    await floodUntilReadable(this.generator, this.running, planOf('deleted', leads, events, type));
  }

  async round(first: string, second: string): Promise<DeletionRound> {
    await this.#deleteRuleOf(first);
    await this.#deleteRuleOf(second);
    const aloneMs = await this.#delete(first);
    const pacedMs = Math.max(aloneMs, pacedAtLeastMs);
    const quiet = await this.pace(pacedMs);
    const [deleting, besideLiveMs] = await Promise.all([this.pace(pacedMs), this.#delete(second)]);
    return { aloneMs, besideLiveMs, quiet, deleting };
  }

  pace(forMs: number): Promise<Latencies> {
    const { leads, eventsPerSecond } = this.sizes.live;
    const plan = planOf('live', leads, 5 * leads);
    return paceLive(this.generator, this.running, { plan, eventsPerSecond, forMs });
  }

  async #deleteRuleOf(type: string): Promise<void> {
    const { data } = await this.#client.call('listRules', { query: { event_type: type, limit: 1 } });
    const [rule] = data;
    if (!rule) throw new Error(`there is no rule for ${type}`);
    await this.#client.call('deleteRule', { parameters: { id: rule.id } });
    const deadline = Date.now() + protectedAtMostMs;
    for (;;) {
      const types = await this.#client.call('listEventTypeSettings', {});
      if (types.find(({ name }) => name === type)?.deletable) return;
      if (Date.now() > deadline) throw new Error(`${type} is still protected`);
      await pause(pollMs);
    }
  }

  /** @returns milliseconds until the job is completed */
  async #delete(type: string): Promise<number> {
    const begun = performance.now();
    const answer = await this.#client.call('deleteEventTypeEvents', { parameters: { eventType: type } });
    const result = 'events_deleted' in answer ? answer : await resultOfJob(this.#client, answer.id);
    const ms = performance.now() - begun;
    const deleted = result && 'events_deleted' in result ? result.events_deleted : 0;
    if (deleted !== this.sizes.events)
      throw new Error(`${deleted} events of ${this.sizes.events} were deleted`);
    return ms;
  }
}

function planOf(name: string, leads: number, events: number, eventType?: string): WorkloadPlan {
  return {
    name,
    seed: 29,
    leads,
    events: events - (events % leads),
    eventsPerRequest: 500,
    distribution: 'even',
    firstEventAt: Date.now() - 7_200_000,
    ...(eventType !== undefined && { eventType }),
  };
}
