// The options of a projector, and the status that it reports.
import type { ServiceName, TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { topicsOf, type InputTable } from './inputs.js';
import type { Touch } from './liveness.js';
import type { Checkpoint, ProcessorStatus } from './processor-options.js';
import type { FoldedRecord } from './records.js';
import type { SessionLease } from './session-lease.js';

/**
 * A read model's state of one partition. `checkpoint.positions` holds the next offset of each input; `offset` is not
 * used.
 */
export interface ProjectionState {
  checkpoint(): Promise<Checkpoint>;
  /** Folds records with guarded, idempotent writes: a record may be folded more than once. */
  fold(records: FoldedRecord[]): Promise<void>;
  store(checkpoint: Checkpoint): Promise<void>;
  /** Drops this partition's documents and its checkpoint; the projector then reads from the beginning. */
  reset(touch: Touch): Promise<void>;
  close?(): Promise<void>;
}

export interface ProjectorOptions {
  /** Durable name: the consumer group is `<namespace>.<name>`. */
  name: string;
  /** The input topics, and the record types that the projector folds. */
  inputs: InputTable;
  /**
   * The service whose RebuildReadModel commands the projector follows: its read models are dropped and folded again
   * together.
   */
  rebuildsWith?: ServiceName;
  /**
   * Opens the state of a partition. The state calls `touch` repeatedly during long work to report progress.
   * @param lease to be checked before each write of the state
   */
  open(partition: number, touch: Touch, lease: SessionLease): Promise<ProjectionState>;
  logger: Logger;
  onFatal(error: Error): void;
  isRetriable?(error: unknown): boolean;
  /** Whether an error of the state is a request timeout: a process that gets no answer for too long ends. */
  isSilence?(error: unknown): boolean;
  maxRecordsPerBatch?: number;
  maxBytesPerBatch?: number;
  /**
   * Minimum interval between two folds, in milliseconds, while records keep coming whose declaration has `mayWait`:
   * fewer and larger batches for readers that accept the delay. Records after a silence are folded at once. Default 0.
   */
  everyMs?: number;
}

/**
 * The status of a running projector; `rebuild` drops the read models of this process' partitions and folds them again.
 */
export interface ProjectorStatus extends ProcessorStatus {
  rebuild(): Promise<void>;
}

/** Every topic that a projector reads: its inputs, and the commands of the service whose rebuilds it follows. */
export function topicsReadBy({ inputs, rebuildsWith }: ProjectorOptions): readonly TopicName[] {
  const read = topicsOf(inputs);
  return rebuildsWith === undefined ? read : [...read, `${rebuildsWith}.commands`];
}
