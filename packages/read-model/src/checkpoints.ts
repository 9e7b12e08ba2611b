// The checkpoint of each partition: the position up to which its stored state reflects the log. It is written after the
// data, so it is never ahead of it; only its owner writes it, and only while the database holds the owner's last
// revision.
import { randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { TopicName } from '@lead-scoring/contracts';
import { checkpointsName, superseded } from './checkpoint-verifier.js';
import { defineCollection } from './collection-declaration.js';
import { coalescedCall } from './coalesced-calls.js';
import type { ReadModel } from './connection.js';
import { isDuplicateKey, withClassifiedErrors } from './errors.js';
import { serverStart } from './server-start.js';
import { inLockingOrder, numberToOffset, offsetToNumber } from './values.js';

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
  load(name: string, partition: number): Promise<Checkpoint>;
  /**
   * Stores the checkpoint; call it only after the database has acknowledged everything before it.
   * @throws ReadModelError `checkpoint_superseded` (retriable: open the partition again) when the database does not
   * hold this owner's last revision, because another owner has taken the partition over or reset it, or a crash has
   * lost it. The checkpoint could otherwise be ahead of the data
   */
  store(name: string, partition: number, checkpoint: Checkpoint): Promise<void>;
  /** Sets the checkpoint to offset 0, before the partition's documents are deleted. */
  reset(name: string, partition: number): Promise<void>;
  /** The checkpoints of all partitions, or of the given ones. */
  loadAll(name: string, partitions?: readonly number[]): Promise<Map<number, Checkpoint>>;
}

interface StoredPlace {
  offset: number;
  // An array, because topic names contain dots.
  positions: { topic: TopicName; offset: number }[];
}

interface StoredCheckpoint extends StoredPlace {
  _id: string;
  name: string;
  partition: number;
  /** Incremented by every reset. */
  generation: number;
  /** The session that took the checkpoint over last; absent in documents from before owners were stored. */
  owner?: string;
  /** Incremented by every store of an owner. */
  revision?: number;
  /** The `serverStart` at the time of the takeover. */
  server_start?: string | null;
  /** The position up to which everything is stored, whatever a crash of the current run of the server has lost. */
  confirmed?: StoredPlace;
  stored_at: Date;
}

export const checkpointCollection = defineCollection<StoredCheckpoint>({
  name: checkpointsName,
  indexes: [],
});

/** An owner's view of its checkpoint. */
interface CheckpointOwnership {
  generation: number;
  revision: number;
  isStoring: boolean;
  serverStart: string | null;
  /** The last stored place. */
  stored: StoredPlace;
  confirmed: StoredPlace;
}

/** A compare-and-set: the checkpoint is replaced if it has this owner and revision. */
interface CheckpointStore {
  _id: string;
  owner: string;
  revision: number;
  replacement: Omit<StoredCheckpoint, '_id'>;
}

/** @returns whether the checkpoint was stored */
const storeCoalesced = coalescedCall<CheckpointStore, boolean>({
  maximumItems: 1_000,
  idOf: ({ _id }) => _id,
  send: async (given, requests) => {
    const collection = given as unknown as Collection<StoredCheckpoint>;
    const stores = inLockingOrder(requests.flat());
    const { matchedCount } = await collection.bulkWrite(
      stores.map(({ _id, owner, revision, replacement }) => ({
        replaceOne: { filter: { _id, owner, revision }, replacement },
      })),
      { ordered: false },
    );
    if (matchedCount === stores.length) return requests.map(() => true);
    const found = await collection
      .find({ _id: { $in: stores.map(({ _id }) => _id) } }, { projection: { owner: 1, revision: 1 } })
      .toArray();
    const current = new Map(found.map((document) => [document._id, document]));
    // No other owner stores this owner's next revision.
    const isStored = ({ _id, owner, replacement }: CheckpointStore) =>
      current.get(_id)?.owner === owner && current.get(_id)?.revision === replacement.revision;
    return requests.map((own) => own.every(isStored));
  },
});

const beginning: StoredPlace = { offset: 0, positions: [] };
/** Two concurrent takeovers conflict once; the bound guards against a loop. */
const maximumConflicts = 10;

type CheckpointReadModel = Pick<ReadModel, 'collection' | 'db' | 'engine' | 'lease' | 'checkpointVerifier'>;

/** Creates the checkpoints of one partition state, which owns those that it has loaded. */
export function createCheckpoints(readModel: CheckpointReadModel): Checkpoints {
  const collection = readModel.collection(checkpointCollection);
  const owner = randomUUID();
  const owned = new Map<string, CheckpointOwnership>();

  async function takeOver(name: string, partition: number): Promise<CheckpointOwnership> {
    const id = checkpointId(name, partition);
    for (let attempt = 1; attempt <= maximumConflicts; attempt += 1) {
      const found = await collection.findOne({ _id: id });
      // Read in this order, so that a crash between the two reads is noticed.
      const start = await serverStart(readModel, checkpointsName);
      const isSameRun = found?.server_start === undefined || found.server_start === start;
      const place = placeOf(isSameRun ? found : (found.confirmed ?? found));
      const held: CheckpointOwnership = {
        generation: found?.generation ?? 0,
        revision: 0,
        isStoring: false,
        serverStart: start,
        stored: place,
        confirmed: place,
      };
      const document = { ...documentOf(held), name, partition };
      if (found) {
        const { matchedCount } = await collection.replaceOne(filterFor(found), document);
        if (matchedCount === 0) continue;
      } else if (!(await collection.insertOne({ _id: id, ...document }).then(() => true, unlessDuplicate)))
        continue;
      owned.set(id, held);
      watch(id, held);
      return held;
    }
    throw superseded(id);
  }

  function watch(id: string, held: CheckpointOwnership): void {
    const { lease } = readModel;
    if (!lease) return;
    readModel.checkpointVerifier.watch({
      id,
      owner,
      lease,
      serverStart: held.serverStart,
      revision: () => held.revision,
      isStoring: () => held.isStoring || owned.get(id) !== held,
      confirm: () => {
        held.confirmed = held.stored;
      },
    });
  }

  async function storePlace(
    name: string,
    partition: number,
    place: StoredPlace,
    generations = 0,
  ): Promise<void> {
    const id = checkpointId(name, partition);
    const held = owned.get(id) ?? (await takeOver(name, partition));
    const next: CheckpointOwnership = {
      ...held,
      generation: held.generation + generations,
      revision: held.revision + 1,
      stored: place,
      // A reset deletes what was confirmed before.
      confirmed: generations > 0 ? place : held.confirmed,
    };
    held.isStoring = true;
    const isStored = await storeCoalesced(collection, [
      { _id: id, owner, revision: held.revision, replacement: { ...documentOf(next), name, partition } },
    ]);
    if (!isStored) {
      const error = superseded(id);
      readModel.lease?.end(error);
      throw error;
    }
    Object.assign(held, next, { isStoring: false });
  }

  function documentOf(held: CheckpointOwnership): Omit<StoredCheckpoint, '_id' | 'name' | 'partition'> {
    return {
      generation: held.generation,
      owner,
      revision: held.revision,
      server_start: held.serverStart,
      ...held.stored,
      confirmed: held.confirmed,
      stored_at: new Date(),
    };
  }

  return {
    load: (name, partition) =>
      withClassifiedErrors(async () => toCheckpoint((await takeOver(name, partition)).stored)),
    store: (name, partition, checkpoint) =>
      withClassifiedErrors(() => storePlace(name, partition, toPlace(checkpoint))),
    reset: (name, partition) => withClassifiedErrors(() => storePlace(name, partition, beginning, 1)),
    loadAll: (name, partitions) =>
      withClassifiedErrors(async () => {
        const found = partitions
          ? collection.find({ _id: { $in: partitions.map((partition) => checkpointId(name, partition)) } })
          : collection.find({ name });
        return new Map((await found.toArray()).map((stored) => [stored.partition, toCheckpoint(stored)]));
      }),
  };
}

/** A filter for exactly the found document: null also matches a missing field. */
function filterFor({ _id, generation, owner, revision }: StoredCheckpoint) {
  return { _id, generation, owner: owner ?? null, revision: revision ?? null } as never;
}

function unlessDuplicate(error: unknown): false {
  if (!isDuplicateKey(error)) throw error;
  return false;
}

function placeOf(found: StoredPlace | null): StoredPlace {
  return found ? { offset: found.offset, positions: found.positions } : beginning;
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

function checkpointId(name: string, partition: number): string {
  return `${name}:${String(partition)}`;
}

function toCheckpoint(stored: StoredPlace): Checkpoint {
  return {
    offset: numberToOffset(stored.offset),
    positions: Object.fromEntries(
      stored.positions.map(({ topic, offset }) => [topic, numberToOffset(offset)]),
    ),
  };
}
