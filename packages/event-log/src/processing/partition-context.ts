// What everything that works on one partition of a processor is given.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { DecisionLimits } from '../decision-limits.js';
import type { EventLog } from '../event-log.js';
import type { Touch } from '../liveness.js';
import type { ProcessingMetrics } from '../metrics.js';
import type { ProcessorOptions } from '../processor-options.js';
import type { Answer } from '../replies.js';
import type { OwnSessionLease } from '../session-lease.js';
import type { FailedRecords } from './failed-records.js';
import type { InputSegment } from './input-batch.js';
import type { JointProducers } from './joint-producer.js';

/** What is remembered of a partition from one session to the next. */
export interface PartitionMemory {
  failed: FailedRecords;
  limits: DecisionLimits;
  /** The next offset of each input after the last commit that the brokers answered. */
  committed: Map<TopicName, bigint>;
  /** Of committed batches whose fold has failed: sent once the next session has folded the events. */
  unsent: Set<PendingAnswers>;
  /** The producer that owns the partition, and the offset of what it wrote last to the output's partition. */
  owned: { by?: { id: string; offset: bigint } };
  /** The command by which an operator has the read model folded anew: the next session obeys it while it is opened. */
  rebuild: { asked?: InputSegment | undefined };
}

/** Makes the answers to a batch, once its events are folded. */
export type PendingAnswers = () => Promise<Answer[]>;

export interface PartitionContext extends PartitionMemory {
  log: EventLog;
  options: ProcessorOptions;
  partition: number;
  groupId: string;
  /** Its lines name the partition. */
  logger: Logger;
  metrics: ProcessingMetrics;
  producers: JointProducers;
  reply: (answers: readonly Answer[]) => void;
  /** Aborted when the partition is to be left. */
  signal: AbortSignal;
  touch: Touch;
  /** To be called where only the brokers have answered. */
  touchOfLog: Touch;
  lease: OwnSessionLease;
}

/** The fractional parts of its multiples lie evenly apart, however many there are. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;

/** From 0 to 1: spreads what each partition of a process does now and then, so that they do not all do it at once. */
export function phaseOf(partition: number): number {
  return (partition * goldenRatio) % 1;
}
