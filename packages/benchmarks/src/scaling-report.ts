// The report's section (o), on several processes of a service.
import type { ScalingResult, ScalingRound } from './scaling.js';
import { medianOf, ratio, ratioText, table, verdict, whole } from './tables.js';

const goal = 0.85;

export function scalingSection({ leads, events, sharePercent, partitions, counts }: ScalingResult): string[] {
  const [one] = counts;
  const last = counts.at(-1);
  if (!one || !last) return [];
  const perProcessorSecond = ({ ingestPerEventUs, scoringPerEventUs }: ScalingRound) =>
    1_000_000 / (ingestPerEventUs + scoringPerEventUs);
  const kept = (rounds: readonly ScalingRound[]) => ratio(one.rounds, rounds, perProcessorSecond);
  const { median } = kept(last.rounds);
  return [
    '## (o) Several processes of a service',
    '',
    `Each process of ingest and of scoring is held to ${sharePercent} % of a core by cpulimit, so that they and the servers do not share the same time; ${partitions} partitions, ` +
      `${whole(events)} events for each process, ${whole(leads)} leads, 50 rules, requests of 500 events. "Kept" is the ratio of events per processor second of ingest and scoring to that of one process of each: ` +
      '1 is linear.',
    '',
    ...table(
      ['processes of each', 'events/s', 'times one', 'ingest, an event', 'scoring, an event', 'kept'],
      counts.map(({ processes, rounds }) => [
        String(processes),
        whole(medianOf(rounds, (round) => round.eventsPerSecond)),
        ratioText(ratio(one.rounds, rounds, (round) => round.eventsPerSecond)),
        `${medianOf(rounds, (round) => round.ingestPerEventUs).toFixed(1)} µs`,
        `${medianOf(rounds, (round) => round.scoringPerEventUs).toFixed(1)} µs`,
        ratioText(kept(rounds)),
      ]),
    ),
    '',
    `Goal: ${last.processes} processes keep at least ${goal}: ${verdict(median >= goal)} (${median.toFixed(2)}).`,
    '',
  ];
}
