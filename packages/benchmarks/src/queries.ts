// (c) Latencies of reads over a store of 200,000 leads and 1 million events: without other load, and while events come in.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { leadIdOf } from '@lead-scoring/contracts';
import type { RunningScoringContender } from './contenders/contender.js';
import { startWholeSystem } from './contenders/whole-system.js';
import { expectSuccess, openConnections } from './load/connection.js';
import { startLoadGenerator, type LoadGenerator } from './load/load-generator.js';
import type { Target } from './load/connection.js';
import type { Read } from './load/protocol.js';
import type { Latencies } from './statistics.js';
import { companyOf, createWorkload, type Workload, type WorkloadPlan } from './workload.js';

export interface QuerySizes {
  leads: number;
  events: number;
  /** The measurement of a kind of read ends after `forMs`; without load, not before `atLeast` answers. */
  forMs: number;
  atLeast: number;
  /** Events a second that come in during the second half of the measurement. */
  backgroundEventsPerSecond: number;
}

export interface QueryResult {
  leads: number;
  events: number;
  /** Events a second at which the store was filled, from the first POST until all events were readable. */
  filledPerSecond: number;
  backgroundEventsPerSecond: number;
  kinds: { name: string; quiet: Latencies; loaded: Latencies }[];
}

export interface QueryKind {
  name: string;
  /** The path of the nth read; a kind that reads single leads or pages reads a different one each time. */
  path: (number: number) => string;
}

const mostPaths = 5_000;
const warmUpMs = 2_000;
const quietConnections = 1;
const loadedConnections = 4;

export async function measureQueries(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, events, forMs, atLeast, backgroundEventsPerSecond }: QuerySizes,
  say: (message: string) => void,
): Promise<QueryResult> {
  const plan: WorkloadPlan = {
    name: 'reads',
    seed: 11,
    leads,
    events,
    eventsPerRequest: 500,
    distribution: 'skewed',
    firstEventAt: Date.now() - 3_600_000 - events,
  };
  const system = await startWholeSystem(endpoints);
  const background = startLoadGenerator();
  try {
    const filledPerSecond = await fill(system, generator, plan);
    say(`  ${leads} leads and ${events} events are stored (${Math.round(filledPerSecond)} events/s)`);
    const workload = createWorkload(plan);
    await checkScores(system.target, system.ouId, workload);
    const kinds = queryKinds(workload, system.ouId);
    const quiet: Latencies[] = [];
    for (const kind of kinds) {
      const reads = { target: system.target, connections: quietConnections, forMs, atLeast };
      const latencies = await measureReads(generator, kind, reads);
      quiet.push(latencies);
      say(`  quiet, ${kind.name}: ${describeLatencies(latencies)}`);
    }
    const result: QueryResult = { leads, events, filledPerSecond, backgroundEventsPerSecond, kinds: [] };
    for (const [index, kind] of kinds.entries()) {
      const load = background.perform({
        do: 'pace',
        target: system.target,
        plan,
        connections: 16,
        eventsPerSecond: backgroundEventsPerSecond,
        forMs: warmUpMs + forMs,
      });
      const reads = { target: system.target, connections: loadedConnections, forMs, atLeast: 1 };
      const loaded = await measureReads(generator, kind, reads);
      await load;
      say(`  under load, ${kind.name}: ${describeLatencies(loaded)}`);
      const before = quiet[index];
      if (before) result.kinds.push({ name: kind.name, quiet: before, loaded });
    }
    return result;
  } finally {
    background.stop();
    await system.stop();
  }
}

/**
 * Sends the plan's events, and waits until all can be read.
 * @returns events a second
 */
export async function fill(
  { target, readable }: RunningScoringContender,
  generator: LoadGenerator,
  plan: WorkloadPlan,
): Promise<number> {
  const filled = await generator.perform({
    do: 'flood',
    target,
    plan,
    connections: 8,
    readable: { by: readable, timeoutMs: 1_800_000, acceptedBefore: 0 },
  });
  return plan.events / ((filled.readableMs ?? filled.acceptMs) / 1_000);
}

/** Measures reads of one kind, after a warm-up of reads that do not count. */
export async function measureReads(
  generator: LoadGenerator,
  kind: QueryKind,
  { target, connections, forMs, atLeast }: Omit<Read, 'do' | 'paths'>,
): Promise<Latencies> {
  const paths = Array.from({ length: mostPaths }, (_, number) => kind.path(number));
  const read = { do: 'read', target, connections } as const;
  await generator.perform({ ...read, paths: paths.slice(0, 20), forMs: warmUpMs, atLeast: 1 });
  return (await generator.perform({ ...read, paths, forMs, atLeast })).latencies;
}

function queryKinds(workload: Workload, ouId: string): QueryKind[] {
  const { leads } = workload.plan;
  // A prime step, so that every lead is read before one is read twice.
  const leadAt = (number: number) => (number * 7_919) % leads;
  const idAt = (number: number) => leadIdOf(ouId, 'email', workload.aliasOf(leadAt(number)));
  const busyIdAt = (number: number) => leadIdOf(ouId, 'email', workload.aliasOf(number % 100));
  const scores = workload.expected('rules').scores.toSorted();
  const scoreAt = (share: number) => scores[Math.floor(share * (scores.length - 1))] ?? 0;
  const lastPage = Math.floor(leads / 25);
  return [
    { name: 'GET /leads', path: () => '/leads' },
    { name: 'GET /leads?min_score (top 1 %)', path: () => `/leads?min_score=${scoreAt(0.99)}` },
    { name: 'GET /leads?min_score (half)', path: () => `/leads?min_score=${scoreAt(0.5)}` },
    { name: 'GET /leads?page (2 to 40)', path: (number) => `/leads?page=${2 + (number % 39)}` },
    {
      name: 'GET /leads?page (anywhere)',
      path: (number) => `/leads?page=${1 + ((number * 7_919) % lastPage)}`,
    },
    {
      name: 'GET /leads/search (a whole alias)',
      path: (number) => `/leads/search?q=${workload.aliasOf(leadAt(number))}`,
    },
    {
      name: 'GET /leads/search (one alias)',
      path: (number) => `/leads/search?q=${workload.aliasOf(leadAt(number)).slice(0, 12)}`,
    },
    {
      name: 'GET /leads/search (a company of 1,000)',
      path: (number) => `/leads/search?q=${encodeURIComponent(companyOf(workload.aliasOf(leadAt(number))))}`,
    },
    { name: 'GET /score/{id}', path: (number) => `/score/${idAt(number)}` },
    { name: 'GET /lead/{id}/score-explain', path: (number) => `/lead/${idAt(number)}/score-explain` },
    {
      name: 'GET /lead/{id}/score-explain (100 busiest leads)',
      path: (number) => `/lead/${busyIdAt(number)}/score-explain`,
    },
    { name: 'GET /events', path: () => '/events' },
    { name: 'GET /events?event_type', path: () => '/events?event_type=Form%20Submit' },
    { name: 'GET /events/{id}', path: (number) => `/events/${idAt(number)}` },
    { name: 'GET /events/{id} (100 busiest leads)', path: (number) => `/events/${busyIdAt(number)}` },
  ];
}

/** @throws Error when the score of a lead is not the expected one */
async function checkScores(target: Target, ouId: string, workload: Workload): Promise<void> {
  const { scores } = workload.expected('rules');
  const connections = openConnections(target, 1);
  try {
    for (let number = 0; number < 200; number += 1) {
      const lead = (number * 7_919) % workload.plan.leads;
      const path = `/score/${leadIdOf(ouId, 'email', workload.aliasOf(lead))}`;
      const text = expectSuccess(`GET ${path}`, await connections.send('GET', path));
      const { score } = JSON.parse(text) as { score: number };
      if (score !== scores[lead])
        throw new Error(`GET ${path}: the score is ${score}, expected ${String(scores[lead])}`);
    }
  } finally {
    connections.close();
  }
}

export function describeLatencies({ count, p50, p99, max }: Latencies): string {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, at most ${max.toFixed(1)} ms (${count} reads)`;
}
