// Metrics of a topic source, with Prometheus' naming.
import { metricDeclarations } from '@lead-scoring/contracts';
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
  const { sourceRecords, sourceLostRecords, sourceLag } = metricDeclarations;
  const taken = meter.createCounter(sourceRecords.name, { description: sourceRecords.meaning });
  const losses = meter.createCounter(sourceLostRecords.name, { description: sourceLostRecords.meaning });
  const lags = new Map<number, number>();
  meter.createObservableGauge(sourceLag.name, { description: sourceLag.meaning }).addCallback((result) => {
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
