// The checkpoints that one partition state owns. A takeover ends the previous owner's stores; every store is a
// compare-and-set on the owner and its last revision.
import { randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import {
  beginning,
  checkpointCollection,
  checkpointId,
  type StoredCheckpoint,
  type StoredPlace,
} from './checkpoint-documents.js';
import { checkpointsName, superseded } from './checkpoint-verifier.js';
import { coalescedCall } from './coalesced-calls.js';
import type { ReadModel } from './connection.js';
import { isDuplicateKey } from './errors.js';
import { serverStart } from './server-start.js';
import { inLockingOrder } from './values.js';

export type CheckpointReadModel = Pick<
  ReadModel,
  'collection' | 'checkpointName' | 'db' | 'engine' | 'lease' | 'checkpointVerifier' | 'ownCheckpoints'
>;

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

/** Two concurrent takeovers conflict once; the bound guards against a loop. */
const maximumConflicts = 10;

export class CheckpointOwner {
  readonly #collection: Collection<StoredCheckpoint>;
  readonly #owner = randomUUID();
  readonly #owned = new Map<string, CheckpointOwnership>();

  constructor(private readonly readModel: CheckpointReadModel) {
    this.#collection = readModel.collection(checkpointCollection);
  }

  async takeOver(name: string, partition: number): Promise<CheckpointOwnership> {
    const id = checkpointId(name, partition);
    for (let attempt = 1; attempt <= maximumConflicts; attempt += 1) {
      const found = await this.#collection.findOne({ _id: id });
      // Read in this order, so that a crash between the two reads is noticed.
      const start = await serverStart(this.readModel, checkpointsName);
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
      const document = { ...this.#documentOf(held), name, partition };
      if (found) {
        const { matchedCount } = await this.#collection.replaceOne(filterFor(found), document);
        if (matchedCount === 0) continue;
      } else if (
        !(await this.#collection.insertOne({ _id: id, ...document }).then(() => true, unlessDuplicate))
      )
        continue;
      this.#owned.set(id, held);
      this.#watch(id, held);
      return held;
    }
    throw superseded(id);
  }

  #watch(id: string, held: CheckpointOwnership): void {
    const { lease } = this.readModel;
    if (!lease) return;
    this.readModel.checkpointVerifier.watch({
      id,
      owner: this.#owner,
      lease,
      serverStart: held.serverStart,
      revision: () => held.revision,
      isStoring: () => held.isStoring || this.#owned.get(id) !== held,
      confirm: () => {
        held.confirmed = held.stored;
      },
    });
  }

  async store(name: string, partition: number, place: StoredPlace, generations = 0): Promise<void> {
    const id = checkpointId(name, partition);
    const held = this.#owned.get(id) ?? (await this.takeOver(name, partition));
    const next: CheckpointOwnership = {
      ...held,
      generation: held.generation + generations,
      revision: held.revision + 1,
      stored: place,
      // A reset deletes what was confirmed before.
      confirmed: generations > 0 ? place : held.confirmed,
    };
    held.isStoring = true;
    const isStored = await storeCoalesced(this.#collection, [
      {
        _id: id,
        owner: this.#owner,
        revision: held.revision,
        replacement: { ...this.#documentOf(next), name, partition },
      },
    ]);
    if (!isStored) {
      const error = superseded(id);
      this.readModel.lease?.end(error);
      throw error;
    }
    Object.assign(held, next, { isStoring: false });
    const { lease, ownCheckpoints } = this.readModel;
    if (lease) ownCheckpoints.stored(id, { place, lease });
  }

  #documentOf(held: CheckpointOwnership): Omit<StoredCheckpoint, '_id' | 'name' | 'partition'> {
    return {
      generation: held.generation,
      owner: this.#owner,
      revision: held.revision,
      server_start: held.serverStart,
      ...held.stored,
      confirmed: held.confirmed,
      stored_at: new Date(),
    };
  }
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
