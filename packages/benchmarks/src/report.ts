// The results as tables: medians over rounds, and ratios of contenders of the same round.
import type { AcceptingResult } from './accepting.js';
import type { AnalyticsResult } from './analytics.js';
import { analyticsSection } from './analytics-report.js';
import { capacityLimitsMs, nameOfCell, type CapacityResult, type CapacityRound } from './capacity.js';
import { capacityPlotFile } from './capacity-plot.js';
import type { DecayResult } from './decay.js';
import { decaySection } from './decay-report.js';
import { beforeSuffix } from './contenders/contender.js';
import type { Machine } from './machine.js';
import type { NotifyingResult } from './notifying.js';
import type { PostToReadableResult } from './post-to-readable.js';
import type { QueryResult } from './queries.js';
import type { RulesResult } from './rules.js';
import type { DeletionsResult } from './deletions.js';
import { deletionsSection } from './deletions-report.js';
import type { JoinsResult } from './joins.js';
import { joinsSection } from './joins-report.js';
import { sourcesSection } from './sources-report.js';
import type { ScalingResult } from './scaling.js';
import type { SigningInResult } from './signing-in.js';
import { scalingSection } from './scaling-report.js';
import { signingInSection } from './signing-in-report.js';
import type { SourcesResult } from './sources.js';
import type { ImportsResult } from './imports.js';
import { importsSection } from './imports-report.js';
import { rulesSection } from './rules-report.js';
import { median } from './statistics.js';
import { medianOf, ratio, ratioText, table, verdict, whole } from './tables.js';
import { whatIfSection } from './what-if-report.js';
import type { WhatIfResult } from './what-if.js';
import { counted } from './words.js';

export interface Results {
  machine: Machine;
  startedAt: string;
  rounds: number;
  quick: boolean;
  accepting?: AcceptingResult;
  postToReadable?: PostToReadableResult[];
  queries?: QueryResult;
  notifying?: NotifyingResult;
  capacity?: CapacityResult;
  rules?: RulesResult;
  decay?: DecayResult;
  analytics?: AnalyticsResult;
  whatIf?: WhatIfResult;
  imports?: ImportsResult;
  deletions?: DeletionsResult;
  joins?: JoinsResult;
  sources?: SourcesResult;
  signingIn?: SigningInResult;
  scaling?: ScalingResult;
}

const goals = {
  accepting: 2,
  postToReadable: 1.4,
  postToReadableLeads: 20_000,
  latencyMs: 1_000,
  readMs: 50,
  notifiedMs: 1_000,
};

/** The report as Markdown: each part with its date, its commit and its machine. */
export function reportOf(results: Results): string {
  return [
    '# Results of `npm run bench`',
    '',
    'The load generator, the contenders and the servers share the machine that each part names. Only the ratios hold on other machines; ' +
      'each compares contenders of one round, never of two runs. Figures of two parts may be from two machines.',
    '',
    ...datedSection(results, results.accepting ? acceptingSection(results.accepting) : []),
    ...datedSection(results, results.postToReadable ? postToReadableSection(results.postToReadable) : []),
    ...datedSection(results, results.queries ? queriesSection(results.queries) : []),
    ...datedSection(results, results.notifying ? notifyingSection(results.notifying) : []),
    ...datedSection(results, results.capacity ? capacitySection(results.capacity) : []),
    ...datedSection(results, results.rules ? rulesSection(results.rules) : []),
    ...datedSection(results, results.decay ? decaySection(results.decay) : []),
    ...datedSection(results, results.analytics ? analyticsSection(results.analytics) : []),
    ...datedSection(results, results.whatIf ? whatIfSection(results.whatIf) : []),
    ...datedSection(results, results.imports ? importsSection(results.imports) : []),
    ...datedSection(results, results.deletions ? deletionsSection(results.deletions) : []),
    ...datedSection(results, results.joins ? joinsSection(results.joins) : []),
    ...datedSection(results, results.sources ? sourcesSection(results.sources) : []),
    ...datedSection(results, results.signingIn ? signingInSection(results.signingIn) : []),
    ...datedSection(results, results.scaling ? scalingSection(results.scaling) : []),
  ].join('\n');
}

/** A part with a line below its heading that names the date, the commit and the machine. */
function datedSection(
  { machine, startedAt, rounds, quick }: Results,
  [heading, ...section]: readonly string[],
): string[] {
  if (heading === undefined) return [];
  const when =
    `Measured ${startedAt} at commit ${machine.commit} on ${machine.cpuModel}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ` +
    `${machine.system} ${machine.kernel}, with Node ${machine.node}, ${machine.servers}; ${counted(rounds, 'round')}, contenders in turn.` +
    (quick ? ' A quick run with small sizes: its figures mean nothing.' : '');
  return [heading, '', when, ...section];
}

/** A report, completed with the parts of an older report that it does not have. */
export function withPartsOf(other: string, report: string): string {
  const [head = '', ...parts] = partsOf(report);
  const [, ...otherParts] = partsOf(other);
  const named = new Map([...otherParts, ...parts].map((part) => [nameOfPart(part), part]));
  const all = [...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
  return [head, ...all].map((part) => `${part.trim()}\n`).join('\n');
}

/** The text before the first part, and then each part. */
function partsOf(report: string): string[] {
  return report.split(/^(?=## \([a-z]\) )/m);
}

/** The name of a part: `## (a)`. */
function nameOfPart(part: string): string {
  return part.slice(0, part.indexOf(')') + 1);
}

function acceptingSection({ contenders, connections, turnMs, systemMs }: AcceptingResult): string[] {
  const [baseline, accepting] = contenders;
  if (!baseline || !accepting) return [];
  const p99Ratio = ratio(baseline.rounds, accepting.rounds, (round) => round.latencies.p99);
  const rateRatio = ratio(baseline.rounds, accepting.rounds, (round) => round.eventsPerSecond);
  return [
    '## (a) Accepting: POST /ingest',
    '',
    `500 events a request, 250 bytes an event, acks=all, ${connections} connections. The bare handler neither ` +
      'authenticates nor validates, and nothing consumes its records; nothing consumes those of the gateway in the second ' +
      `line either. These two run at the same time, and after a warm-up take turns of ${turnMs / 1_000} s. The third line is ` +
      `the whole system, which scores the accepted events on the same cores, measured alone for ${systemMs / 1_000} s.`,
    '',
    ...table(
      ['contender', 'events/s', 'ratio', 'p50 ms', 'p99 ms', 'own processor time an event', 'load generator'],
      contenders.map(({ name, rounds }) => [
        name,
        whole(medianOf(rounds, (round) => round.eventsPerSecond)),
        // The whole system did not take turns with the baseline, so there is no ratio.
        rounds.length === baseline.rounds.length
          ? ratioText(ratio(baseline.rounds, rounds, (round) => round.eventsPerSecond))
          : '-',
        medianOf(rounds, (round) => round.latencies.p50).toFixed(1),
        medianOf(rounds, (round) => round.latencies.p99).toFixed(1),
        `${medianOf(rounds, (round) => round.cpuPerEventUs).toFixed(1)} µs`,
        `${medianOf(rounds, (round) => round.generatorCores).toFixed(2)} cores`,
      ]),
    ),
    '',
    `Goal: at least ${goals.accepting} times as many, p99 no higher: ${verdict(rateRatio.median >= goals.accepting && p99Ratio.median <= 1)} ` +
      `(${rateRatio.median.toFixed(2)} times as many, p99 ${p99Ratio.median.toFixed(2)} times as high).`,
    '',
    ...ratiosToEarlier(contenders, '', {
      'events a second': (round) => round.eventsPerSecond,
      'processor time an event': (round) => round.cpuPerEventUs,
    }),
  ];
}

/** The ratios to the earlier checkout, where one took part, over the rounds in which both ran. */
function ratiosToEarlier<Round>(
  contenders: readonly { name: string; rounds: readonly Round[] }[],
  where: string,
  values: Record<string, (round: Round) => number>,
): string[] {
  return contenders.flatMap(({ name, rounds }) => {
    const before = contenders.find((other) => other.name === `${name}${beforeSuffix}`);
    if (!before) return [];
    const ratios = Object.entries(values).map(
      ([title, value]) => `${title} ${ratioText(ratio(before.rounds, rounds, value))}`,
    );
    return [`Ratio to the earlier checkout, ${name}${where}: ${ratios.join(', ')}.`, ''];
  });
}

function postToReadableSection(all: PostToReadableResult[]): string[] {
  const results = all.filter(({ contenders }) => contenders.length > 1);
  const latencies = results.flatMap(latencyRows);
  return [
    '## (b) From POST to readable score',
    '',
    '16 connections send all events, each its next request when the last is answered. The time ends when the last event is ' +
      'readable, and counts only if all leads, events and points are correct. The naive wiring: the bare handler, a kafkajs ' +
      'consumer, and for each batch insertMany of the events and a bulkWrite of one guarded updateOne per lead, with one index ' +
      'on each collection; its points are fixed by event type. The system (gateway, ingest and scoring, the services that an ' +
      'event passes on its way to a score) authenticates, validates, drops repeats, evaluates 50 rules with filters, records ' +
      'every decision so that it can be explained, and maintains all its read models.',
    '',
    ...table(
      ['leads', 'events', 'contender', 'events/s', 'ratio', 'accepted/s', 'own processor time an event'],
      results.flatMap(throughputRows),
    ),
    '',
    ...(latencies.length === 0
      ? []
      : [
          'Latency of one event, from the moment at which it was due to be sent until it is readable, while events come in ' +
            'at half of the contender’s own rate:',
          '',
          ...table(['leads', 'contender', 'events/s', 'p50 ms', 'p99 ms', 'longest ms'], latencies),
          '',
        ]),
    ...results.flatMap(throughputVerdict),
    ...results.flatMap(latencyVerdict),
    '',
    ...results.flatMap(({ leads, contenders }) =>
      ratiosToEarlier(contenders, ` at ${whole(leads)} leads`, {
        'events a second': (round) => round.eventsPerSecond,
        'processor time an event': (round) => round.cpuPerEventUs,
      }),
    ),
  ];
}

function throughputRows({ leads, events, contenders }: PostToReadableResult): string[][] {
  const [baseline] = contenders;
  if (!baseline) return [];
  return contenders.map(({ name, rounds }) => [
    whole(leads),
    whole(events),
    name,
    whole(medianOf(rounds, (round) => round.eventsPerSecond)),
    ratioText(ratio(baseline.rounds, rounds, (round) => round.eventsPerSecond)),
    whole(medianOf(rounds, (round) => round.acceptedPerSecond)),
    `${medianOf(rounds, (round) => round.cpuPerEventUs).toFixed(1)} µs`,
  ]);
}

function latencyRows({ leads, contenders }: PostToReadableResult): string[][] {
  return contenders.flatMap(({ name, rounds }) => {
    const paced = pacedHalves(rounds);
    if (paced.length === 0) return [];
    return [
      [
        whole(leads),
        name,
        whole(medianOf(paced, (round) => round.eventsPerSecond)),
        ...(['p50', 'p99', 'max'] as const).map((statistic) => probeLatency(paced, statistic).toFixed(0)),
      ],
    ];
  });
}

function throughputVerdict({ leads, contenders }: PostToReadableResult): string[] {
  const [baseline, system] = contenders;
  if (!baseline || !system || leads !== goals.postToReadableLeads) return [];
  const found = ratio(baseline.rounds, system.rounds, (round) => round.eventsPerSecond).median;
  return [
    `Goal: at least ${goals.postToReadable} times the naive wiring at ${whole(leads)} leads: ` +
      `${verdict(found >= goals.postToReadable)} (${found.toFixed(2)} times).`,
  ];
}

function latencyVerdict({ contenders: [, system] }: PostToReadableResult): string[] {
  const paced = pacedHalves(system?.rounds ?? []);
  if (paced.length === 0) return [];
  return [
    `Goal: p99 from POST to readable under ${goals.latencyMs} ms at half the rate: ${verdict(probeLatency(paced, 'p99') < goals.latencyMs)}.`,
  ];
}

type PostToReadableRound = PostToReadableResult['contenders'][number]['rounds'][number];
type PacedHalf = NonNullable<PostToReadableRound['halfRate']>;

/** The measurements at half the rate, of the rounds that timed probes. */
function pacedHalves(rounds: readonly PostToReadableRound[]): PacedHalf[] {
  return rounds.flatMap(({ halfRate }) => (halfRate?.probeLatencies ? [halfRate] : []));
}

function probeLatency(paced: readonly PacedHalf[], statistic: 'p50' | 'p99' | 'max'): number {
  return medianOf(paced, (round) => round.probeLatencies?.[statistic] ?? NaN);
}

function queriesSection({
  leads,
  events,
  filledPerSecond,
  backgroundEventsPerSecond,
  kinds,
}: QueryResult): string[] {
  const slow = kinds.filter(({ quiet, loaded }) => quiet.p99 >= goals.readMs || loaded.p99 >= goals.readMs);
  return [
    `## (c) Reads over ${whole(leads)} leads and ${whole(events)} events`,
    '',
    `Reads through the gateway. Quiet: one connection and no other load. Loaded: four connections while ` +
      `${whole(backgroundEventsPerSecond)} events a second come in. Every lead has at least one event; the busiest leads have ` +
      `thousands. The store was filled at ${whole(filledPerSecond)} events/s.`,
    '',
    ...table(
      ['read', 'quiet p50 ms', 'quiet p99 ms', 'loaded p50 ms', 'loaded p99 ms', 'reads'],
      kinds.map(({ name, quiet, loaded }) => [
        name,
        quiet.p50.toFixed(1),
        quiet.p99.toFixed(1),
        loaded.p50.toFixed(1),
        loaded.p99.toFixed(1),
        `${whole(quiet.count)} + ${whole(loaded.count)}`,
      ]),
    ),
    '',
    `Goal: p99 under ${goals.readMs} ms, quiet and loaded: ${verdict(slow.length === 0)}` +
      (slow.length === 0 ? '.' : `: over it are ${slow.map(({ name }) => name).join('; ')}.`),
    '',
  ];
}

function notifyingSection({ leads, eventsPerSecond, contenders }: NotifyingResult): string[] {
  const rows: string[][] = contenders.map(({ triggers, partitions, notifiers, rounds }) => [
    whole(triggers),
    whole(partitions),
    whole(notifiers),
    medianOf(rounds, (round) => round.latencies.p50).toFixed(0),
    medianOf(rounds, (round) => round.latencies.p99).toFixed(0),
    medianOf(rounds, (round) => round.latencies.max).toFixed(0),
    `${medianOf(rounds, (round) => round.notifierCpuPerEventUs).toFixed(1)} µs`,
    whole(rounds.reduce((sum, round) => sum + round.latencies.count, 0)),
  ]);
  const most = Math.max(...contenders.map(({ triggers }) => triggers));
  const verdicts = contenders
    .filter(({ triggers }) => triggers === most)
    .map(({ partitions, notifiers, rounds }) => {
      const p99 = medianOf(rounds, (round) => round.latencies.p99);
      const scaledOut = notifiers > 1 ? ` and ${notifiers} processes of notification` : '';
      return `${verdict(p99 < goals.notifiedMs)} with PARTITIONS=${partitions}${scaledOut}`;
    });
  return [
    '## (d) From POST to notification',
    '',
    `While ${whole(eventsPerSecond)} events a second of ${whole(leads)} leads come in, ten probes a second, each a single ` +
      'event of a new lead, cross a milestone that notifies a webhook. The latency is from the moment at which the probe was ' +
      'due to be sent, before it is acknowledged, to the first byte of the notification. One trigger fires for probes, and ' +
      'twenty (sequences, milestones and surges, two for each event type) watch the types of the other events; the remaining ' +
      'triggers watch types that do not occur. Before the measurement, half the rate comes in for a minute: processes that ' +
      'have just started use several times as much processor time per event.',
    '',
    ...table(
      [
        'triggers',
        'partitions',
        'processes of notification',
        'p50 ms',
        'p99 ms',
        'longest ms',
        "notification's processor time an event",
        'notifications timed',
      ],
      rows,
    ),
    '',
    `Goal: p99 under ${goals.notifiedMs} ms with ${whole(most)} triggers: ${verdicts.join(', ')}.`,
    '',
  ];
}

function capacitySection({ cells, heldMs }: CapacityResult): string[] {
  const rows = cells.flatMap(({ eventsPerRequest, leads, partitions, contenders }) => {
    const [baseline] = contenders;
    return contenders.map(({ name, rounds }) => [
      whole(eventsPerRequest),
      whole(leads),
      whole(partitions),
      name,
      ...capacityLimitsMs.flatMap((limit) => {
        const heldOf = (round: CapacityRound) =>
          round.held.find(({ limitMs }) => limitMs === limit)?.eventsPerSecond ?? 0;
        return [
          whole(medianOf(rounds, heldOf)),
          // There is no ratio to a rate of 0.
          baseline?.rounds.every((round) => heldOf(round) > 0)
            ? ratioText(ratio(baseline.rounds, rounds, heldOf))
            : '-',
        ];
      }),
      costOf(rounds),
    ]);
  });
  return [
    '## (e) Capacity: the highest steady rate',
    '',
    `The highest rate that was held for ${heldMs / 1_000} s while 99 % of probes, ten a second, each a single event of a new ` +
      'lead, were readable within the limit after the moment at which they were due to be sent. Each service has one ' +
      'process. The search doubles the rate until a trial breaks the limit of a second, narrows the range in three trials, ' +
      'and holds the highest rate that kept the limit, or 0.9 of it. After each trial all leads, events and points are checked.',
    '',
    `![p99 by rate](${capacityPlotFile})`,
    '',
    ...table(
      [
        'events a request',
        'leads',
        'partitions',
        'contender',
        ...capacityLimitsMs.flatMap((limit) => [`events/s under ${whole(limit)} ms`, 'ratio']),
        'own processor time an event at the first limit',
      ],
      rows,
    ),
    '',
    ...cells.flatMap((cell) =>
      ratiosToEarlier(cell.contenders, `, ${nameOfCell(cell)}`, {
        'events a second under a second': (round) => round.held[0]?.eventsPerSecond ?? 0,
      }),
    ),
  ];
}

function costOf(rounds: readonly CapacityRound[]): string {
  const costs = rounds.flatMap(({ cpuPerEventUs }) => (cpuPerEventUs === null ? [] : [cpuPerEventUs]));
  return costs.length === 0 ? '-' : `${median(costs).toFixed(1)} µs`;
}
