// The single-writer processor: for each partition it owns, decides commands and appends events, exactly once.
import type { records, ServiceName, TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { Component } from './component.js';
import type { EventLog } from './event-log.js';
import type { FoldedRecord, IncomingRecord, OutgoingRecord } from './records.js';

/** How far a stored state reflects the log. */
export interface Checkpoint {
  /** The next offset of the output topic that is not yet folded into the stored state; 0 for none. */
  offset: bigint;
  /** For each input topic the next offset whose effect the stored state does not hold yet. */
  positions: Partial<Record<TopicName, bigint>>;
}

/** What is to happen because of a batch: all of it, in one transaction with the input's offsets, or nothing. */
export interface Decision {
  /** Appended to the output topic, in the processor's own partition, in this order. */
  events: OutgoingRecord[];
  /** Appended to other topics or partitions, in the same transaction. */
  commands?: OutgoingRecord[];
  /** Sent after the events are folded, so that who gets the reply can read what it says. */
  replies?: Reply[] | (() => Reply[] | Promise<Reply[]>);
  /** Records of the batch that cannot be taken, with the reason. */
  deadLetters?: { record: IncomingRecord; reason: string }[];
}

/** The answer to a record that has the headers `reply-to` and `correlation-id`; to any other it is dropped. */
export interface Reply {
  to: IncomingRecord;
  reply: records.CommandReplied;
}

/** A service's state of one partition. The processor is its only writer, and calls one method at a time. */
export interface PartitionState {
  checkpoint(): Promise<Checkpoint>;
  /** Loads what is needed in bulk and decides for each record in order; writes nothing. All records are of one input topic. */
  decide(records: IncomingRecord[]): Promise<Decision>;
  /** Folds own events into the stored state with guarded, idempotent writes: live after the commit, and on catch-up. */
  fold(events: FoldedRecord[]): Promise<void>;
  store(checkpoint: Checkpoint): Promise<void>;
  /** Drops this partition's documents and sets its checkpoint to offset 0. */
  reset(): Promise<void>;
  close?(): Promise<void>;
}

export interface ProcessorOptions {
  name: ServiceName;
  inputs: readonly TopicName[];
  output: TopicName;
  open(partition: number): Promise<PartitionState>;
  logger: Logger;
  /** Called once when the processor can no longer work: the process should exit non-zero and be started anew. */
  onFatal(error: Error): void;
  /** Records decided together. Default 1,000. */
  maxRecordsPerBatch?: number;
  /** Bytes read from one topic's partition at a time: bounds a batch, and with it memory. Default 2 MiB. */
  maxBytesPerBatch?: number;
}

/** What a running processor tells of itself, for readiness. */
export interface ProcessorStatus {
  /** The partitions that this process works on, and the state of each. */
  partitions(): { partition: number; state: 'opening' | 'running' | 'waiting'; error?: string }[];
  /** True when the group has been joined and every owned partition is running. */
  ready(): boolean;
}

export function createProcessor(log: EventLog, options: ProcessorOptions): Component<ProcessorStatus> {
  throw new Error(`not yet: ${String(log)} ${String(options)}`);
}
