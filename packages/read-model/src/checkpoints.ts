// The checkpoint of each partition: the position up to which its stored state reflects the log. It is written after the
// data, so it is never ahead of it; only its owner writes it, and only while the database holds the owner's last
// revision.
import type { TopicName } from '@lead-scoring/contracts';
import { beginning, checkpointCollection, checkpointId, type StoredPlace } from './checkpoint-documents.js';
import { CheckpointOwner, type CheckpointReadModel } from './checkpoint-owner.js';
import { withClassifiedErrors } from './errors.js';
import { numberToOffset, offsetToNumber } from './values.js';

export interface Checkpoint {
  /** The next offset of the service's output topic to fold into the stored state. */
  offset: bigint;
  /** The next offset of each input topic that the stored state does not reflect. */
  positions: Partial<Record<TopicName, bigint>>;
}

export interface Checkpoints {
  /**
   * Takes over the partition's checkpoint: stores of its previous owner fail from then on.
   * @returns the checkpoint from which to fold: the stored one, or an older one when a crash of the database may have
   * lost acknowledged writes; offset 0 and no positions when there is none
   */
  load(reader: string, partition: number): Promise<Checkpoint>;
  /**
   * Stores the checkpoint; call it only after the database has acknowledged everything before it.
   * @throws ReadModelError `checkpoint_superseded` (retriable: open the partition again) when the database does not
   * hold this owner's last revision, because another owner has taken the partition over or reset it, or a crash has
   * lost it. The checkpoint could otherwise be ahead of the data
   */
  store(reader: string, partition: number, checkpoint: Checkpoint): Promise<void>;
  /** Sets the checkpoint to offset 0, before the partition's documents are deleted. */
  reset(reader: string, partition: number): Promise<void>;
  /** The checkpoints of all partitions, or of the given ones. */
  loadAll(reader: string, partitions?: readonly number[]): Promise<Map<number, Checkpoint>>;
  /** The checkpoints of these partitions as this process has last stored them; null where it does not own all of them. */
  own(reader: string, partitions: readonly number[]): Map<number, Checkpoint> | null;
  /** Resolves when this process next stores a checkpoint, of whichever partition. */
  nextOwn(): Promise<void>;
}

/** Creates the checkpoints of one partition state, which owns those that it has loaded. */
export function createCheckpoints(readModel: CheckpointReadModel): Checkpoints {
  const collection = readModel.collection(checkpointCollection);
  const owner = new CheckpointOwner(readModel);
  const nameOf = (reader: string) => readModel.checkpointName?.(reader) ?? reader;
  return {
    load: (reader, partition) =>
      withClassifiedErrors(async () =>
        toCheckpoint((await owner.takeOver(nameOf(reader), partition)).stored),
      ),
    store: (reader, partition, checkpoint) =>
      withClassifiedErrors(() => owner.store(nameOf(reader), partition, toPlace(checkpoint))),
    reset: (reader, partition) =>
      withClassifiedErrors(() => owner.store(nameOf(reader), partition, beginning, 1)),
    loadAll: (reader, partitions) =>
      withClassifiedErrors(async () => {
        const name = nameOf(reader);
        const found = partitions
          ? collection.find({ _id: { $in: partitions.map((partition) => checkpointId(name, partition)) } })
          : collection.find({ name });
        return new Map((await found.toArray()).map((stored) => [stored.partition, toCheckpoint(stored)]));
      }),
    own: (reader, partitions) => {
      const name = nameOf(reader);
      const found = new Map<number, Checkpoint>();
      for (const partition of partitions) {
        const place = readModel.ownCheckpoints.placeOf(checkpointId(name, partition));
        if (!place) return null;
        found.set(partition, toCheckpoint(place));
      }
      return found;
    },
    nextOwn: () => readModel.ownCheckpoints.next(),
  };
}

function toPlace({ offset, positions }: Checkpoint): StoredPlace {
  return {
    offset: offsetToNumber(offset),
    positions: Object.entries(positions).map(([topic, position]) => ({
      topic: topic as TopicName,
      offset: offsetToNumber(position),
    })),
  };
}

function toCheckpoint(stored: StoredPlace): Checkpoint {
  return {
    offset: numberToOffset(stored.offset),
    positions: Object.fromEntries(
      stored.positions.map(({ topic, offset }) => [topic, numberToOffset(offset)]),
    ),
  };
}
