// The dependencies of all work on one partition of a processor.
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
import type { JointProducers } from './joint-producer.js';

/** The memory of a partition that outlives its sessions. */
export interface PartitionMemory {
  failed: FailedRecords;
  limits: DecisionLimits;
  /** The input positions after the last acknowledged commit. */
  committed: Map<TopicName, bigint>;
  /** Answers to committed batches whose fold has failed: sent once the next session has folded the events. */
  pendingAnswers: Set<PendingAnswers>;
  /** The producer that owns the partition, and the offset of its last record in the output's partition. */
  owned: { by?: { id: string; offset: bigint } };
}

/** Makes the answers to a batch after its events are folded. */
export type PendingAnswers = () => Promise<Answer[]>;

export interface PartitionContext extends PartitionMemory {
  log: EventLog;
  options: ProcessorOptions;
  partition: number;
  groupId: string;
  /** A logger whose lines name the partition. */
  logger: Logger;
  metrics: ProcessingMetrics;
  producers: JointProducers;
  reply: (answers: readonly Answer[]) => void;
  /** Aborted when the process gives up the partition. */
  signal: AbortSignal;
  touch: Touch;
  /** Called when only the brokers have answered. */
  touchByBroker: Touch;
  lease: OwnSessionLease;
}

/** The fractional parts of its multiples are evenly spread, however many there are. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;

/** A phase from 0 to 1 that spreads the periodic work of a process' partitions over time. */
export function phaseOf(partition: number): number {
  return (partition * goldenRatio) % 1;
}
