// What a service hands to its projector, and what the projector tells of itself.
import type { ServiceName, TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { topicsOf, type InputTable } from './inputs.js';
import type { Touch } from './liveness.js';
import type { Checkpoint, ProcessorStatus } from './processor-options.js';
import type { FoldedRecord } from './records.js';
import type { SessionLease } from './session-lease.js';

/** A read model's state of one partition. `checkpoint.positions` says where to read on; `offset` is not used. */
export interface ProjectionState {
  checkpoint(): Promise<Checkpoint>;
  /** Folds records with guarded, idempotent writes: some may come again. */
  fold(records: FoldedRecord[]): Promise<void>;
  store(checkpoint: Checkpoint): Promise<void>;
  /** Drops this partition's documents and its checkpoint; the projector then reads from the beginning. */
  reset(touch: Touch): Promise<void>;
  close?(): Promise<void>;
}

export interface ProjectorOptions {
  /** Durable name: the consumer group is `<namespace>.<name>`. */
  name: string;
  /** What is read, and which records of it are folded. */
  inputs: InputTable;
  /** The service whose RebuildReadModel is obeyed: its read models are then dropped and folded anew together. */
  rebuildsWith?: ServiceName;
  /**
   * `touch` is to be called now and then while anything that the state does takes long: it says that something moves.
   * @param lease to be checked before each write of the state's
   */
  open(partition: number, touch: Touch, lease: SessionLease): Promise<ProjectionState>;
  logger: Logger;
  onFatal(error: Error): void;
  isRetriable?(error: unknown): boolean;
  /** Whether an error of the state says that its server was silent: a process that hears nothing for too long is given up. */
  isSilence?(error: unknown): boolean;
  maxRecordsPerBatch?: number;
  maxBytesPerBatch?: number;
  /**
   * While records keep coming that may wait by their declaration, they are folded no more often than this, in milliseconds:
   * fewer and larger batches, where nobody waits to read them. What comes after a silence is folded at once. Default 0.
   */
  everyMs?: number;
}

/** A projector at work; `rebuild` drops the read models of this process's partitions and folds them anew. */
export interface ProjectorStatus extends ProcessorStatus {
  rebuild(): Promise<void>;
}

/** Every topic that a projector reads: its inputs, and the commands that may have it fold all anew. */
export function topicsReadBy({ inputs, rebuildsWith }: ProjectorOptions): readonly TopicName[] {
  const read = topicsOf(inputs);
  return rebuildsWith === undefined ? read : [...read, `${rebuildsWith}.commands`];
}
