// The options of a processor, and the status that it reports.
import type { records as declarations, ServiceName, TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { InputTable } from './inputs.js';
import type { Touch } from './liveness.js';
import type { PartitionStatus } from './session.js';
import type { FoldedRecord, IncomingRecord, OutgoingRecord } from './records.js';
import type { SessionLease } from './session-lease.js';

/** The positions up to which a stored state reflects the log. */
export interface Checkpoint {
  /** The next offset of the output topic to fold into the stored state; 0 for none. */
  offset: bigint;
  /** The next offset of each input topic whose effect the stored state does not hold. */
  positions: Partial<Record<TopicName, bigint>>;
}

/**
 * The records and replies that a batch causes. One transaction commits all records together with the input positions,
 * or none.
 */
export interface Decision {
  /** Appended to the output topic, in the processor's own partition, in this order. */
  events: OutgoingRecord[];
  /** Appended to other topics (inputs, or `commandsTo`) or partitions, in the same transaction. */
  commands?: OutgoingRecord[];
  /**
   * Sent after the events are folded, so that a caller that gets the reply reads its own write; a function is called
   * after the fold and awaited.
   */
  replies?: Reply[] | (() => Reply[] | Promise<Reply[]>);
  /** True when the events only record a repetition: a retried dead letter then has the outcome `none`. */
  isRepeat?: boolean;
  /** Records of the batch to park, with the reason. A caller without an entry in `replies` gets a rejection. */
  deadLetters?: { record: IncomingRecord; reason: string }[];
}

/** The answer to a record with the headers `reply-to` and `correlation-id`; replies to other records are dropped. */
export interface Reply {
  to: IncomingRecord;
  reply: declarations.CommandReplied;
}

/**
 * A service's state of one partition. The processor is its only writer and calls one method at a time, except `store`.
 * A call without progress for 42 s ends the process.
 */
export interface PartitionState {
  checkpoint(): Promise<Checkpoint>;
  /**
   * Loads the needed state in bulk and decides on each record in order; writes nothing. All records are of one input
   * topic, unless the service sets `decidesTogether`.
   * @throws BatchTooLarge to be called again with each half of the records
   */
  decide(records: IncomingRecord[]): Promise<Decision>;
  /**
   * Folds own events into the state, live after the commit and on catch-up. State that replies depend on is written
   * before this resolves; all other state may stay in memory until `store`. Writes are guarded and idempotent.
   */
  fold(events: FoldedRecord[]): Promise<void>;
  /**
   * Writes the state folded before this call and not stored yet, then the checkpoint. The next batches are decided and
   * folded concurrently.
   * @param awaited aborted when a caller waits for the store; until then it may be slow
   */
  store(checkpoint: Checkpoint, awaited: AbortSignal): Promise<void>;
  /**
   * Whether `store` has left something unwritten that changes too often to be written each time. It is called again, with
   * `awaited` aborted already, when the inputs are idle and at an orderly end.
   */
  hasUnwritten?(): boolean;
  /**
   * Called once after opening, when all events of the log are folded and before anything is decided: the place to
   * resume work that an earlier owner left.
   */
  caughtUp?(): Promise<void>;
  /**
   * Drops this partition's documents, which may take minutes, and sets its checkpoint to offset 0: an operator has
   * declared the output whole that ends before what the state holds.
   */
  reset(touch: Touch): Promise<void>;
  close?(): Promise<void>;
}

export interface ProcessorOptions {
  name: ServiceName;
  /** The input topics, and the record types that the service takes. */
  inputs: InputTable;
  output: TopicName;
  /** Topics, besides the inputs, to which decisions send commands. */
  commandsTo?: readonly TopicName[];
  /**
   * Opens the state of a partition. The state calls `touch` repeatedly during long work to report progress.
   * @param lease to be checked before each write of the state
   */
  open(partition: number, touch: Touch, lease: SessionLease): Promise<PartitionState>;
  /**
   * Takes an operator's RebuildReadModel, which each partition gets with the same id, maybe more than once. It only notes
   * the rebuild; the command is consumed then.
   */
  rebuild(rebuildId: string): Promise<void>;
  logger: Logger;
  /** Called once when the processor can no longer work: the process should exit non-zero and be restarted. */
  onFatal(error: Error): void;
  /**
   * Whether an error of the state is transient, besides those with `retriable: true`; such an error never parks a
   * record.
   */
  isRetriable?(error: unknown): boolean;
  /** Whether an error of the state is a request timeout: a process that gets no answer for too long ends. */
  isSilence?(error: unknown): boolean;
  /**
   * Milliseconds after which the brokers abort a transaction. A decision that takes two thirds of it is discarded and
   * repeated on half of the records; a single slow record is decided before its transaction begins. Default 15,000.
   */
  transactionTimeoutMs?: number;
  /** Maximum number of records of one input in a batch. Default 1,000. */
  maxRecordsPerBatch?: number;
  /**
   * Decides the records of several inputs in one batch, each input's records in order. For services whose decisions on
   * one input do not depend on the others, or not on their order. It saves batches.
   */
  decidesTogether?: boolean;
  /**
   * How long records of an event input wait for records of an input that follows it, in milliseconds, to form one
   * batch. Only with `decidesTogether`; an input that lags does not wait.
   */
  patienceMs?: Partial<Record<TopicName, number>>;
  /** Bytes buffered for each partition of a topic: limits a batch and the memory that it takes. Default 2 MiB. */
  maxBytesPerBatch?: number;
  /**
   * Minimum interval between two stores while batches follow each other, in milliseconds; an idle partition stores at
   * once. A new owner has to fold at most this interval of events again. Default 0: stored after each batch.
   */
  storeEveryMs?: number;
}

/** The status of a running processor, for readiness. */
export interface ProcessorStatus {
  /** The partitions of this process and the state of each. */
  partitions(): ({ partition: number } & PartitionStatus)[];
  /** True when the group has been joined and every owned partition is running. */
  ready(): boolean;
}
