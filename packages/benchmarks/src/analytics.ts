// (h) Latencies of GET /events-analytics over events that are spread over as many seconds, and exports of them.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { startWholeSystem } from './contenders/whole-system.js';
import { measureExports, type ExportResult, type ExportSizes } from './exports.js';
import { expectSuccess, openConnections, type Target } from './load/connection.js';
import type { LoadGenerator } from './load/load-generator.js';
import { describeLatencies, fill, measureReads, type QueryKind } from './queries.js';
import type { Latencies } from './statistics.js';
import type { WorkloadPlan } from './workload.js';

export interface AnalyticsSizes {
  leads: number;
  /** One a second. */
  events: number;
  /** The measurement of a kind of read ends after `forMs`, and not before `atLeast` answers. */
  forMs: number;
  atLeast: number;
  exports: ExportSizes;
}

export interface AnalyticsResult {
  events: number;
  kinds: { name: string; latencies: Latencies }[];
  exports: ExportResult;
}

const eventEveryMs = 1_000;

export async function measureAnalytics(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, events, forMs, atLeast, exports }: AnalyticsSizes,
  say: (message: string) => void,
): Promise<AnalyticsResult> {
  const firstEventAt = Date.now() - 3_600_000 - events * eventEveryMs;
  const plan: WorkloadPlan = {
    name: 'analytics',
    seed: 12,
    leads,
    events,
    eventsPerRequest: 500,
    distribution: 'even',
    firstEventAt,
    eventEveryMs,
  };
  const system = await startWholeSystem(endpoints);
  try {
    const perSecond = await fill(system, generator, plan);
    say(`  ${String(events)} events are stored (${String(Math.round(perSecond))} events/s)`);
    const kinds = analyticsKinds(new Date(firstEventAt).toISOString());
    const measured: AnalyticsResult['kinds'] = [];
    for (const kind of kinds) {
      await checkTotal(system.target, kind.path(0), events);
      const reads = { target: system.target, connections: 1, forMs, atLeast };
      const latencies = await measureReads(generator, kind, reads);
      say(`  ${kind.name}: ${describeLatencies(latencies)}`);
      measured.push({ name: kind.name, latencies });
    }
    return { events, kinds: measured, exports: await measureExports(system.target, events, exports, say) };
  } finally {
    await system.stop();
  }
}

/** All events by type, in a time zone whose days begin with an hour of UTC, and in one whose days do not. */
function analyticsKinds(from: string): QueryKind[] {
  return ['hour', 'day', 'week', 'month'].flatMap((granularity) =>
    ['Europe/Berlin', 'Asia/Kathmandu'].map((timezone) => ({
      name: `${granularity}, ${timezone}`,
      path: () => `/events-analytics?granularity=${granularity}&timezone=${timezone}&from=${from}`,
    })),
  );
}

/** @throws Error when the answer does not count all events */
async function checkTotal(target: Target, path: string, events: number): Promise<void> {
  const connections = openConnections(target, 1);
  try {
    const text = expectSuccess(`GET ${path}`, await connections.send('GET', path));
    const { total } = JSON.parse(text) as { total: number };
    if (total !== events) throw new Error(`GET ${path}: ${String(total)} events, expected ${String(events)}`);
  } finally {
    connections.close();
  }
}
