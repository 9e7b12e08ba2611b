// The report's section (g), on decay.
import type { DecayResult } from './decay.js';
import { liveEventsTable } from './live-events.js';
import { medianOf, table, verdict, whole } from './tables.js';

const goals = { rate: 0.5, p99: 1.5 };

export function decaySection({ leads, liveEventsPerSecond, rounds }: DecayResult): string[] {
  const rate = medianOf(rounds, (round) => round.ticksPerSecond / round.scoredPerSecond);
  const rateBeside = medianOf(rounds, (round) => round.ticksBesideLivePerSecond / round.scoredPerSecond);
  const p99 = medianOf(rounds, (round) => round.decaying.p99 / round.quiet.p99);
  return [
    '## (g) Decay',
    '',
    `${whole(leads)} leads get one event each, of the same time, which is scored and made readable through gateway, ingest and ` +
      'scoring; the ticks of all of them are due at one moment. Live events of other leads come in at ' +
      `${whole(liveEventsPerSecond)} a second with ten probes a second, first while no tick is due, then from that moment on.`,
    '',
    ...table(
      ['events/s', 'ticks/s', 'ratio', 'ticks/s beside live events', 'ratio'],
      [
        [
          whole(medianOf(rounds, (round) => round.scoredPerSecond)),
          whole(medianOf(rounds, (round) => round.ticksPerSecond)),
          rate.toFixed(2),
          whole(medianOf(rounds, (round) => round.ticksBesideLivePerSecond)),
          rateBeside.toFixed(2),
        ],
      ],
    ),
    '',
    ...liveEventsTable(rounds, { quiet: 'without ticks', decaying: 'beside ticks' }),
    '',
    `Goals: ticks at no less than ${goals.rate} times the rate of events: ${verdict(rate >= goals.rate)} (${rate.toFixed(2)}), beside live ` +
      `events: ${verdict(rateBeside >= goals.rate)} (${rateBeside.toFixed(2)}); p99 of live events at most ${goals.p99} times that without ticks: ${verdict(p99 <= goals.p99)} (${p99.toFixed(2)}).`,
    '',
  ];
}
