// The work of the load generator, which runs in a process of its own (generator-process.ts).
import { performance } from 'node:perf_hooks';
import type { Position } from '@lead-scoring/contracts';
import { latenciesOf } from '../statistics.js';
import { createWorkload, type Workload, type WorkloadPlan } from '../workload.js';
import { expectSuccess, openConnections, postBatch, postEvents } from './connection.js';
import { startCpuMeter } from './cpu-meter.js';
import { pace } from './paced-load.js';
import { upload } from './import-load.js';
import type { Read, ReadResult, Flood, FloodResult, ResultOf, Work } from './protocol.js';
import { joinMarks, markOf, openReader } from './readable.js';

/** Makes a plan's bodies before the measurement, and keeps them for the next piece of work with the same plan. */
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
    case 'import':
      return upload(work);
    case 'pace':
      return pace(work, prepared(work.plan).bodies);
    case 'read':
      return read(work);
  }
}

async function flood(work: Flood, prepared: PreparedPlans): Promise<FloodResult> {
  const { workload, bodies } = prepared(work.plan);
  const connections = openConnections(work.target, work.connections);
  const post = (body: Buffer): Promise<{ accepted: number; position?: string }> =>
    work.plan.form === 'segment'
      ? postBatch(connections, body, work.plan.eventsPerRequest)
      : postEvents(connections, body);
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
      const answer = await post(body);
      latencies.push(performance.now() - sentAt);
      events += answer.accepted;
      if (answer.position !== undefined) marks.push(markOf({ position: answer.position }));
    }
  };
  try {
    await Promise.all(Array.from({ length: work.connections }, sendUntilDone));
    const acceptMs = performance.now() - startedAt;
    if (work.forMs === undefined && events !== work.plan.events)
      throw new Error(`${work.plan.events} events were sent, ${events} accepted`);
    let readableMs: number | null = null;
    if (reader && work.readable) {
      const acceptedSinceStart = work.readable.acceptedBefore + events;
      await reader.untilReadable(
        {
          mark: joinMarks(marks),
          alias: workload.aliasOf(0),
          aliasKind: work.plan.aliasKind,
          acceptedSinceStart,
        },
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

async function read(work: Read): Promise<ReadResult> {
  const connections = openConnections(work.target, work.connections);
  const latencies: number[] = [];
  let next = 0;
  let bytes = 0;
  const startedAt = performance.now();
  const readUntilDone = async () => {
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
    await Promise.all(Array.from({ length: work.connections }, readUntilDone));
    return { latencies: latenciesOf(Float64Array.from(latencies)), bytes };
  } finally {
    connections.close();
  }
}
