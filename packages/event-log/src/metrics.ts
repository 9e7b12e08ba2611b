// What the processors measure of themselves.
import { metrics } from '@opentelemetry/api';

export interface ProcessingMetrics {
  batch(topic: string, measured: { records: number; seconds: number }): void;
  deadLetters(topic: string, count: number): void;
  fold(seconds: number): void;
  lag(topic: string, partition: number, records: number): void;
  restart(): void;
  /** Records that were gone by their age before they were read. */
  lost(topic: string, records: number): void;
}

/** The instruments of one processor or projector; all carry its name as the attribute `service`. */
export function createProcessingMetrics(service: string): ProcessingMetrics {
  const meter = metrics.getMeter('@lead-scoring/event-log');
  const records = meter.createCounter('event_log_records', { description: 'Records handled.' });
  const batches = meter.createHistogram('event_log_batch_duration', {
    description: 'From a batch in hand to its effect stored.',
    unit: 's',
  });
  const dead = meter.createCounter('event_log_dead_letters', {
    description: 'Records that could not be taken.',
  });
  const folds = meter.createHistogram('event_log_fold_duration', {
    description: 'Folding own events.',
    unit: 's',
  });
  const restarts = meter.createCounter('event_log_restarts', {
    description: 'Partitions opened anew after an error.',
  });
  const losses = meter.createCounter('event_log_lost_records', {
    description: 'Records that were gone by their age before they were read.',
  });
  const lags = meter.createGauge('event_log_lag', { description: 'Records of a partition not yet read.' });
  return {
    batch(topic, measured) {
      records.add(measured.records, { service, topic });
      batches.record(measured.seconds, { service, topic });
    },
    deadLetters: (topic, count) => {
      dead.add(count, { service, topic });
    },
    fold: (seconds) => {
      folds.record(seconds, { service });
    },
    lag: (topic, partition, count) => {
      lags.record(count, { service, topic, partition });
    },
    lost: (topic, count) => {
      losses.add(count, { service, topic });
    },
    restart: () => {
      restarts.add(1, { service });
    },
  };
}
