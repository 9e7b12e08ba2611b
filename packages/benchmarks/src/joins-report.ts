// The report's section (l), on joins and on Segment's batches.
import type { JoinsResult } from './joins.js';
import { medianOf, ratio, ratioText, table, verdict, whole } from './tables.js';

const goals = { p99Ms: 1_000, joinsPerSecond: 100, doors: 0.7 };

export function joinsSection(result: JoinsResult): string[] {
  const { pastEvents, liveEventsPerSecond, fewPerSecond, manyPerSecond, few, many, doors } = result;
  const [ingest, segment] = doors;
  if (!ingest || !segment) return [];
  const p99 = medianOf(few, ({ latencies }) => latencies.p99);
  const sustained = medianOf(many, ({ joinsPerSecond }) => joinsPerSecond);
  const rate = ratio(ingest.rounds, segment.rounds, (round) => round.eventsPerSecond);
  // The last join of a measurement is visible some time after it was sent.
  const isSustained = sustained >= 0.95 * goals.joinsPerSecond;
  return [
    '## (l) Visitors who say who they are, and Segment',
    '',
    `Each visitor has ${pastEvents} events, scored by 50 rules, when an event names the visitor together with an address. Timed from the moment at which that ` +
      `event is due until it is visible, behind the past. Live events of other leads come in at ${whole(liveEventsPerSecond)} a second.`,
    '',
    ...table(
      ['joins a second', 'p50 ms', 'p99 ms', 'longest ms', 'joins/s until the last was visible'],
      [
        { perSecond: fewPerSecond, rounds: few },
        { perSecond: manyPerSecond, rounds: many },
      ].map(({ perSecond, rounds }) => [
        whole(perSecond),
        medianOf(rounds, ({ latencies }) => latencies.p50).toFixed(0),
        medianOf(rounds, ({ latencies }) => latencies.p99).toFixed(0),
        medianOf(rounds, ({ latencies }) => latencies.max).toFixed(0),
        medianOf(rounds, ({ joinsPerSecond }) => joinsPerSecond).toFixed(1),
      ]),
    ),
    '',
    'The same events, 500 a request, accepted by the gateway in turns, while nothing consumes them:',
    '',
    ...table(
      ['sent to', 'events/s', 'ratio', 'own processor time an event'],
      doors.map(({ name, rounds }) => [
        name,
        whole(medianOf(rounds, (round) => round.eventsPerSecond)),
        ratioText(ratio(ingest.rounds, rounds, (round) => round.eventsPerSecond)),
        `${medianOf(rounds, (round) => round.cpuPerEventUs).toFixed(1)} µs`,
      ]),
    ),
    '',
    `Goals: p99 of a join under ${whole(goals.p99Ms)} ms: ${verdict(p99 < goals.p99Ms)} (${p99.toFixed(0)}); ${goals.joinsPerSecond} joins a second sustained: ` +
      `${verdict(isSustained)} (${sustained.toFixed(1)}); Segment's batches at least ${goals.doors} times as fast as POST /ingest: ` +
      `${verdict(rate.median >= goals.doors)} (${rate.median.toFixed(2)}).`,
    '',
  ];
}
