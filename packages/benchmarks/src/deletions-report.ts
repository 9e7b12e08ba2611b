// The report's section (k), on the deletion of events.
import type { DeletionsResult } from './deletions.js';
import { liveEventsTable } from './live-events.js';
import { medianOf, verdict, whole } from './tables.js';

const goals = { p99: 1.5 };

export function deletionsSection({ leads, events, liveEventsPerSecond, rounds }: DeletionsResult): string[] {
  const p99 = medianOf(rounds, (round) => round.deleting.p99 / round.quiet.p99);
  const seconds = (of: (round: DeletionsResult['rounds'][number]) => number) =>
    (medianOf(rounds, of) / 1_000).toFixed(1);
  return [
    '## (k) Deletion of events',
    '',
    `All ${whole(events)} events of a type are deleted, which had given points to ${whole(leads)} leads: ` +
      `${seconds((round) => round.aloneMs)} s from the request until its job is completed while nothing else happens, and ` +
      `${seconds((round) => round.besideLiveMs)} s beside live events. Live events of other leads come in at ` +
      `${whole(liveEventsPerSecond)} a second with ten probes a second:`,
    '',
    ...liveEventsTable(rounds, { quiet: 'alone', deleting: 'beside the deletion' }),
    '',
    `Goal: p99 of live events at most ${goals.p99} times that without: ${verdict(p99 <= goals.p99)} (${p99.toFixed(2)}).`,
    '',
  ];
}
