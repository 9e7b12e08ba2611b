// What the load generator can do; runs in a process of its own (generator-process.ts).
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Position } from '@lead-scoring/contracts';
import { latenciesOf } from '../statistics.js';
import { createWorkload, probeBody, type Workload, type WorkloadPlan } from '../workload.js';
import { expectSuccess, openConnections, type Answer, type Connections } from './connection.js';
import type { Ask, AskResult, Flood, FloodResult, Pace, PaceResult, ResultOf, Work } from './protocol.js';
import { joinMarks, markOf, openReader } from './readable.js';

/** Bodies are made before the clock starts, and kept for the next piece of work with the same plan. */
export type PreparedPlans = (plan: WorkloadPlan) => { workload: Workload; bodies: Buffer[] };

export function createPreparedPlans(): PreparedPlans {
  let kept: { key: string; workload: Workload; bodies: Buffer[] } | undefined;
  return (plan) => {
    const key = JSON.stringify(plan);
    if (kept?.key !== key) {
      const workload = createWorkload(plan);
      kept = { key, workload, bodies: workload.bodies() };
    }
    return kept;
  };
}

export function perform(work: Work, prepared: PreparedPlans): Promise<ResultOf[Work['do']]> {
  switch (work.do) {
    case 'flood':
      return flood(work, prepared);
    case 'pace':
      return pace(work, prepared);
    case 'ask':
      return ask(work);
  }
}

async function flood(work: Flood, prepared: PreparedPlans): Promise<FloodResult> {
  const { workload, bodies } = prepared(work.plan);
  const connections = openConnections(work.target, work.connections);
  const reader = work.readable && openReader(work.readable.by);
  const latencies: number[] = [];
  const marks: Position[] = [];
  let events = 0;
  let next = 0;
  const cpu = startCpuMeter();
  const startedAt = performance.now();
  const goesOn = () =>
    work.forMs === undefined ? next < bodies.length : performance.now() - startedAt < work.forMs;
  const sendUntilDone = async () => {
    while (goesOn()) {
      const body = bodies[next % bodies.length];
      if (!body) throw new RangeError('the plan holds no events');
      next += 1;
      const sentAt = performance.now();
      const answer = await post(connections, body);
      latencies.push(performance.now() - sentAt);
      events += answer.accepted;
      if (reader) marks.push(markOf(answer));
    }
  };
  try {
    await Promise.all(Array.from({ length: work.connections }, sendUntilDone));
    const acceptMs = performance.now() - startedAt;
    if (work.forMs === undefined && events !== work.plan.events)
      throw new Error(`${work.plan.events} events were sent, ${events} accepted`);
    let readableMs: number | null = null;
    if (reader && work.readable) {
      const inAll = work.readable.acceptedBefore + events;
      await reader.untilReadable(
        { mark: joinMarks(marks), alias: workload.aliasOf(0), inAll },
        work.readable.timeoutMs,
      );
      readableMs = performance.now() - startedAt;
    }
    return {
      events,
      requests: latencies.length,
      acceptMs,
      readableMs,
      latencies: latenciesOf(Float64Array.from(latencies)),
      generatorCores: cpu(),
    };
  } finally {
    connections.close();
    reader?.close();
  }
}

async function pace(work: Pace, prepared: PreparedPlans): Promise<PaceResult> {
  const { bodies } = prepared(work.plan);
  const connections = openConnections(work.target, work.connections);
  const probes = work.probes && { ...work.probes, reader: openReader(work.probes.readable) };
  // Probes have connections of their own, so that they wait for no large request of ours.
  const probeConnections = openConnections(work.target, 64);
  const latencies: number[] = [];
  const probeLatencies: number[] = [];
  const underWay: Promise<void>[] = [];
  /** When the probes were due that are not readable yet, the oldest first. */
  const pending = new Set<number>();
  let events = 0;
  let gaveUp = false;
  const cpu = startCpuMeter();
  const startedAt = performance.now();

  const isTooLate = () => {
    const [oldest] = pending;
    if (oldest !== undefined && performance.now() - oldest > (work.probes?.giveUpAfterMs ?? Infinity))
      gaveUp = true;
    return gaveUp;
  };
  const sendBatch = async (number: number, dueAt: number) => {
    const body = bodies[number % bodies.length];
    if (!body) throw new RangeError('the plan holds no events');
    const answer = await post(connections, body);
    latencies.push(performance.now() - dueAt);
    events += answer.accepted;
  };
  const sendProbe = async (number: number, dueAt: number) => {
    if (!probes) return;
    const { name, seed } = work.plan;
    const alias = `prob-${String(number).padStart(7, '0')}.${name}-${seed}@bench.example`;
    pending.add(dueAt);
    const answer = await post(probeConnections, probeBody(alias, Date.now(), probes.eventType));
    const accepted = { mark: markOf(answer), alias, inAll: 0 };
    probeLatencies.push((await probes.reader.untilReadable(accepted, probes.timeoutMs)) - dueAt);
    pending.delete(dueAt);
  };
  const keepPace = async (perSecond: number, send: (number: number, dueAt: number) => Promise<void>) => {
    for (let number = 0; ; number += 1) {
      const dueMs = (number * 1_000) / perSecond;
      if (dueMs >= work.forMs || isTooLate()) return;
      const wait = startedAt + dueMs - performance.now();
      if (wait > 0) await pause(wait);
      const sending = send(number, startedAt + dueMs);
      underWay.push(sending);
      // Seen when all are awaited; until then a failure must not end the process.
      sending.catch(() => undefined);
    }
  };
  try {
    await Promise.all([
      keepPace(work.eventsPerSecond / work.plan.eventsPerRequest, sendBatch),
      probes && keepPace(probes.perSecond, sendProbe),
    ]);
    await Promise.all(underWay);
    return {
      events,
      probes: probeLatencies.length,
      gaveUp,
      elapsedMs: performance.now() - startedAt,
      latencies: latenciesOf(Float64Array.from(latencies)),
      probeLatencies: probeLatencies.length === 0 ? null : latenciesOf(Float64Array.from(probeLatencies)),
      generatorCores: cpu(),
    };
  } finally {
    connections.close();
    probeConnections.close();
    probes?.reader.close();
  }
}

async function ask(work: Ask): Promise<AskResult> {
  const connections = openConnections(work.target, work.connections);
  const latencies: number[] = [];
  let next = 0;
  let bytes = 0;
  const startedAt = performance.now();
  const askUntilDone = async () => {
    for (;;) {
      const path = work.paths[next];
      if (path === undefined) return;
      if (next >= work.atLeast && performance.now() - startedAt > work.forMs) return;
      next += 1;
      const sentAt = performance.now();
      const text = expectSuccess(`GET ${path}`, await connections.send('GET', path));
      latencies.push(performance.now() - sentAt);
      bytes += text.length;
    }
  };
  try {
    await Promise.all(Array.from({ length: work.connections }, askUntilDone));
    return { latencies: latenciesOf(Float64Array.from(latencies)), bytes };
  } finally {
    connections.close();
  }
}

async function post(connections: Connections, body: Buffer): Promise<{ accepted: number; position: string }> {
  const answer: Answer = await connections.send('POST', '/ingest', body);
  return JSON.parse(expectSuccess('POST /ingest', answer)) as { accepted: number; position: string };
}

/** Gives the share of one core that this process used since it was called. */
function startCpuMeter(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / (performance.now() - startedAt);
  };
}
