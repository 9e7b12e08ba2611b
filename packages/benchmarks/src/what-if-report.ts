// The report's section (i), on what-ifs and rescorings.
import { liveEventsTable } from './live-events.js';
import { medianOf, table, verdict, whole } from './tables.js';
import type { WhatIfResult } from './what-if.js';

const goals = { rate: 5, rescoredRate: 2, memoryMiB: 300, p99: 1.5, readMs: 100 };

export function whatIfSection(result: WhatIfResult): string[] {
  const { leads, events, ingestedPerSecond, contenders, rescorings, liveEventsPerSecond, live, reads } =
    result;
  const slowest = Math.min(
    ...contenders.map(({ rounds }) => medianOf(rounds, (round) => round.eventsPerSecond) / ingestedPerSecond),
  );
  const memory = Math.max(...contenders.flatMap(({ rounds }) => rounds.map(({ memoryMiB }) => memoryMiB)));
  const rescored = medianOf(rescorings, (round) => round.eventsPerSecond) / ingestedPerSecond;
  const p99 = {
    whatIfs: medianOf(live, ({ quiet, whatIfs }) => whatIfs.p99 / quiet.p99),
    rescorings: medianOf(live, ({ quiet, rescorings: beside }) => beside.p99 / quiet.p99),
  };
  return [
    '## (i) What-ifs and rescorings',
    '',
    `${whole(events)} events of ${whole(leads)} leads were ingested, scored by 50 rules and made readable at ` +
      `${whole(ingestedPerSecond)} a second. A what-if replays them by the live rules and by a draft, timed from the request ` +
      'until its job is completed. A rescoring brings the scores of one changed rule into force for all leads. The memory is by how much that of the scoring process rose at most.',
    '',
    ...table(
      ['job', 'events/s', 'ratio to ingesting', 'most memory', 'runs'],
      [
        ...contenders.map(({ name, rounds }) => ({ name: `what-if ${name}`, rounds })),
        { name: 'rescoring', rounds: rescorings },
      ].map(({ name, rounds }) => {
        const rate = medianOf(rounds, (round) => round.eventsPerSecond);
        return [
          name,
          whole(rate),
          (rate / ingestedPerSecond).toFixed(2),
          `${whole(Math.max(...rounds.map(({ memoryMiB }) => memoryMiB)))} MiB`,
          whole(rounds.length),
        ];
      }),
    ),
    '',
    `Live events at ${whole(liveEventsPerSecond)} a second, with ten probes a second, while nothing else runs, while one what-if ` +
      'with an outcome follows another, and while one rescoring of all leads follows another:',
    '',
    ...liveEventsTable(live, {
      quiet: 'alone',
      whatIfs: 'beside what-ifs',
      rescorings: 'beside rescorings',
    }),
    '',
    ...readsTable(reads),
    `Goals: what-ifs at least ${goals.rate} times as fast as ingesting: ${verdict(slowest >= goals.rate)} (${slowest.toFixed(2)}), rescorings ` +
      `${goals.rescoredRate} times: ${verdict(rescored >= goals.rescoredRate)} (${rescored.toFixed(2)}); what-ifs at most ` +
      `${goals.memoryMiB} MB: ${verdict(memory <= goals.memoryMiB)} (${whole(memory)}); p99 of live events at most ${goals.p99} times ` +
      `that without beside what-ifs: ${verdict(p99.whatIfs <= goals.p99)} (${p99.whatIfs.toFixed(2)}), beside rescorings: ` +
      `${verdict(p99.rescorings <= goals.p99)} (${p99.rescorings.toFixed(2)}); no read waits longer than ${goals.readMs} ms while scores come ` +
      `into force: ${verdict(reads.rescoring.max <= goals.readMs)} (${reads.rescoring.max.toFixed(0)}).`,
    '',
  ];
}

function readsTable({ leads, quiet, rescoring }: WhatIfResult['reads']): string[] {
  return [
    `Single leads are read over two connections, alone and while the scores of ${whole(leads)} more leads are computed anew and come into ` +
      'force; p99 is that of the slowest half second:',
    '',
    ...table(
      ['reads', 'p50 ms', 'p99 ms', 'longest ms'],
      [
        { name: 'alone', latencies: quiet },
        { name: 'beside the rescoring', latencies: rescoring },
      ].map(({ name, latencies }) => [
        name,
        latencies.p50.toFixed(1),
        latencies.p99.toFixed(1),
        latencies.max.toFixed(0),
      ]),
    ),
    '',
  ];
}
