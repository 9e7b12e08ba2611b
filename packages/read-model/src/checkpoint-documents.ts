// What MongoDB stores of a partition's checkpoint.
import type { TopicName } from '@lead-scoring/contracts';
import { checkpointsName } from './checkpoint-verifier.js';
import { defineCollection } from './collection-declaration.js';

export interface StoredPlace {
  offset: number;
  // An array, because topic names contain dots.
  positions: { topic: TopicName; offset: number }[];
}

export interface StoredCheckpoint extends StoredPlace {
  _id: string;
  /** The reader, followed by the edition where it is not the first. */
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
  isLasting: true,
});

export const beginning: StoredPlace = { offset: 0, positions: [] };

export function checkpointId(name: string, partition: number): string {
  return `${name}:${String(partition)}`;
}
