// How far each partition's stored state reflects the log. Written after the data, so never ahead of it.
import type { TopicName } from '@lead-scoring/contracts';
import { defineCollection } from './collection-declaration.js';
import type { ReadModel } from './connection.js';
import { isDuplicateKey, ReadModelError, withClassifiedErrors } from './errors.js';
import { numberToOffset, offsetToNumber } from './values.js';

export interface Checkpoint {
  /** Next offset of the own output topic that is not yet folded into the stored state. */
  offset: bigint;
  /** Next offset of each input topic that the stored state does not reflect yet. */
  positions: Partial<Record<TopicName, bigint>>;
}

export interface Checkpoints {
  /** The stored checkpoint; offset 0 and no positions when there is none. */
  load(name: string, partition: number): Promise<Checkpoint>;
  /**
   * Call it only when everything before the checkpoint is acknowledged by the database.
   * @throws ReadModelError `checkpoint_superseded` (retriable: open the partition again) when somebody has reset
   *   this partition since it was loaded: a store that went through then could be ahead of the data
   */
  store(name: string, partition: number, checkpoint: Checkpoint): Promise<void>;
  /** Back to offset 0, before the partition's documents are deleted. */
  reset(name: string, partition: number): Promise<void>;
  /** All partitions' checkpoints, or those asked for. */
  loadAll(name: string, partitions?: readonly number[]): Promise<Map<number, Checkpoint>>;
}

interface StoredCheckpoint {
  _id: string;
  name: string;
  partition: number;
  /** Grows with every reset. */
  generation: number;
  offset: number;
  // A list, because topic names have dots.
  positions: { topic: TopicName; offset: number }[];
  stored_at: Date;
}

const declaration = defineCollection<StoredCheckpoint>({ name: 'checkpoints', indexes: [] });

/** One per partition state: it remembers which generation it loaded, and stores into no other. */
export function createCheckpoints(readModel: Pick<ReadModel, 'collection'>): Checkpoints {
  const collection = readModel.collection(declaration);
  const generations = new Map<string, number>();
  const load = async (id: string): Promise<StoredCheckpoint | null> => {
    const found = await collection.findOne({ _id: id });
    generations.set(id, found?.generation ?? 0);
    return found;
  };
  const store = async (name: string, partition: number, checkpoint: Checkpoint, from: number, to: number) => {
    const id = checkpointId(name, partition);
    const document: Omit<StoredCheckpoint, '_id'> = {
      name,
      partition,
      generation: to,
      offset: offsetToNumber(checkpoint.offset),
      positions: Object.entries(checkpoint.positions).map(([topic, offset]) => ({
        topic: topic as TopicName,
        offset: offsetToNumber(offset),
      })),
      stored_at: new Date(),
    };
    try {
      await collection.replaceOne({ _id: id, generation: from }, document, { upsert: true });
    } catch (error) {
      // The id is there with another generation, so the upsert tried to insert it again.
      if (!isDuplicateKey(error)) throw error;
      const found = await collection.findOne({ _id: id });
      if (found?.generation !== from)
        throw new ReadModelError(
          'checkpoint_superseded',
          `partition ${String(partition)} of ${name} was reset by another process; open it again`,
          true,
          { cause: error },
        );
      // Two first stores at once: the other one inserted; ours replaces.
      await collection.replaceOne({ _id: id, generation: from }, document);
    }
    generations.set(id, to);
  };
  const generationOf = async (id: string): Promise<number> =>
    generations.get(id) ?? (await load(id))?.generation ?? 0;
  return {
    load: (name, partition) =>
      withClassifiedErrors(async () => toCheckpoint(await load(checkpointId(name, partition)))),
    store: (name, partition, checkpoint) =>
      withClassifiedErrors(async () => {
        const generation = await generationOf(checkpointId(name, partition));
        await store(name, partition, checkpoint, generation, generation);
      }),
    reset: (name, partition) =>
      withClassifiedErrors(async () => {
        const current = (await load(checkpointId(name, partition)))?.generation ?? 0;
        await store(name, partition, { offset: 0n, positions: {} }, current, current + 1);
      }),
    loadAll: (name, partitions) =>
      withClassifiedErrors(async () => {
        const found = partitions
          ? collection.find({ _id: { $in: partitions.map((partition) => checkpointId(name, partition)) } })
          : collection.find({ name });
        return new Map((await found.toArray()).map((stored) => [stored.partition, toCheckpoint(stored)]));
      }),
  };
}

function checkpointId(name: string, partition: number): string {
  return `${name}:${String(partition)}`;
}

function toCheckpoint(stored: StoredCheckpoint | null): Checkpoint {
  if (!stored) return { offset: 0n, positions: {} };
  return {
    offset: numberToOffset(stored.offset),
    positions: Object.fromEntries(
      stored.positions.map(({ topic, offset }) => [topic, numberToOffset(offset)]),
    ),
  };
}

export interface PositionReached {
  partition: number;
  /** The next offset that must have been reached: to wait for the record at n, n + 1. */
  offset: bigint;
}

export interface PositionWatch {
  /**
   * Waits until the stored state reflects the input topic up to the given positions.
   * @returns the checkpoints of those partitions once all are reached; null when the time is over or the signal
   *   aborted first
   */
  wait(
    topic: TopicName,
    wanted: readonly PositionReached[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Map<number, Checkpoint> | null>;
}

type Found = Map<number, Checkpoint>;

const shortestPauseMs = 10;
const longestPauseMs = 100;
/** Who has waited for a second can wait for another twentieth of it: looking often is what a busy database needs least. */
const pauseAfterWaiting = 1 / 20;

/** One look at the checkpoints serves everybody who waits: a thousand waiting readers cost the database what one does. */
export function createPositionWatch(checkpoints: Pick<Checkpoints, 'loadAll'>, name: string): PositionWatch {
  let next: { at: number; timer: NodeJS.Timeout; begin: () => void; found: Promise<Found> } | undefined;

  /** The checkpoints as of a look that begins after this call, at the latest after the pause. */
  function look(pauseMs: number): Promise<Found> {
    const at = performance.now() + pauseMs;
    if (!next) {
      let begin: () => void = () => undefined;
      const found = new Promise<void>((resolve) => {
        begin = resolve;
      }).then(() => {
        next = undefined;
        return checkpoints.loadAll(name);
      });
      next = { at, timer: setTimeout(begin, pauseMs), begin, found };
    } else if (at < next.at) {
      clearTimeout(next.timer);
      next.at = at;
      next.timer = setTimeout(next.begin, pauseMs);
    }
    return next.found;
  }

  return {
    async wait(topic, wanted, timeoutMs, signal) {
      if (wanted.length === 0) return new Map();
      const began = performance.now();
      const deadline = began + timeoutMs;
      const pauseMs = () =>
        Math.min(longestPauseMs, Math.max(shortestPauseMs, (performance.now() - began) * pauseAfterWaiting));
      for (let all = await checkpoints.loadAll(name); ; all = await look(pauseMs())) {
        if (wanted.every(({ partition, offset }) => (all.get(partition)?.positions[topic] ?? 0n) >= offset))
          return new Map([...all].filter(([partition]) => wanted.some((one) => one.partition === partition)));
        if (performance.now() >= deadline || signal?.aborted) return null;
      }
    },
  };
}
