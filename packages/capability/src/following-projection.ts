// A projection of another service's events: this service's own copy of the data that it needs from them. A projector folds it apart
// from the service's processor, with a consumer group and checkpoints that have the projection's name.
import {
  createProjector,
  type Checkpoint,
  type Component,
  type EventLog,
  type FoldedRecord,
  type ProcessorStatus,
  type ProjectionState,
  type ProjectorOptions,
  type Touch,
} from '@lead-scoring/event-log';
import {
  createCheckpoints,
  deletePartition,
  isRetriable,
  isSilence,
  type Checkpoints,
  type EditionedReadModel,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { Capability, PartitionScope } from './capability.js';
import { EditionedProjection } from './editioned-projection.js';
import { followedTopics } from './folding-state.js';

/** Opened for one partition, and its only writer there. The runtime calls one method at a time. */
export interface OpenFollower {
  /** Folds records of `taken` types, those of one topic in their order. A record may be folded again after a crash. */
  fold(records: readonly FoldedRecord[]): Promise<void>;
  /** Drops all state in memory, which may be ahead of the stored documents. */
  forget?(): void;
}

export type FollowerScope = Pick<PartitionScope, 'partition' | 'readModel'>;

export interface FollowingProjectionDeclaration extends Pick<Capability, 'reads' | 'collections'> {
  /** Durable, and declared in `projectorNames`: the name of the consumer group and of the checkpoints. */
  readonly name: string;
  /** How much is folded at a time; options left out are as `ProjectorOptions` says. */
  readonly batching?: FollowerBatching;
  follow(scope: FollowerScope): OpenFollower;
}

/** For a follower of topics of which nearly all records are ignored or may wait: few large batches cost least. */
export const fewLargeBatches = {
  maxRecordsPerBatch: 16_000,
  maxBytesPerBatch: 8 * 1024 * 1024,
  everyMs: 1_000,
} as const satisfies FollowerBatching;

export type FollowerBatching = Pick<ProjectorOptions, 'maxRecordsPerBatch' | 'maxBytesPerBatch' | 'everyMs'>;

/** Has no `open`: the processor runs nothing of it, and no capability can open it. */
export interface FollowingProjection
  extends FollowingProjectionDeclaration, Pick<Capability<never, never>, 'kind' | 'commands' | 'events'> {}

/** Declares a projection of other services' events. */
export function followingProjection(declaration: FollowingProjectionDeclaration): FollowingProjection {
  return { kind: 'projection', commands: {}, events: {}, ...declaration };
}

export interface FollowerOptions extends Pick<ProjectorOptions, 'logger' | 'onFatal'> {
  readModel: EditionedReadModel;
  /** The version of the data that the service stores. */
  version: number;
  /** As in `ServiceProcessorOptions`. */
  outlivesDatabase?: boolean;
}

/** The projector of a following projection, in every partition that this process is given. */
export function createFollower(
  log: EventLog,
  projection: FollowingProjection,
  { readModel, version, logger, onFatal, outlivesDatabase = false }: FollowerOptions,
): Component<ProcessorStatus> {
  return createProjector(log, {
    ...projection.batching,
    logger,
    onFatal,
    name: projection.name,
    inputs: projection.reads,
    open: (partition, _touch, lease) =>
      EditionedProjection.open({
        reader: projection.name,
        version,
        partition,
        topics: followedTopics(projection.reads),
        log,
        readModel,
        lease,
        logger: logger.child({ partition }),
        open: (edition) => openFollowerPartition(projection, edition, partition),
      }),
    ...(!outlivesDatabase && { isSilence }),
    isRetriable,
  });
}

/** Opens a following projection for one partition. */
export function openFollowerPartition(
  projection: FollowingProjection,
  readModel: ReadModel,
  partition: number,
): ProjectionState {
  return new FollowerPartition(projection, readModel, partition);
}

class FollowerPartition implements ProjectionState {
  readonly #checkpoints: Checkpoints;
  readonly #opened: OpenFollower;

  constructor(
    private readonly projection: FollowingProjection,
    private readonly readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#checkpoints = createCheckpoints(readModel);
    this.#opened = projection.follow({ readModel, partition });
  }

  checkpoint(): Promise<Checkpoint> {
    return this.#checkpoints.load(this.projection.name, this.partition);
  }

  async fold(records: FoldedRecord[]): Promise<void> {
    try {
      await this.#opened.fold(records);
    } catch (error) {
      // The repeated fold starts from the stored documents.
      this.#opened.forget?.();
      throw error;
    }
  }

  async store(checkpoint: Checkpoint): Promise<void> {
    await this.#checkpoints.store(this.projection.name, this.partition, checkpoint);
  }

  async reset(touch: Touch): Promise<void> {
    await this.#checkpoints.reset(this.projection.name, this.partition);
    for (const collection of this.projection.collections)
      await deletePartition(this.readModel, collection, this.partition, touch);
    this.#opened.forget?.();
  }
}
