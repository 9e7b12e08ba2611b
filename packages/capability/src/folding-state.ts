// The form that the states of processors and projectors share, so that editions treat both alike.
import type { TopicName } from '@lead-scoring/contracts';
import {
  topicsOf,
  useOf,
  type Checkpoint,
  type FoldedRecord,
  type InputTable,
  type Touch,
} from '@lead-scoring/event-log';

/** A state of one partition, folded from topics. */
export interface FoldingState {
  checkpoint(): Promise<Checkpoint>;
  fold(records: FoldedRecord[]): Promise<void>;
  store(checkpoint: Checkpoint, awaited: AbortSignal): Promise<void>;
  /** As of a `PartitionState`. */
  hasUnwritten?(): boolean;
  /** Resolves when all that is folded as of this call is written; absent where folding writes. */
  written?(): Promise<void>;
  reset(touch: Touch): Promise<void>;
  close?(): Promise<void>;
}

/** The topics that a state is folded from, and where its checkpoint says how far. */
export interface FoldedTopics {
  readonly names: readonly TopicName[];
  /** Whether they are the service's own. */
  readonly areOwn: boolean;
  /** Whether a record is folded; others are passed over. */
  isFolded(record: FoldedRecord): boolean;
  /** The next offset of a topic to fold. */
  endIn(checkpoint: Checkpoint, topic: TopicName): bigint;
  withEnd(checkpoint: Checkpoint, topic: TopicName, end: bigint): Checkpoint;
}

/** The output of a service, folded into the state of its processor. */
export function ownTopic(output: TopicName): FoldedTopics {
  return {
    names: [output],
    areOwn: true,
    isFolded: () => true,
    endIn: ({ offset }) => offset,
    withEnd: ({ positions }, _topic, offset) => ({ offset, positions }),
  };
}

/** The inputs of a projector. */
export function followedTopics(inputs: InputTable): FoldedTopics {
  return {
    names: topicsOf(inputs),
    areOwn: false,
    isFolded: ({ topic, type }) => useOf(inputs, topic, type) === 'taken',
    endIn: ({ positions }, topic) => positions[topic] ?? 0n,
    withEnd: ({ offset, positions }, topic, end) => ({ offset, positions: { ...positions, [topic]: end } }),
  };
}
