import { expect, test } from '@jest/globals';
import { capacityPlot } from './capacity-plot.js';
import type { Trial } from './find-capacity.js';
import { reportOf, withPartsOf, type Results } from './report.js';
import type { Latencies } from './statistics.js';

const latencies = (p99: number): Latencies => ({ count: 10, p50: p99 / 2, p90: p99, p99, max: p99 });

const machine = {
  cpuModel: 'Example CPU',
  cores: 2,
  memoryGiB: 8,
  system: 'Linux',
  kernel: '6.1',
  node: '20.20.0',
  servers: 'Kafka (native)',
  commit: 'abc',
};

function round(eventsPerSecond: number, p99: number) {
  return {
    events: 1,
    requests: 1,
    acceptMs: 1,
    readableMs: null,
    latencies: latencies(p99),
    generatorCores: 0.1,
    eventsPerSecond,
    cpuPerEventUs: 1,
  };
}

const results: Results = { machine, startedAt: '2026-01-01T00:00:00.000Z', rounds: 3, quick: false };

test('the report compares each round with the same round of the baseline, and gives the median of those ratios', () => {
  const report = reportOf({
    ...results,
    accepting: {
      connections: 16,
      turnMs: 2_000,
      systemMs: 10_000,
      contenders: [
        { name: 'bare', rounds: [round(100, 10), round(200, 10), round(400, 10)] },
        { name: 'gateway', rounds: [round(300, 9), round(400, 9), round(1_000, 9)] },
      ],
    },
  });
  expect(report).toContain('| bare | 200 | 1.00 |');
  expect(report).toContain('| gateway | 400 | 2.50 (2.00 to 3.00) |');
  expect(report).toContain('p99 no higher: met (2.50 times as many, p99 0.90 times as high)');
});

test('the report has the ratios to an earlier checkout, round by round', () => {
  const report = reportOf({
    ...results,
    accepting: {
      connections: 16,
      turnMs: 2_000,
      systemMs: 10_000,
      contenders: [
        { name: 'bare', rounds: [round(100, 10), round(100, 10)] },
        { name: 'gateway', rounds: [round(270, 9), round(600, 9)] },
        { name: 'gateway, before', rounds: [round(300, 9), round(600, 9)] },
      ],
    },
  });
  expect(report).toContain('Ratio to the earlier checkout, gateway: events a second 0.95 (0.90 to 1.00)');
});

const queries = { leads: 10, events: 20, filledPerSecond: 5, backgroundEventsPerSecond: 1, kinds: [] };

test('the report says that a goal is not met, and names the reads that miss it', () => {
  const report = reportOf({
    ...results,
    queries: {
      ...queries,
      kinds: [
        { name: 'GET /leads', quiet: latencies(10), loaded: latencies(49) },
        { name: 'GET /events', quiet: latencies(10), loaded: latencies(51) },
      ],
    },
  });
  expect(report).toContain('**not met**: over it are GET /events.');
});

const notifying = (p99: number) => ({
  leads: 10,
  eventsPerSecond: 2_000,
  contenders: [
    {
      triggers: 200,
      partitions: 1,
      notifiers: 1,
      rounds: [{ latencies: latencies(p99), notifierCpuPerEventUs: 12.34 }],
    },
  ],
});

test('the report names the date, the commit and the machine of each part', () => {
  const report = reportOf({ ...results, queries, notifying: notifying(7) });
  expect(
    report.match(
      /Measured 2026-01-01T00:00:00.000Z at commit abc on Example CPU, 2 cores, 8 GiB, Linux 6.1, with Node 20.20.0, Kafka \(native\); 3 rounds/g,
    ),
  ).toHaveLength(2);
});

test('a part that is measured again replaces itself in the report, and leaves the others', () => {
  const before = reportOf({ ...results, queries, notifying: notifying(7_777) });
  const later = { ...results, startedAt: '2026-02-02T00:00:00.000Z', machine: { ...machine, commit: 'def' } };
  const again = withPartsOf(before, reportOf({ ...later, notifying: notifying(8_888) }));
  expect(again).toContain(before.slice(before.indexOf('## (c)'), before.indexOf('## (d)')));
  expect(again).toMatch(/## \(d\).*\n\nMeasured 2026-02-02.* commit def[^]*8888/);
  expect(again).not.toContain('7777');
  expect(withPartsOf(before, reportOf({ ...later, queries }))).toContain('7777');
  // Each part names its machine.
  const elsewhere = { ...results, machine: { ...machine, cores: 64 } };
  const ofBoth = withPartsOf(before, reportOf({ ...elsewhere, queries }));
  expect(ofBoth).toMatch(/## \(c\).*\n\nMeasured .* 64 cores[^]*## \(d\).*\n\nMeasured .* 2 cores/);
});

test('the goal of notifications is checked with the most triggers, for few and many partitions, and for two processes', () => {
  const of = (p99: number) => [{ latencies: latencies(p99), notifierCpuPerEventUs: 12.34 }];
  const report = reportOf({
    ...results,
    notifying: {
      leads: 10,
      eventsPerSecond: 2_000,
      contenders: [
        { triggers: 200, partitions: 6, notifiers: 1, rounds: of(1_200) },
        { triggers: 200, partitions: 6, notifiers: 2, rounds: of(800) },
        { triggers: 21, partitions: 1, notifiers: 1, rounds: of(1_500) },
        { triggers: 200, partitions: 1, notifiers: 1, rounds: of(400) },
      ],
    },
  });
  expect(report).toContain('| 200 | 1 | 1 | 200 | 400 | 400 | 12.3 µs | 10 |');
  expect(report).toContain(
    'Goal: p99 under 1000 ms with 200 triggers: **not met** with PARTITIONS=6, ' +
      'met with PARTITIONS=6 and 2 processes of notification, met with PARTITIONS=1.',
  );
});

const trial = (eventsPerSecond: number, p99Ms: number): Trial => ({
  eventsPerSecond,
  isHeld: true,
  gaveUp: false,
  p50Ms: p99Ms / 2,
  p99Ms,
});
const capacityOf = (first: number, second: number) => ({
  trials: [trial(first, 900), trial(first / 4, 200)],
  held: [
    { limitMs: 1_000, eventsPerSecond: first },
    { limitMs: 250, eventsPerSecond: second },
  ],
  cpuPerEventUs: 50,
});
const capacity = {
  heldMs: 60_000,
  cells: [
    {
      eventsPerRequest: 100,
      leads: 20_000,
      partitions: 6,
      contenders: [
        { name: 'naive wiring', rounds: [capacityOf(4_000, 0)] },
        { name: 'the system', rounds: [capacityOf(6_000, 1_000)] },
        { name: 'the system, before', rounds: [capacityOf(2_000, 500)] },
      ],
    },
  ],
};

test('capacity has a ratio to the naive wiring, where that held any rate, and to the earlier checkout', () => {
  const report = reportOf({ ...results, capacity });
  expect(report).toContain('| 100 | 20,000 | 6 | the system | 6,000 | 1.50 | 1,000 | - | 50.0 µs |');
  expect(report).toContain(
    'Ratio to the earlier checkout, the system, requests of 100 events, 20000 leads, 6 partitions: events a second under a second 3.00.',
  );
});

test('the plot of capacity has a line for each contender, and a mark for each limit', () => {
  const plot = capacityPlot(capacity);
  expect(plot.match(/<polyline/g)).toHaveLength(3);
  expect(plot.match(/stroke-dasharray/g)).toHaveLength(2);
  expect(plot).not.toContain('NaN');
});
