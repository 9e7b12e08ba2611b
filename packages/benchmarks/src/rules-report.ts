// The report's section (f), on the costs of rules.
import type { RulesResult } from './rules.js';
import { medianOf, ratio, ratioText, table, verdict, whole } from './tables.js';

const goals = { cost: 1.1, updateMs: 1_000 };

export function rulesSection({ leads, events, contenders, updates }: RulesResult): string[] {
  const [few, many] = contenders;
  if (!few || !many) return [];
  const cost = ratio(few.rounds, many.rounds, (round) => round.cpuPerEventUs);
  const rate = ratio(few.rounds, many.rounds, (round) => round.eventsPerSecond);
  const slowest = Math.max(...updates.map(({ latencies }) => latencies.max));
  return [
    '## (f) Costs of rules',
    '',
    `${whole(events)} events a turn in requests of 500, all page views of ${whole(leads)} leads, sent as in (b) and timed until the ` +
      'last is readable. The two systems run at the same time and take turns. Both have the same 20 rules for page views; the ' +
      'second has 980 more, for other event types, which are active too. After the turns all leads, events and points are checked.',
    '',
    ...table(
      ['contender', 'events/s', 'ratio', 'own processor time an event', 'ratio', 'turns'],
      contenders.map(({ name, rounds }) => [
        name,
        whole(medianOf(rounds, (round) => round.eventsPerSecond)),
        ratioText(ratio(few.rounds, rounds, (round) => round.eventsPerSecond)),
        `${medianOf(rounds, (round) => round.cpuPerEventUs).toFixed(1)} µs`,
        ratioText(ratio(few.rounds, rounds, (round) => round.cpuPerEventUs)),
        whole(rounds.length),
      ]),
    ),
    '',
    `Goal: with 1,000 rules an event costs at most ${goals.cost} times what it costs with the 20 of its type: ` +
      `${verdict(cost.median <= goals.cost)} (${cost.median.toFixed(2)} times the processor time, ${rate.median.toFixed(2)} times as ` +
      'many events a second).',
    '',
    'Changes of 100 of the 1,000 rules at once, without other load, from the request until its answer, which comes when the ' +
      'changed rules are in force:',
    '',
    ...table(
      ['change', 'p50 ms', 'p99 ms', 'longest ms', 'changes'],
      updates.map(({ name, latencies }) => [
        name,
        latencies.p50.toFixed(0),
        latencies.p99.toFixed(0),
        latencies.max.toFixed(0),
        whole(latencies.count),
      ]),
    ),
    '',
    `Goal: 100 rules are changed in less than ${goals.updateMs / 1_000} s: ${verdict(slowest < goals.updateMs)}.`,
    '',
  ];
}
