// (l) Visitors who say who they are: how long it takes from the event that names both until it is visible behind the visitor's past, beside
// live events, and how many visitors a second can join persons. And the rate at which Segment's batches are accepted, against POST /ingest.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@lead-scoring/client';
import { leadIdOf } from '@lead-scoring/contracts';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import {
  startGatewayWithSegment,
  startSystemWithRules,
  type RunningRuledSystem,
} from './contenders/whole-system.js';
import { paceLive } from './live-events.js';
import { expectSuccess, openConnections, postEvents, type Connections } from './load/connection.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { sendAtRate } from './load/paced-load.js';
import { interleaved } from './rounds.js';
import { latenciesOf, type Latencies } from './statistics.js';
import { createWorkload, eventTypes, workloadRules, type WorkloadPlan } from './workload.js';

export interface JoinSizes {
  /** The events that each visitor has before the join. */
  pastEvents: number;
  live: { leads: number; eventsPerSecond: number };
  /** Joins a second while their latency is measured, and when as many as are to be sustained come. */
  fewPerSecond: number;
  manyPerSecond: number;
  forMs: number;
  segment: { warmUpMs: number; turnMs: number };
}

interface JoinRound {
  /** From the POST of the event that names both until it is visible. */
  latencies: Latencies;
  /** Joins a second, from the first POST until the last of them is visible. */
  joinsPerSecond: number;
}

export interface JoinsResult {
  pastEvents: number;
  liveEventsPerSecond: number;
  fewPerSecond: number;
  manyPerSecond: number;
  few: JoinRound[];
  many: JoinRound[];
  /** POST /ingest and POST /v1/batch. */
  doors: { name: string; rounds: { eventsPerSecond: number; cpuPerEventUs: number }[] }[];
}

/** As many messages as clients of Segment send at once at most are some 500 KB. */
const eventsPerRequest = 500;
const connections = 16;
/** Joins that are timed, and the pause between two looks at one of them. Each look is a load of its own. */
interface Timing {
  readonly timedPerSecond: number;
  readonly pauseMs: number;
}
const timings = {
  few: { timedPerSecond: 10, pauseMs: 20 },
  // At the limit of the system, a join may wait for seconds.
  many: { timedPerSecond: 2, pauseMs: 250 },
} satisfies Record<string, Timing>;
const visibleAtMostMs = 60_000;
const turnsInRound = 5;

export async function measureJoins(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  sizes: JoinSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<JoinsResult> {
  const { pastEvents, live, fewPerSecond, manyPerSecond } = sizes;
  const running = await startSystemWithRules(
    endpoints,
    workloadRules.map(({ form }) => form),
  );
  const few: JoinRound[] = [];
  const many: JoinRound[] = [];
  try {
    const joins = new Joins(running, generator, sizes);
    // The first joins of a process are slower, because V8 compiles their code then.
    await joins.measure('warmup', fewPerSecond, timings.few);
    for (let round = 0; round < rounds; round += 1) {
      few.push(await joins.measure(`few${round}`, fewPerSecond, timings.few));
      many.push(await joins.measure(`many${round}`, manyPerSecond, timings.many));
      for (const [perSecond, measured] of [
        [fewPerSecond, few.at(-1)],
        [manyPerSecond, many.at(-1)],
      ] as const)
        say(
          `  ${perSecond} joins/s: p99 ${measured?.latencies.p99.toFixed(0)} ms, ${measured?.joinsPerSecond.toFixed(1)} joins/s until the last was visible`,
        );
    }
  } finally {
    await running.stop();
  }
  const doors = await measureDoors(endpoints, generator, sizes.segment, rounds, say);
  return {
    pastEvents,
    liveEventsPerSecond: live.eventsPerSecond,
    fewPerSecond,
    manyPerSecond,
    few,
    many,
    doors,
  };
}

class Joins {
  readonly #client;

  constructor(
    private readonly running: RunningRuledSystem,
    private readonly generator: LoadGenerator,
    private readonly sizes: JoinSizes,
  ) {
    this.#client = createClient({ baseUrl: running.target.baseUrl, token: running.token });
  }

  /** Lets as many visitors join persons, at this rate, beside live events. */
  async measure(name: string, perSecond: number, timing: Timing): Promise<JoinRound> {
    const { pastEvents, live, forMs } = this.sizes;
    const visitors = Math.round((perSecond * forMs) / 1_000);
    const past = planOf(name, visitors, visitors * pastEvents, 'anonymous_id');
    await floodUntilReadable(this.generator, this.running, past);
    const [joined] = await Promise.all([
      this.#join(past, perSecond, timing),
      paceLive(this.generator, this.running, {
        plan: planOf('live', live.leads, 5 * live.leads),
        eventsPerSecond: live.eventsPerSecond,
        forMs,
      }),
    ]);
    await this.#check(past);
    return joined;
  }

  async #join(
    past: WorkloadPlan,
    perSecond: number,
    { timedPerSecond, pauseMs }: Timing,
  ): Promise<JoinRound> {
    const { target, ouId } = this.running;
    const workload = createWorkload(past);
    const senders = openConnections(target, 64);
    const readers = openConnections(target, 64);
    const latencies: number[] = [];
    const timedOneIn = Math.max(1, Math.round(perSecond / timedPerSecond));
    const startedAt = performance.now();
    let lastVisibleAt = startedAt;
    const join = async (visitor: number, dueAt: number) => {
      const alias = personOf(past, visitor);
      const timestamp = new Date().toISOString();
      await postEvents(senders, namingEvent(alias, workload.aliasOf(visitor), timestamp));
      if (visitor % timedOneIn !== 0 && visitor !== past.leads - 1) return;
      const visibleAt = await untilVisible(readers, leadIdOf(ouId, 'email', alias), { timestamp, pauseMs });
      latencies.push(visibleAt - dueAt);
      lastVisibleAt = Math.max(lastVisibleAt, visibleAt);
    };
    try {
      const goesOn = (visitor: number) => visitor < past.leads;
      await Promise.all(await sendAtRate(perSecond, { startedAt, goesOn }, join));
    } finally {
      senders.close();
      readers.close();
    }
    return {
      latencies: latenciesOf(Float64Array.from(latencies)),
      joinsPerSecond: (past.leads * 1_000) / (lastVisibleAt - startedAt),
    };
  }

  /** @throws Error where a person lacks events of the visitor: the speed of wrong results is worth nothing */
  async #check(past: WorkloadPlan): Promise<void> {
    for (let visitor = 0; visitor < past.leads; visitor += Math.ceil(past.leads / 20)) {
      const { data } = await this.#client.call('searchLeads', { query: { q: personOf(past, visitor) } });
      const [lead] = data;
      if (data.length !== 1 || lead?.event_count !== this.sizes.pastEvents + 1)
        throw new Error(`${personOf(past, visitor)} has ${lead?.event_count ?? 'no'} events`);
    }
  }
}

function personOf({ name }: WorkloadPlan, visitor: number): string {
  return `person-${visitor}.${name}@bench.example`;
}

function namingEvent(email: string, anonymousId: string, timestamp: string): Buffer {
  return Buffer.from(
    JSON.stringify([
      {
        aliases: [
          { alias_kind: 'email', alias: email },
          { alias_kind: 'anonymous_id', alias: anonymousId },
        ],
        event_type: eventTypes[3],
        timestamp,
      },
    ]),
  );
}

/** The event comes behind the past, so that the past is there when the event is. */
async function untilVisible(
  readers: Connections,
  leadId: string,
  { timestamp, pauseMs }: { timestamp: string; pauseMs: number },
): Promise<number> {
  const path = `/score/${leadId}`;
  const deadline = performance.now() + visibleAtMostMs;
  for (;;) {
    const answer = await readers.send('GET', path);
    if (answer.status !== 404) {
      const { last_activity_at } = JSON.parse(expectSuccess(`GET ${path}`, answer)) as {
        last_activity_at: string;
      };
      if (last_activity_at === timestamp) return performance.now();
    }
    if (performance.now() > deadline) throw new Error(`a join is not visible after ${visibleAtMostMs} ms`);
    await pause(pauseMs);
  }
}

/** Events accepted a second by the gateway, while nothing consumes them. */
async function measureDoors(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { warmUpMs, turnMs }: JoinSizes['segment'],
  rounds: number,
  say: (message: string) => void,
): Promise<JoinsResult['doors']> {
  const gateway = await startGatewayWithSegment(endpoints);
  try {
    const doors = [
      { name: 'POST /ingest', target: gateway.target, form: {} },
      {
        name: 'POST /v1/batch',
        target: gateway.segment,
        form: { form: 'segment' as const },
      },
    ];
    const measure = async ({ target, form }: (typeof doors)[number], forMs: number) => {
      const before = gateway.cpuSeconds();
      const { events, acceptMs } = await generator.perform({
        do: 'flood',
        target,
        plan: { ...planOf('doors', 1_000, 100_000), ...form },
        connections,
        forMs,
      });
      return {
        eventsPerSecond: events / (acceptMs / 1_000),
        cpuPerEventUs: ((gateway.cpuSeconds() - before) * 1_000_000) / events,
      };
    };
    for (const door of doors) await measure(door, warmUpMs);
    return await interleaved(doors, rounds * turnsInRound, (door) => measure(door, turnMs), {
      say,
      describe: ({ eventsPerSecond, cpuPerEventUs }) =>
        `${Math.round(eventsPerSecond)} events/s accepted, ${cpuPerEventUs.toFixed(1)} µs an event`,
    });
  } finally {
    await gateway.stop();
  }
}

function planOf(name: string, leads: number, events: number, aliasKind?: string): WorkloadPlan {
  return {
    name,
    seed: 31,
    leads,
    events,
    eventsPerRequest,
    distribution: 'even',
    firstEventAt: Date.now() - 7_200_000,
    ...(aliasKind !== undefined && { aliasKind }),
  };
}
