// Sends events and probes at a fixed rate, without waiting for answers.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { latenciesOf } from '../statistics.js';
import { probeBody } from '../workload.js';
import { openConnections, postEvents, type Connections } from './connection.js';
import { startCpuMeter } from './cpu-meter.js';
import type { Pace, PaceResult } from './protocol.js';
import { markOf, openReader } from './readable.js';

type Probes = NonNullable<Pace['probes']>;

/** Resolves when the request is answered, or the probe is readable. */
type Send = (number: number, dueAt: number) => Promise<void>;

/** Requests of the plan's events, each timed from the moment at which it is due. */
class PacedRequests {
  readonly latencies: number[] = [];
  events = 0;
  readonly #bodies: readonly Buffer[];
  readonly #connections: Connections;

  constructor(work: Pace, bodies: readonly Buffer[]) {
    this.#bodies = bodies;
    this.#connections = openConnections(work.target, work.connections);
  }

  readonly send: Send = async (number, dueAt) => {
    const body = this.#bodies[number % this.#bodies.length];
    if (!body) throw new RangeError('the plan holds no events');
    const answer = await postEvents(this.#connections, body);
    this.latencies.push(performance.now() - dueAt);
    this.events += answer.accepted;
  };

  close(): void {
    this.#connections.close();
  }
}

/** Single events of leads of their own, each timed until it is readable. */
class PacedProbes {
  readonly latencies: number[] = [];
  readonly perSecond: number;
  gaveUp = false;
  /** The due times of the probes that are not readable yet, the oldest first. */
  readonly #pending = new Set<number>();
  readonly #plan: Pace['plan'];
  readonly #probes: Probes;
  readonly #reader;
  readonly #connections: Connections;

  constructor({ target, plan }: Pace, probes: Probes) {
    this.perSecond = probes.perSecond;
    this.#plan = plan;
    this.#probes = probes;
    this.#reader = openReader(probes.readable);
    // Probes have connections of their own, so that they do not wait for the large requests.
    this.#connections = openConnections(target, 64);
  }

  readonly send: Send = async (number, dueAt) => {
    const { name, seed } = this.#plan;
    const alias = `prob-${String(number).padStart(7, '0')}.${name}-${seed}@bench.example`;
    this.#pending.add(dueAt);
    const body = probeBody(alias, Date.now(), this.#probes.eventType);
    const answer = await postEvents(this.#connections, body);
    const accepted = { mark: markOf(answer), alias, acceptedSinceStart: 0 };
    const readableAt = await this.#reader.untilReadable(accepted, this.#probes.timeoutMs);
    this.latencies.push(readableAt - dueAt);
    this.#pending.delete(dueAt);
  };

  /** Whether a probe was not readable in time, now or before. */
  isTooLate(): boolean {
    const [oldest] = this.#pending;
    const limitMs = this.#probes.giveUpAfterMs ?? Infinity;
    if (oldest !== undefined && performance.now() - oldest > limitMs) this.gaveUp = true;
    return this.gaveUp;
  }

  close(): void {
    this.#connections.close();
    this.#reader.close();
  }
}

/**
 * Sends at a fixed rate, without waiting for answers.
 * @param startedAt when the first is due, by performance.now()
 * @param goesOn whether the one with this number, due so many milliseconds after the first, is sent
 * @returns the requests, once all of them are sent; each rejects when its request fails
 */
export async function sendAtRate(
  perSecond: number,
  { startedAt, goesOn }: { startedAt: number; goesOn: (number: number, dueMs: number) => boolean },
  send: Send,
): Promise<Promise<void>[]> {
  const sendings: Promise<void>[] = [];
  for (let number = 0; ; number += 1) {
    const dueMs = (number * 1_000) / perSecond;
    if (!goesOn(number, dueMs)) return sendings;
    const wait = startedAt + dueMs - performance.now();
    if (wait > 0) await pause(wait);
    const sending = send(number, startedAt + dueMs);
    // The failure is reported when all are awaited; until then it must not end the process.
    sending.catch(() => undefined);
    sendings.push(sending);
  }
}

/** Sends the plan's events, and probes between them, until the time is over or a probe is too late. */
export async function pace(work: Pace, bodies: readonly Buffer[]): Promise<PaceResult> {
  const requests = new PacedRequests(work, bodies);
  const probes = work.probes && new PacedProbes(work, work.probes);
  const cpu = startCpuMeter();
  const startedAt = performance.now();
  const goesOn = (_number: number, dueMs: number) => dueMs < work.forMs && !probes?.isTooLate();
  try {
    const sendings = await Promise.all([
      sendAtRate(work.eventsPerSecond / work.plan.eventsPerRequest, { startedAt, goesOn }, requests.send),
      probes ? sendAtRate(probes.perSecond, { startedAt, goesOn }, probes.send) : [],
    ]);
    await Promise.all(sendings.flat());
    return {
      events: requests.events,
      probes: probes?.latencies.length ?? 0,
      gaveUp: probes?.gaveUp ?? false,
      elapsedMs: performance.now() - startedAt,
      latencies: latenciesOf(Float64Array.from(requests.latencies)),
      probeLatencies: probes?.latencies.length ? latenciesOf(Float64Array.from(probes.latencies)) : null,
      generatorCores: cpu(),
    };
  } finally {
    requests.close();
    probes?.close();
  }
}
