// The projector: folds topics into a read model, at least once, with its offsets in the read model's own checkpoint.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { Component } from './component.js';
import type { EventLog } from './event-log.js';
import type { Checkpoint, ProcessorStatus } from './processor.js';
import type { IncomingRecord } from './records.js';

/** A read model's state of one partition. `checkpoint.positions` says where to read on; `offset` is not used. */
export interface ProjectionState {
  checkpoint(): Promise<Checkpoint>;
  /** Folds records with guarded, idempotent writes: some may come again. */
  fold(records: IncomingRecord[]): Promise<void>;
  store(checkpoint: Checkpoint): Promise<void>;
  reset(): Promise<void>;
  close?(): Promise<void>;
}

export interface ProjectorOptions {
  /** Durable name: the consumer group is `<namespace>.<name>`. */
  name: string;
  inputs: readonly TopicName[];
  open(partition: number): Promise<ProjectionState>;
  logger: Logger;
  onFatal(error: Error): void;
  maxRecordsPerBatch?: number;
  maxBytesPerBatch?: number;
}

export function createProjector(log: EventLog, options: ProjectorOptions): Component<ProcessorStatus> {
  throw new Error(`not yet: ${String(log)} ${String(options)}`);
}
