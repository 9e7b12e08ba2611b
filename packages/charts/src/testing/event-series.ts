// Counts by type and time for tests of their pictures.
import type { DrawnSeries } from '../event-series.js';

const labels = Array.from({ length: 30 }, (_, day) => `2026-03-${String(day + 1).padStart(2, '0')}`);
const valuesOf = (size: number) =>
  labels.map((_, day) => (day % 7 === 0 ? 0 : Math.round(size * (1 + Math.sin(day / 3) * 0.7))));
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const rows = (
  [
    ['Page View', 400],
    ['Email Open', 180],
    ['Form Submit', 60],
    ['Webinar Attended', 12],
    ['Demo Requested', 3],
  ] as const
).map(([name, size]) => {
  const values = valuesOf(size);
  return { name, total: sum(values), values };
});
const totals = labels.map((_, day) => sum(rows.map(({ values }) => values[day] ?? 0)));

export const usual: DrawnSeries = {
  title: 'Events by type',
  unit: 'event',
  total: sum(totals),
  notes: ['124 repeats dropped'],
  time: { granularity: 'day', timezone: 'Europe/Berlin', labels, totals },
  rows,
  other: null,
};

const long = 'ist das nicht ein sehr langer Name für einen Wert der Metadaten '.repeat(8);
const hours = Array.from({ length: 1_100 }, (_, hour) => {
  const moment = new Date(Date.UTC(2026, 0, 1) + hour * 3_600_000).toISOString();
  return `${moment.slice(0, 16)}+00:00`;
});

export const eventSeries: Readonly<Record<string, DrawnSeries>> = {
  usual,
  'all-time': {
    ...usual,
    time: null,
    rows: rows.map(({ name, total }) => ({ name, total })),
    other: { groups: 3, total: 5 },
  },
  extreme: {
    title: `Leads by metadata.${'very.deep.'.repeat(25)}`,
    unit: 'lead',
    total: 9_007_199_254_740_991,
    notes: ['9,007,199,254,740,991 repeats dropped', '9,007,199,254,740,991 aliases not linked'],
    time: {
      granularity: 'hour',
      timezone: 'America/Argentina/ComodRivadavia',
      labels: hours,
      totals: hours.map((_, hour) => (hour % 3 === 0 ? 9_007_199_254_740_991 : hour)),
    },
    rows: [
      ...[long, '<script>alert(1)</script>&"', 'مثال طويل من اليمين إلى اليسار', '名前'.repeat(60), ''].map(
        (name) => ({
          name,
          total: 9_007_199_254_740_991,
          values: hours.map((_, hour) => hour),
        }),
      ),
      { name: null, total: 1, values: hours.map((_, hour) => (hour === 7 ? 1 : 0)) },
      ...Array.from({ length: 44 }, (_, index) => ({
        name: `value ${String(index)}`,
        total: 1,
        values: hours.map(() => 0),
      })),
    ],
    other: { groups: 1_000, total: 2_000 },
  },
  'one-month': {
    ...usual,
    time: { granularity: 'month', timezone: 'UTC', labels: ['2026-03'], totals: [usual.total] },
    rows: rows.map(({ name, total }) => ({ name, total, values: [total] })),
  },
  nothing: {
    title: 'Events by type',
    unit: 'event',
    total: 0,
    notes: [],
    time: { granularity: 'day', timezone: 'UTC', labels, totals: labels.map(() => 0) },
    rows: [],
    other: null,
  },
  batches: {
    title: 'Repeats',
    scope: 'Of the batches asked for',
    unit: 'repeat',
    total: 3,
    notes: ['1 with other content'],
    time: null,
    rows: [],
    other: null,
  },
};
