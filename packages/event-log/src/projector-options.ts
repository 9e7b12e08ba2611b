// The options of a projector.
import type { Logger } from 'pino';
import type { InputTable } from './inputs.js';
import type { Touch } from './liveness.js';
import type { Checkpoint } from './processor-options.js';
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
  /** Whether an operator has asked for a rebuild, which has not ended. Default: false. */
  isRebuilding?(): boolean;
  close?(): Promise<void>;
}

export interface ProjectorOptions {
  /** Durable name: the consumer group is `<namespace>.<name>`. */
  name: string;
  /** The input topics, and the record types that the projector folds. */
  inputs: InputTable;
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
   * fewer and larger batches for readers that accept the delay. Records after a silence are folded at once, and other
   * records within about 0.1 s. Default 0.
   */
  everyMs?: number;
}
