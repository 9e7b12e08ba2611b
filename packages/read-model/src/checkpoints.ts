// How far each partition's stored state reflects the log. Written after the data, so never ahead of it; by one owner, and
// only where the database still holds what that owner stored last.
import { randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { TopicName } from '@lead-scoring/contracts';
import { checkpointsName, superseded } from './checkpoint-look.js';
import { defineCollection } from './collection-declaration.js';
import { gatheredCall } from './collection-gathering.js';
import type { ReadModel } from './connection.js';
import { isDuplicateKey, withClassifiedErrors } from './errors.js';
import { serverStart } from './server-start.js';
import { inLockingOrder, numberToOffset, offsetToNumber } from './values.js';

export interface Checkpoint {
  /** Next offset of the own output topic that is not yet folded into the stored state. */
  offset: bigint;
  /** Next offset of each input topic that the stored state does not reflect yet. */
  positions: Partial<Record<TopicName, bigint>>;
}

export interface Checkpoints {
  /**
   * Takes the partition's checkpoint over: who had it before can not store any more.
   * @returns where to fold on from: the stored checkpoint, or an older one where a crash of the database may have lost
   *   what it had acknowledged since; offset 0 and no positions when there is none
   */
  load(name: string, partition: number): Promise<Checkpoint>;
  /**
   * Call it only when everything before the checkpoint is acknowledged by the database.
   * @throws ReadModelError `checkpoint_superseded` (retriable: open the partition again) when the database does not hold
   *   what this owner stored last: somebody has taken the partition over or reset it, or a crash has lost it. A store
   *   that went through then could be ahead of the data
   */
  store(name: string, partition: number, checkpoint: Checkpoint): Promise<void>;
  /** Back to offset 0, before the partition's documents are deleted. */
  reset(name: string, partition: number): Promise<void>;
  /** All partitions' checkpoints, or those asked for. */
  loadAll(name: string, partitions?: readonly number[]): Promise<Map<number, Checkpoint>>;
}

interface StoredPlace {
  offset: number;
  // A list, because topic names have dots.
  positions: { topic: TopicName; offset: number }[];
}

interface StoredCheckpoint extends StoredPlace {
  _id: string;
  name: string;
  partition: number;
  /** Grows with every reset. */
  generation: number;
  /** Of the session that took the checkpoint over last; what was stored before there were owners has none. */
  owner?: string;
  /** Grows with every store of an owner. */
  revision?: number;
  /** `serverStart` as the owner knows it. */
  server_start?: string | null;
  /** A place before which everything is stored whatever a crash of this run of the server has lost. */
  confirmed?: StoredPlace;
  stored_at: Date;
}

export const checkpointCollection = defineCollection<StoredCheckpoint>({
  name: checkpointsName,
  indexes: [],
});

/** What an owner knows of the checkpoint that it has taken over. */
interface Held {
  generation: number;
  revision: number;
  isStoring: boolean;
  serverStart: string | null;
  /** As stored last. */
  stored: StoredPlace;
  confirmed: StoredPlace;
}

/** A compare-and-set: the checkpoint is replaced where it has this owner and revision. */
interface CheckpointStore {
  _id: string;
  owner: string;
  revision: number;
  replacement: Omit<StoredCheckpoint, '_id'>;
}

/** @returns whether it was stored */
const storeGathered = gatheredCall<CheckpointStore, boolean>({
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
    const now = new Map(found.map((document) => [document._id, document]));
    // Nobody else stores this owner's next revision.
    const isStored = ({ _id, owner, replacement }: CheckpointStore) =>
      now.get(_id)?.owner === owner && now.get(_id)?.revision === replacement.revision;
    return requests.map((own) => own.every(isStored));
  },
});

const beginning: StoredPlace = { offset: 0, positions: [] };
/** Two owners that take one checkpoint over at once meet once; the bound is for what cannot be. */
const maximumMeetings = 10;

type CheckpointReadModel = Pick<ReadModel, 'collection' | 'db' | 'engine' | 'lease' | 'look'>;

/** One per partition state: it is the owner of what it has loaded. */
export function createCheckpoints(readModel: CheckpointReadModel): Checkpoints {
  const collection = readModel.collection(checkpointCollection);
  const owner = randomUUID();
  const owned = new Map<string, Held>();

  async function takeOver(name: string, partition: number): Promise<Held> {
    const id = checkpointId(name, partition);
    for (let meeting = 1; meeting <= maximumMeetings; meeting += 1) {
      const found = await collection.findOne({ _id: id });
      // In this order: a crash between the two is then seen.
      const start = await serverStart(readModel, checkpointsName);
      const isSure = found?.server_start === undefined || found.server_start === start;
      const place = placeOf(isSure ? found : (found.confirmed ?? found));
      const held: Held = {
        generation: found?.generation ?? 0,
        revision: 0,
        isStoring: false,
        serverStart: start,
        stored: place,
        confirmed: place,
      };
      const document = { ...documentOf(held), name, partition };
      if (found) {
        const { matchedCount } = await collection.replaceOne(asFound(found), document);
        if (matchedCount === 0) continue;
      } else if (!(await collection.insertOne({ _id: id, ...document }).then(() => true, unlessDuplicate)))
        continue;
      owned.set(id, held);
      watch(id, held);
      return held;
    }
    throw superseded(id);
  }

  function watch(id: string, held: Held): void {
    const { lease } = readModel;
    if (!lease) return;
    readModel.look.hold({
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

  async function put(name: string, partition: number, place: StoredPlace, generations = 0): Promise<void> {
    const id = checkpointId(name, partition);
    const held = owned.get(id) ?? (await takeOver(name, partition));
    const next: Held = {
      ...held,
      generation: held.generation + generations,
      revision: held.revision + 1,
      stored: place,
      // What a reset takes back is no longer there.
      confirmed: generations > 0 ? place : held.confirmed,
    };
    held.isStoring = true;
    const isStored = await storeGathered(collection, [
      { _id: id, owner, revision: held.revision, replacement: { ...documentOf(next), name, partition } },
    ]);
    if (!isStored) {
      const error = superseded(id);
      readModel.lease?.end(error);
      throw error;
    }
    Object.assign(held, next, { isStoring: false });
  }

  function documentOf(held: Held): Omit<StoredCheckpoint, '_id' | 'name' | 'partition'> {
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
      withClassifiedErrors(() => put(name, partition, toPlace(checkpoint))),
    reset: (name, partition) => withClassifiedErrors(() => put(name, partition, beginning, 1)),
    loadAll: (name, partitions) =>
      withClassifiedErrors(async () => {
        const found = partitions
          ? collection.find({ _id: { $in: partitions.map((partition) => checkpointId(name, partition)) } })
          : collection.find({ name });
        return new Map((await found.toArray()).map((stored) => [stored.partition, toCheckpoint(stored)]));
      }),
  };
}

/** The document as it was found, and no other: null also stands for a field that is not there. */
function asFound({ _id, generation, owner, revision }: StoredCheckpoint) {
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
