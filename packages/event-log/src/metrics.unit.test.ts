// The metrics as a scraper gets them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordsOf } from '@lead-scoring/contracts';
import { metrics } from '@opentelemetry/api';
import { metrics as sdk } from '@opentelemetry/sdk-node';
import { createProcessingMetrics, timed } from './metrics.js';

const reader = new sdk.PeriodicExportingMetricReader({
  exporter: new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE),
  exportIntervalMillis: 3_600_000,
});
const provider = new sdk.MeterProvider({ readers: [reader] });

beforeAll(() => {
  metrics.setGlobalMeterProvider(provider);
});
afterAll(async () => {
  await provider.shutdown();
  metrics.disable();
});

async function collected(name: string) {
  const { resourceMetrics } = await reader.collect();
  return resourceMetrics.scopeMetrics
    .flatMap((scope) => scope.metrics)
    .filter(({ descriptor }) => descriptor.name === name)
    .flatMap(({ dataPoints }) => dataPoints as { attributes: object; value: unknown }[]);
}

test('durations are in seconds, in buckets from 1 ms', async () => {
  const measured = createProcessingMetrics('scoring');
  for (const seconds of [0.002, 0.02, 0.2, 2]) {
    measured.stage('commit', seconds);
    measured.batch('scoring.commands', { records: 1, seconds });
  }
  for (const name of ['event_log_stage_duration_seconds', 'event_log_batch_duration_seconds']) {
    const [point] = await collected(name);
    const histogram = point?.value as { buckets: { counts: number[] } } | undefined;
    expect(histogram?.buckets.counts.filter((count) => count === 1)).toHaveLength(4);
  }
});

test('a failed stage is measured too', async () => {
  const measured = createProcessingMetrics('share');
  await expect(timed(measured, 'fold', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const points = await collected('event_log_stage_duration_seconds');
  expect(points.map(({ attributes }) => attributes)).toContainEqual({ service: 'share', stage: 'fold' });
});

test('the lag is reported for the partitions of the process only', async () => {
  const measured = createProcessingMetrics('ingest');
  measured.lag('ingest.commands', 0, 5);
  measured.lag('ingest.commands', 1, 7);
  measured.release(0);
  expect(await collected('event_log_lag_records')).toMatchObject([
    { attributes: { service: 'ingest', topic: 'ingest.commands', partition: 1 }, value: 7 },
  ]);
});

test('counters begin at 0, so that the first dead letter and the first event of a type are an increase', async () => {
  const measured = createProcessingMetrics('share', ['ShareLinkCreated']);
  measured.lag('share.commands', 0, 0);
  const labels = { service: 'share', topic: 'share.commands' };
  for (const [name, attributes] of [
    ['event_log_decided_records', { service: 'share', type: 'ShareLinkCreated' }],
    ['event_log_restarts', { service: 'share' }],
    ['event_log_dead_letters', labels],
    ['event_log_lost_records', labels],
  ] as const)
    expect(await collected(name)).toContainEqual(expect.objectContaining({ attributes, value: 0 }));
});

test('the events of a decision are counted by type', async () => {
  const measured = createProcessingMetrics('scoring');
  const [first, second] = recordsOf('scoring.events');
  if (!first || !second) throw new Error('scoring has too few events');
  measured.decided([first, second, first].map((declaration) => ({ declaration })));
  const points = await collected('event_log_decided_records');
  expect(points).toContainEqual(
    expect.objectContaining({ attributes: { service: 'scoring', type: first.type }, value: 2 }),
  );
});
