// Of (j): rows a second of a table of new leads, from its upload until all leads are listed, against as many events of as many new leads
// that are sent to POST /ingest.
import { createClient } from '@lead-scoring/client';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunningRuledSystem } from './contenders/whole-system.js';
import { floodUntilReadable, type LoadGenerator } from './load/load-generator.js';
import { interleaved } from './rounds.js';

export interface LeadTablesResult {
  rows: number;
  contenders: { name: string; rounds: { rowsPerSecond: number; cpuPerRowUs: number }[] }[];
}

const eventsPerRequest = 500;
const rowsInPart = 2_000;
const lookEveryMs = 100;

export async function measureLeadTables(
  generator: LoadGenerator,
  running: RunningRuledSystem,
  rows: number,
  rounds: number,
  say: (message: string) => void,
): Promise<LeadTablesResult> {
  let turn = 0;
  // The names of leads that are new in each turn.
  const nextName = () => `table${(turn += 1)}`;
  const contenders = [
    {
      name: 'POST /ingest, new leads',
      send: async () => {
        const plan = {
          name: nextName(),
          seed: 29,
          leads: rows,
          events: rows,
          eventsPerRequest,
          distribution: 'even',
          firstEventAt: Date.now() - 7_200_000,
          withIds: true,
        } as const;
        return (await floodUntilReadable(generator, running, plan)).readableMs;
      },
    },
    { name: 'POST /leads/import', send: () => importTable(running, nextName(), rows) },
  ];
  const measured = await interleaved(
    contenders,
    rounds,
    async ({ send }) => {
      const before = running.cpuSeconds();
      const readableMs = await send();
      return {
        rowsPerSecond: rows / (readableMs / 1_000),
        cpuPerRowUs: ((running.cpuSeconds() - before) * 1_000_000) / rows,
      };
    },
    {
      say,
      describe: ({ rowsPerSecond, cpuPerRowUs }) =>
        `${Math.round(rowsPerSecond)} leads/s to readable, ${cpuPerRowUs.toFixed(1)} µs a lead`,
    },
  );
  return { rows, contenders: measured };
}

/** @returns milliseconds from the first byte of the upload until all leads are listed */
async function importTable(
  { target, token }: RunningRuledSystem,
  name: string,
  rows: number,
): Promise<number> {
  const client = createClient({ baseUrl: target.baseUrl, token });
  const listed = async () => (await client.call('listLeads', { query: { limit: 1 } })).total;
  const before = await listed();
  const startedAt = performance.now();
  const { file_id, suggested_mapping } = await client.previewLeads(tableOf(name, rows));
  const { primary_identifier } = suggested_mapping;
  if (!primary_identifier) throw new Error('no column of the table was taken for the name of the leads');
  const { job_id } = await client.call('startLeadImport', {
    body: { ...suggested_mapping, primary_identifier, file_id },
  });
  for (;;) {
    const job = await client.call('getJob', { parameters: { id: job_id } });
    if (job.status === 'completed') {
      if (job.created !== rows) throw new Error(`${rows} leads were sent, ${String(job.created)} created`);
      break;
    }
    if (job.status !== 'running') throw new Error(`the import has ${job.status}`);
    await pause(lookEveryMs);
  }
  while ((await listed()) < before + rows) await pause(lookEveryMs);
  return performance.now() - startedAt;
}

async function* tableOf(name: string, rows: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('Email,Name,Company,Title\n');
  for (let from = 0; from < rows; from += rowsInPart) {
    const lines = Array.from({ length: Math.min(rowsInPart, rows - from) }, (_, index) => {
      const row = from + index;
      return `${name}.${row}@example.com,Person ${row},Company ${row % 5_000},Title ${row % 100}\n`;
    });
    yield await Promise.resolve(Buffer.from(lines.join('')));
  }
}
