// (j) Imports: events a second of one upload to POST /import, against the same events sent to POST /ingest; by how much the memory of the
// services that take it rises during an upload of a gigabyte; and rows a second of a table of leads.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { startSystemWithRules, type RunningRuledSystem } from './contenders/whole-system.js';
import { measureLeadTables, type LeadTablesResult } from './lead-tables.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { withMemory } from './memory.js';
import { interleaved } from './rounds.js';
import { workloadRules, type WorkloadPlan } from './workload.js';

export interface ImportSizes {
  leads: number;
  events: number;
  /** How often the large upload has the events of the plan. */
  largeTimes: number;
  /** Rows of the imported table, each of a new lead. */
  rows: number;
}

interface ImportRound {
  /** From the first byte until all events were readable. */
  eventsPerSecond: number;
  cpuPerEventUs: number;
}

export interface ImportsResult {
  leads: number;
  events: number;
  contenders: { name: string; rounds: ImportRound[] }[];
  large: { events: number; bytes: number; eventsPerSecond: number; memoryMiB: number };
  tables: LeadTablesResult;
}

const eventsPerRequest = 500;
const timeoutMs = 1_800_000;

/** The services whose memory an upload could fill. */
const takers = ['gateway', 'ingest', 'scoring'] as const;

export async function measureImports(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { leads, events, largeTimes, rows }: ImportSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<ImportsResult> {
  const running = await startSystemWithRules(
    endpoints,
    workloadRules.map(({ form }) => form),
  );
  try {
    const plan = (name: string): WorkloadPlan => ({
      name,
      seed: 23,
      leads,
      events: events - (events % leads),
      eventsPerRequest,
      distribution: 'even',
      firstEventAt: Date.now() - 7_200_000,
    });
    const contenders = [
      {
        name: 'POST /ingest',
        send: () => floodUntilReadable(generator, running, plan('ingested')),
      },
      {
        name: 'POST /import',
        send: () => importUntilReadable(generator, running, plan('imported'), 1),
      },
    ];
    // The leads of both exist from then on.
    for (const { send } of contenders) await send();
    const measured = await interleaved(
      contenders,
      rounds,
      async ({ send }): Promise<ImportRound> => {
        const before = running.cpuSeconds();
        const sent = await send();
        return {
          eventsPerSecond: sent.events / (sent.readableMs / 1_000),
          cpuPerEventUs: ((running.cpuSeconds() - before) * 1_000_000) / sent.events,
        };
      },
      {
        say,
        describe: ({ eventsPerSecond, cpuPerEventUs }) =>
          `${Math.round(eventsPerSecond)} events/s to readable, ${cpuPerEventUs.toFixed(1)} µs an event`,
      },
    );
    const large = await importLarge(generator, running, plan('large'), largeTimes);
    say(
      `  one upload of ${(large.bytes / 1e6).toFixed(0)} MB: ${Math.round(large.eventsPerSecond)} events/s, ${large.memoryMiB.toFixed(0)} MiB`,
    );
    const tables = await measureLeadTables(generator, running, rows, rounds, say);
    return { leads, events, contenders: measured, large, tables };
  } finally {
    await running.stop();
  }
}

async function importLarge(
  generator: LoadGenerator,
  running: RunningRuledSystem,
  plan: WorkloadPlan,
  times: number,
): Promise<ImportsResult['large']> {
  const { result, memoryMiB } = await withMemory(running, takers, () =>
    importUntilReadable(generator, running, plan, times),
  );
  const { events, bytes, readableMs } = result;
  return { events, bytes, eventsPerSecond: events / (readableMs / 1_000), memoryMiB };
}

function importUntilReadable(
  generator: LoadGenerator,
  { target, readable }: RunningRuledSystem,
  plan: WorkloadPlan,
  times: number,
): Promise<{ events: number; bytes: number; readableMs: number }> {
  return generator.perform({ do: 'import', target, plan, times, readable: { by: readable, timeoutMs } });
}
