// A session: one attempt at working on a partition, from its opening to its close.
import type { TopicName } from '@lead-scoring/contracts';
import type { RawRecord } from './kafka/record-batch.js';

/** What an input topic has brought: records, or none. */
export interface InputArrival {
  topic: TopicName;
  records: RawRecord[];
  /** Where to read on after them. */
  nextOffset: bigint;
}

/** One attempt at working on a partition. Its methods are called one at a time. */
export interface Session {
  /** Where to read each input topic from. */
  readonly positions: ReadonlyMap<TopicName, bigint>;
  /** Takes what an input has brought, or, in a session that takes several inputs together, what several have. */
  handle(arrivals: readonly InputArrival[]): Promise<void>;
  /** Stores what it has kept in memory: called now and then while nothing comes, and at an orderly end, then with `isLast`. */
  settle?(isLast: boolean): Promise<void>;
  /** Called at an orderly end, after `settle`: tells the next owner that this one writes no more. */
  release?(): Promise<void>;
  close(): Promise<void>;
}

/** Thrown by a session that has learned something and wants to be opened anew at once. */
export class OpenAnew extends Error {
  /** @param wasLate it may have been taken for dead: the partition is taken back only once the group confirms it */
  constructor(
    message: string,
    readonly wasLate = false,
  ) {
    super(message);
  }
}

/** `stalled`: nothing has moved for 10 s; after 42 s the process is given up. */
export interface PartitionStatus {
  state: 'opening' | 'running' | 'waiting' | 'stalled';
  error?: string;
  /** It stands still until an operator has done something: what is wrong, and what to do. */
  halted?: string;
}

/** Nobody waits for what comes of a single one, and they come in batches already. */
export function isOfEvents(topic: TopicName): boolean {
  return topic.endsWith('.events');
}
