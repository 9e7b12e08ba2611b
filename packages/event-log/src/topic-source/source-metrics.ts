// Metrics of a topic source, with Prometheus' naming.
import { metrics } from '@opentelemetry/api';

/** What became of a record: an event, a dead letter, or nothing because it has no value. */
export type RecordOutcome = 'taken' | 'dead_letter' | 'empty';

export interface SourceMetrics {
  records(outcome: RecordOutcome, count: number): void;
  /** Reports the unread records of a partition, as of its last fetch, until `release`. */
  lag(partition: number, records: number): void;
  release(partition: number): void;
  /** Records that retention deleted before they were read. */
  lost(records: number): void;
}

/** The instruments of one source; each measurement carries its name as the attribute `source`. */
export function createSourceMetrics(source: string): SourceMetrics {
  const meter = metrics.getMeter('@lead-scoring/event-log');
  const taken = meter.createCounter('topic_source_records', {
    description: 'Records of a source topic, by what became of them.',
  });
  const losses = meter.createCounter('topic_source_lost_records', {
    description: 'Records of a source topic that its retention deleted before they were read.',
  });
  const lags = new Map<number, number>();
  meter
    .createObservableGauge('topic_source_lag_records', {
      description: 'Unread records of the source partitions that this process reads.',
    })
    .addCallback((result) => {
      for (const [partition, count] of lags) result.observe(count, { source, partition });
    });
  return {
    records: (outcome, count) => {
      if (count > 0) taken.add(count, { source, outcome });
    },
    lag: (partition, count) => {
      lags.set(partition, count);
    },
    release: (partition) => {
      lags.delete(partition);
    },
    lost: (count) => {
      losses.add(count, { source });
    },
  };
}
