// What a service hands to its processor, and what the processor tells of itself.
import type { records as declarations, ServiceName, TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import type { InputTable } from './inputs.js';
import type { Touch } from './liveness.js';
import type { PartitionStatus } from './session.js';
import type { FoldedRecord, IncomingRecord, OutgoingRecord } from './records.js';
import type { SessionLease } from './session-lease.js';

/** How far a stored state reflects the log. */
export interface Checkpoint {
  /** The next offset of the output topic that is not yet folded into the stored state; 0 for none. */
  offset: bigint;
  /** For each input topic the next offset whose effect the stored state does not hold yet. */
  positions: Partial<Record<TopicName, bigint>>;
}

/** What is to happen because of a batch: all of it, in one transaction that says how far the inputs are read, or nothing. */
export interface Decision {
  /** Appended to the output topic, in the processor's own partition, in this order. */
  events: OutgoingRecord[];
  /** Appended to other topics (inputs, or `commandsTo`) or partitions, in the same transaction. */
  commands?: OutgoingRecord[];
  /** Sent after the events are folded, and what a function waits for, so that who gets the reply can read what it says. */
  replies?: Reply[] | (() => Reply[] | Promise<Reply[]>);
  /** True where the events only say that all of it was known before: sent again, such a record is told to have had no effect. */
  isRepeat?: boolean;
  /** Records of the batch that cannot be taken, with the reason. A caller that `replies` leaves out is told so. */
  deadLetters?: { record: IncomingRecord; reason: string }[];
}

/** The answer to a record that has the headers `reply-to` and `correlation-id`; to any other it is dropped. */
export interface Reply {
  to: IncomingRecord;
  reply: declarations.CommandReplied;
}

/**
 * A service's state of one partition. The processor is its only writer, and calls one method at a time, `store` aside. What
 * does not move for 42 s is given up with its process.
 */
export interface PartitionState {
  checkpoint(): Promise<Checkpoint>;
  /**
   * Loads what is needed in bulk and decides for each record in order; writes nothing. All records are of one input topic,
   * unless the service `decidesTogether`.
   * @throws BatchTooLarge where fewer records are to be decided at a time: they come again, in two halves
   */
  decide(records: IncomingRecord[]): Promise<Decision>;
  /**
   * Folds own events into the state: live after the commit, and on catch-up. What replies speak of is written before they
   * are handed over; all else may be kept in memory until `store`. Writes are guarded and idempotent.
   */
  fold(events: FoldedRecord[]): Promise<void>;
  /**
   * Writes what is folded as of this call and not stored yet, then the checkpoint. The next batches are decided and folded
   * meanwhile.
   * @param awaited aborted when somebody waits for its end; until then it may take its time
   */
  store(checkpoint: Checkpoint, awaited: AbortSignal): Promise<void>;
  /**
   * Called once after opening, when everything that the log has is folded and before anything is decided: the place to
   * take up work that an earlier owner left.
   */
  caughtUp?(): Promise<void>;
  /** Drops this partition's documents, which may take minutes, and sets its checkpoint to offset 0. */
  reset(touch: Touch): Promise<void>;
  close?(): Promise<void>;
}

export interface ProcessorOptions {
  name: ServiceName;
  /** What the service reads, and which records of it the service takes. */
  inputs: InputTable;
  output: TopicName;
  /** Topics that its commands go to, besides its inputs. */
  commandsTo?: readonly TopicName[];
  /**
   * `touch` is to be called now and then while anything that the state does takes long: it says that something moves.
   * @param lease to be checked before each write of the state's
   */
  open(partition: number, touch: Touch, lease: SessionLease): Promise<PartitionState>;
  logger: Logger;
  /** Called once when the processor can no longer work: the process should exit non-zero and be started anew. */
  onFatal(error: Error): void;
  /** Whether an error of the state passes by itself, besides those with `retriable: true`; such a batch is never parked. */
  isRetriable?(error: unknown): boolean;
  /** Whether an error of the state says that its server was silent: a process that hears nothing for too long is given up. */
  isSilence?(error: unknown): boolean;
  /**
   * Milliseconds after which the brokers end a transaction. A decision that takes two thirds of it is given up and made anew on
   * half of the records; on one record it is made before its transaction begins. Default 15,000.
   */
  transactionTimeoutMs?: number;
  /** Records of one input decided together. Default 1,000. */
  maxRecordsPerBatch?: number;
  /**
   * What several inputs have brought is decided in one batch, those of each input in their order: for a service that decides
   * on each input by state that the others do not change, or that may take them in any order. It saves batches.
   */
  decidesTogether?: boolean;
  /**
   * How long what an input of events has brought waits for what another one brings, to be decided in one batch with it, in
   * milliseconds: for an input that another one follows. Only with `decidesTogether`; nothing waits that is behind.
   */
  patienceMs?: Partial<Record<TopicName, number>>;
  /** Bytes read from one topic's partition at a time: bounds a batch, and with it memory. Default 2 MiB. */
  maxBytesPerBatch?: number;
  /**
   * While batches follow each other, the state is stored no more often than this, in milliseconds; once nothing comes it is
   * stored at once. What a new owner has to fold anew grows with it. Default 0: stored after each batch.
   */
  storeEveryMs?: number;
}

/** What a running processor tells of itself, for readiness. */
export interface ProcessorStatus {
  /** The partitions that this process works on, and the state of each. */
  partitions(): ({ partition: number } & PartitionStatus)[];
  /** True when the group has been joined and every owned partition is running. */
  ready(): boolean;
}
