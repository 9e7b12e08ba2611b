// The report's section (m), on Kafka topics as sources of events.
import type { SourcesResult } from './sources.js';
import { medianOf, ratio, ratioText, table, verdict, whole } from './tables.js';

const goal = 2;

export function sourcesSection({ leads, events, doors, readable }: SourcesResult): string[] {
  const [gateway, source] = doors;
  const [posted, , taken] = readable;
  if (!gateway || !source || !posted || !taken) return [];
  const perSecond = (round: { cpuPerEventUs: number }) => 1_000_000 / round.cpuPerEventUs;
  const door = ratio(gateway.rounds, source.rounds, perSecond);
  const all = ratio(posted.rounds, taken.rounds, perSecond);
  const rows = (contenders: SourcesResult['doors']) =>
    contenders.map(({ name, rounds }) => [
      name,
      whole(medianOf(rounds, (round) => round.eventsPerSecond)),
      `${medianOf(rounds, (round) => round.cpuPerEventUs).toFixed(1)} µs`,
      ratioText(ratio(contenders[0]?.rounds ?? [], rounds, perSecond)),
    ]);
  const head = ['events from', 'events/s', 'processor time an event', 'events per processor second, ratio'];
  return [
    '## (m) A Kafka topic as a source of events',
    '',
    'The process at the door alone, while nothing consumes what it writes: the gateway with requests of 500 events, or the process of a source with a topic of six ' +
      'partitions, whose events have no id of their own and get one of their place.',
    '',
    ...table(head, rows(doors)),
    '',
    `All services of the way to a readable score, with 50 rules, ${whole(events)} events of ${whole(leads)} leads:`,
    '',
    ...table(head, rows(readable)),
    '',
    `Goal: at least ${goal} times as many events per processor second as POST /ingest: at the door ${verdict(door.median >= goal)} (${door.median.toFixed(2)}), to the ` +
      `readable score ${verdict(all.median >= goal)} (${all.median.toFixed(2)}).`,
    '',
  ];
}
