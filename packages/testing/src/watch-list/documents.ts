// What the watch list stores: one document for each lead that was ever watched, and one count for each OU and partition.
import { Binary, defineCollection, uuidToBinary, type GuardedDocument } from '@lead-scoring/read-model';
import type { Watch } from './decide.js';

export interface WatchDocument extends GuardedDocument {
  /** The lead. */
  _id: Binary;
  /** null: no longer watched. */
  since: string | null;
}

export interface WatchCountDocument extends GuardedDocument {
  /** The OU and the partition. */
  _id: Binary;
  ou: Binary;
  watched: number;
}

export const watches = defineCollection<WatchDocument>({ name: 'watches', indexes: [] });
export const watchCounts = defineCollection<WatchCountDocument>({
  name: 'watch_counts',
  indexes: [{ key: { ou: 1 } }],
});

export const toWatch = ({ since }: WatchDocument): Watch => (since === null ? null : { since });

export function countId(ouId: string, partition: number): Binary {
  return new Binary(Buffer.concat([uuidToBinary(ouId).buffer, Buffer.of(partition >> 8, partition & 255)]));
}
