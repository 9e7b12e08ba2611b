// Every process is restarted, one after the other, under events and reads, with a load balancer in front of each service: no read fails, no
// write is refused without a time to try again, and every event counts once. `npm run test:chaos` alone runs it: it takes twelve processes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { leadIdOf, serviceNames, type ServiceName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { obstacleAt } from '@lead-scoring/start';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import {
  auditUntilRight,
  createLedger,
  createRules,
  endlessTraffic,
  nothingWrong,
  untilVisible,
  type Ledger,
} from './ledger.js';
import { startLoadBalancer, type LoadBalancer } from './load-balancer.js';
import { requestsTo, startTestSystem, type TestSystem } from './test-system.js';

const eventsPerRequest = 100;
/** 2,000 events a second. */
const writeEveryMs = 50;
/** 50 reads a second. */
const readEveryMs = 20;
const readyWithinMs = 90_000;
const lookEveryMs = 500;
/** Far longer than two looks of a balancer: the machine is busy with twelve processes. */
const shutdownDelayMs = 10_000;
const knownAlias = 'known@example.com';

let balancers: Record<ServiceName, LoadBalancer>;
let system: TestSystem;
/** The system as its clients see it: behind the balancer of the gateways. */
let balanced: TestSystem;
let ledger: Ledger;

beforeAll(async () => {
  if (!isFullSize) return;
  const started = await Promise.all(
    serviceNames.map(async (name) => [name, await startLoadBalancer(lookEveryMs)] as const),
  );
  balancers = Object.fromEntries(started) as Record<ServiceName, LoadBalancer>;
  system = await startTestSystem({
    instances: Object.fromEntries(serviceNames.map((name) => [name, 2])),
    environment: { SHUTDOWN_DELAY_MS: String(shutdownDelayMs) },
    environmentOf: urlsOfBalancers,
  });
  for (const name of serviceNames)
    balancers[name].follow([0, 1].map((instance) => system.service(name, instance).url));
  balanced = { ...system, request: requestsTo(balancers.gateway.url, system.token) };
  await eventually(
    'the balancers have processes',
    async () => (await readOf('/leads')).status === 200,
    60_000,
  );
  ledger = createLedger(balanced);
  await createRules(balanced);
  await ledger.deliver(
    [
      {
        alias: knownAlias,
        event_type: 'Page View',
        event_id: 'known',
        path: '/',
        timestamp: new Date().toISOString(),
      },
    ],
    30_000,
  );
  await untilVisible(balanced, ledger, 60_000);
}, 240_000);

afterAll(async () => {
  if (!isFullSize) return;
  await system.stop();
  await Promise.all(Object.values(balancers).map((one) => one.stop()));
}, 90_000);

(isFullSize ? describe : describe.skip)('every process is restarted under load', () => {
  test('no read fails, no write is refused without a time to try again, and every event counts once', async () => {
    const batches = endlessTraffic({
      random: seededRandom(29),
      leads: 1_000,
      repeats: 0.05,
      batch: [eventsPerRequest, eventsPerRequest],
      name: 'rolling',
    });
    const wrong: string[] = [];
    let restarting = 'none';
    const paths = [...readPaths, `/leads/${leadIdOf(system.ouId, 'email', knownAlias)}/shares`];
    const writes = atIntervals(writeEveryMs, wrong, async () => {
      const { status, headers } = await ledger.post(batches.next().value);
      if (status === 202) return;
      if (status === 429 || status === 503) if (headers?.has('retry-after')) return;
      wrong.push(`POST /ingest: ${String(status)} and no time to try again; restarting: ${restarting}`);
    });
    let reads = 0;
    const reading = atIntervals(readEveryMs, wrong, async () => {
      const path = paths[reads++ % paths.length] ?? '/leads';
      const { status, body } = await readOf(path);
      if (status !== 200) wrong.push(`GET ${path}: ${String(status)}, restarting: ${restarting}; ${body}`);
    });
    await eventually('events are acknowledged', () => ledger.positions.length >= 20, 60_000);
    for (const name of serviceNames)
      for (const instance of [0, 1]) {
        restarting = `${name} ${String(instance)}`;
        await system.service(name, instance).process.restart();
        await untilReady(name, instance);
      }
    await Promise.all([writes.stop(), reading.stop()]);
    expect(wrong).toEqual([]);
    expect(reads).toBeGreaterThan(500);
    await untilVisible(balanced, ledger, 300_000);
    expect(await auditUntilRight(balanced, ledger, 60_000)).toEqual(nothingWrong);
  }, 1_800_000);
});

/** Reads of every service; those of share need a lead. */
const readPaths = [
  '/leads?limit=20',
  `/lead-by-alias?alias_kind=email&alias=${encodeURIComponent(knownAlias)}`,
  '/engagement-scoring/rules',
  '/events?limit=20',
  '/event-types',
  '/notification-channels',
  '/site-scoring/analyses',
  '/usage',
];

function urlsOfBalancers(name: ServiceName): Record<string, string> {
  return Object.fromEntries(
    serviceNames
      .filter((other) => other !== 'gateway' && other !== name)
      .map((other) => [`${other.toUpperCase().replaceAll('-', '_')}_URL`, balancers[other].url]),
  );
}

/** Sends a GET through the balancer; the status is 0 when there was no answer. */
async function readOf(path: string): Promise<{ status: number; body: string }> {
  try {
    const { status, body } = await balanced.request(path, { timeoutMs: 30_000 });
    return { status, body: JSON.stringify(body).slice(0, 300) };
  } catch (error) {
    return { status: 0, body: String(error instanceof Error ? (error.cause ?? error) : error) };
  }
}

async function untilReady(name: ServiceName, instance: number): Promise<void> {
  const { url } = system.service(name, instance);
  await eventually(
    `${name} ${String(instance)} is ready`,
    async () => (await obstacleAt(url)) === null,
    readyWithinMs,
  );
}

/** A client sends no further request while so many of its requests are open. */
const mostOpen = 20;

/** Calls `work` at each interval until it is stopped; what it throws is added to `wrong`. */
function atIntervals(everyMs: number, wrong: string[], work: () => Promise<void>): { stop(): Promise<void> } {
  const open = new Set<Promise<void>>();
  const timer = setInterval(() => {
    if (open.size >= mostOpen) return;
    const call = work()
      .catch((error: unknown) => void wrong.push(String(error)))
      .then(() => void open.delete(call));
    open.add(call);
  }, everyMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}
