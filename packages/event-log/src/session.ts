// A session: the time from opening a partition to closing it, or to an error.
import type { TopicName } from '@lead-scoring/contracts';
import type { RawRecord } from './kafka/record-batch.js';

/** The fetched records of one input topic; may be empty. */
export interface InputArrival {
  topic: TopicName;
  records: RawRecord[];
  /** The next offset to read after the records. */
  nextOffset: bigint;
}

/** A session on a partition. Its methods are called one at a time. */
export interface Session {
  /** The next offset to read of each input topic. */
  readonly positions: ReadonlyMap<TopicName, bigint>;
  /** Handles the records of one input, or of several inputs in a session that decides them together. */
  handle(arrivals: readonly InputArrival[]): Promise<void>;
  /** Stores state kept in memory: called repeatedly while the inputs are idle, and at an orderly end with `isLast`. */
  flush?(isLast: boolean): Promise<void>;
  /** As `flush`, at the intervals that hold under load: called while its inputs are idle and those of other sessions are not. */
  rest?(): Promise<void>;
  /** Called at an orderly end, after `flush`: releases the partition to its next owner. */
  release?(): Promise<void>;
  close(): Promise<void>;
}

/** Thrown by a session that must be opened again at once. */
export class ReopenSession extends Error {
  /**
   * @param needsConfirmation whether the group may have removed the member: the partition is opened again only after the group
   * has confirmed it
   */
  constructor(
    message: string,
    readonly needsConfirmation = false,
  ) {
    super(message);
  }
}

/** `stalled`: no progress for 10 s; after 42 s the process ends. */
export interface PartitionStatus {
  state: 'opening' | 'running' | 'waiting' | 'stalled';
  error?: string;
  /** Set when the partition is halted until an operator acts: the cause and the remedy. */
  halted?: string;
}

/** Whether a topic holds events: no caller waits for a single event, and events arrive in batches already. */
export function isEventTopic(topic: TopicName): boolean {
  return topic.endsWith('.events');
}
