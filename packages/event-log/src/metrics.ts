// Metrics of processors and projectors, with Prometheus' naming: the unit comes last.
import { metricDeclarations, type MetricDeclaration } from '@lead-scoring/contracts';
import { metrics } from '@opentelemetry/api';
import type { OutgoingRecord } from './records.js';

/**
 * A stage of a batch. `wait`: fetched records wait for a round. `decide`: includes decoding and encoding. `commit`: the
 * transaction. `fold`: own events into the state. `store`: the state and its checkpoint, concurrently with later
 * batches.
 */
export type Stage = 'wait' | 'decide' | 'commit' | 'fold' | 'store';

export interface ProcessingMetrics {
  batch(topic: string, measured: { records: number; seconds: number }): void;
  stage(stage: Stage, seconds: number): void;
  /** Counts the events of a committed decision, by type. */
  decided(events: readonly Pick<OutgoingRecord, 'declaration'>[]): void;
  deadLetters(topic: string, count: number): void;
  /** Reports the unread records of a partition, until `release`. */
  lag(topic: string, partition: number, records: number): void;
  /** The partition was given to another process, which reports its lag. */
  release(partition: number): void;
  restart(): void;
  /** Records that retention deleted before they were read. */
  lost(topic: string, records: number): void;
}

/** Bucket boundaries in seconds: from 1 ms for a trivial stage to 5 minutes for a reset. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * The instruments of one processor or projector; each measurement carries its name as the attribute `service`.
 * @param types the types of the events that it decides
 */
export function createProcessingMetrics(service: string, types: readonly string[] = []): ProcessingMetrics {
  const meter = metrics.getMeter('@lead-scoring/event-log');
  const counter = ({ name, meaning }: MetricDeclaration) =>
    meter.createCounter(name, { description: meaning });
  const duration = ({ name, meaning, unit }: MetricDeclaration) =>
    meter.createHistogram(name, {
      description: meaning,
      unit,
      advice: { explicitBucketBoundaries: durationBuckets },
    });
  const records = counter(metricDeclarations.records);
  const decided = counter(metricDeclarations.decidedRecords);
  const dead = counter(metricDeclarations.deadLetters);
  const restarts = counter(metricDeclarations.restarts);
  const losses = counter(metricDeclarations.lostRecords);
  const batches = duration(metricDeclarations.batchDuration);
  const stages = duration(metricDeclarations.stageDuration);
  // Counters begin at 0: Prometheus sees an increase only behind an earlier value.
  restarts.add(0, { service });
  for (const type of types) decided.add(0, { service, type });
  const lags = new Map<number, Map<string, number>>();
  meter
    .createObservableGauge(metricDeclarations.lag.name, { description: metricDeclarations.lag.meaning })
    .addCallback((result) => {
      for (const [partition, topics] of lags)
        for (const [topic, count] of topics) result.observe(count, { service, topic, partition });
    });
  return {
    batch(topic, measured) {
      records.add(measured.records, { service, topic });
      batches.record(measured.seconds, { service, topic });
    },
    stage: (stage, seconds) => {
      stages.record(seconds, { service, stage });
    },
    decided: (events) => {
      for (const [type, count] of countsByType(events)) decided.add(count, { service, type });
    },
    deadLetters: (topic, count) => {
      dead.add(count, { service, topic });
    },
    lag: (topic, partition, count) => {
      const topics = lags.get(partition) ?? new Map<string, number>();
      if (!topics.has(topic)) for (const one of [dead, losses]) one.add(0, { service, topic });
      lags.set(partition, topics.set(topic, count));
    },
    release: (partition) => {
      lags.delete(partition);
    },
    lost: (topic, count) => {
      losses.add(count, { service, topic });
    },
    restart: () => {
      restarts.add(1, { service });
    },
  };
}

function countsByType(events: readonly Pick<OutgoingRecord, 'declaration'>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { declaration } of events) counts.set(declaration.type, (counts.get(declaration.type) ?? 0) + 1);
  return counts;
}

/** Runs the work and records its duration, also when it fails. */
export async function timed<Result>(
  measured: ProcessingMetrics,
  stage: Stage,
  work: () => Promise<Result>,
): Promise<Result> {
  const started = performance.now();
  try {
    return await work();
  } finally {
    measured.stage(stage, (performance.now() - started) / 1_000);
  }
}
