// The report's section (j), on imports.
import type { ImportsResult } from './imports.js';
import type { LeadTablesResult } from './lead-tables.js';
import { medianOf, ratio, ratioText, table, verdict, whole } from './tables.js';

const goals = { rate: 1 };

export function importsSection({ leads, events, contenders, large, tables }: ImportsResult): string[] {
  const [ingest, upload] = contenders;
  if (!ingest || !upload) return [];
  const ratioOf = (rounds: typeof ingest.rounds) =>
    ratio(ingest.rounds, rounds, (round) => round.eventsPerSecond);
  const rate = ratioOf(upload.rounds).median;
  return [
    '## (j) Imports',
    '',
    `${whole(events)} events of ${whole(leads)} leads that exist, scored by 50 rules: in requests of 500 to POST /ingest, and as one upload ` +
      'of NDJSON to POST /import. Timed from the first byte until all are readable.',
    '',
    ...table(
      ['sent to', 'events/s', 'ratio', 'own processor time an event'],
      contenders.map(({ name, rounds }) => [
        name,
        whole(medianOf(rounds, (round) => round.eventsPerSecond)),
        ratioText(ratioOf(rounds)),
        `${medianOf(rounds, (round) => round.cpuPerEventUs).toFixed(1)} µs`,
      ]),
    ),
    '',
    `One upload of ${whole(large.events)} events, ${whole(large.bytes / 1e6)} MB: ${whole(large.eventsPerSecond)} events/s. The memory of gateway, ` +
      `ingest and scoring together rose by ${whole(large.memoryMiB)} MiB at most.`,
    '',
    `Goal: an import at least as fast as POST /ingest: ${verdict(rate >= goals.rate)} (${rate.toFixed(2)}).`,
    '',
    ...tablesPart(tables),
  ];
}

function tablesPart({ rows, contenders }: LeadTablesResult): string[] {
  const [ingest, upload] = contenders;
  if (!ingest || !upload) return [];
  const ratioOf = (rounds: typeof ingest.rounds) =>
    ratio(ingest.rounds, rounds, (round) => round.rowsPerSecond);
  const rate = ratioOf(upload.rounds).median;
  return [
    `${whole(rows)} leads that are new: an event of each in requests of 500 to POST /ingest, and a table with a row of each through the preview, ` +
      'the start with the suggested mapping, and the job. Timed from the first byte until all are listed.',
    '',
    ...table(
      ['sent to', 'leads/s', 'ratio', 'own processor time a lead'],
      contenders.map(({ name, rounds }) => [
        name,
        whole(medianOf(rounds, (round) => round.rowsPerSecond)),
        ratioText(ratioOf(rounds)),
        `${medianOf(rounds, (round) => round.cpuPerRowUs).toFixed(1)} µs`,
      ]),
    ),
    '',
    `Goal: a table at least as fast as POST /ingest: ${verdict(rate >= goals.rate)} (${rate.toFixed(2)}).`,
    '',
  ];
}
