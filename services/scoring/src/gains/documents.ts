// The full lists of gains, each a document that is written once. The open list of an OU is in its statistics of the partition.
import {
  Binary,
  bytesOf,
  defineCollection,
  uuidBytes,
  writeUuid,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import { openEntries, openGains, type GainList, type OpenGains } from './gain-model.js';
import { packGains, unpackGains } from './packed-gains-model.js';

/** `_id` is gainListKey. */
export interface GainListDocument extends GuardedDocument {
  _id: Binary;
  entries: Binary;
}

export const gainLists = defineCollection<GainListDocument>({ name: 'gain_lists', indexes: [] });

const hourAt = uuidBytes;
const partitionAt = hourAt + 4;
const numberAt = partitionAt + 2;
const keyBytes = numberAt + 6;

/** The id of a full list: OU, hour, partition, number. */
export function gainListKey(
  ouId: string,
  { hour, partition, number }: { hour: number; partition: number; number: number },
): Binary {
  const bytes = Buffer.alloc(keyBytes);
  writeUuid(bytes, 0, ouId);
  bytes.writeUInt32BE(hour, hourAt);
  bytes.writeUInt16BE(partition, partitionAt);
  bytes.writeUIntBE(number, numberAt, 6);
  return new Binary(bytes, 0);
}

/** The ids of an OU's lists of these hours; `to` is not among them. */
export function gainListKeysWithin(ouId: string, from: number, to: number): { $gte: Binary; $lt: Binary } {
  const edge = (hour: number) => gainListKey(ouId, { hour, partition: 0, number: 0 });
  return { $gte: edge(from), $lt: edge(to) };
}

/** The hour behind all hours. */
export const endOfHours = 2 ** 32 - 1;

/** The partition and the number in a gainListKey. */
export function placeOfList(key: Binary): { partition: number; number: number } {
  const bytes = bytesOf(key);
  return { partition: bytes.readUInt16BE(partitionAt), number: bytes.readUIntBE(numberAt, 6) };
}

export function toGainListDocument(
  ouId: string,
  { number, hour, entries }: GainList,
  at: { partition: number; offset: number },
): GainListDocument {
  return {
    _id: gainListKey(ouId, { hour, partition: at.partition, number }),
    entries: new Binary(packGains(entries), 0),
    ...at,
  };
}

/** The open list of an OU in a partition, as fields of its statistics; absent before its first entry. */
export interface StoredOpenGains {
  gains?: Binary;
  gain_lists?: number;
  gain_hour?: number;
}

export function storedOpenGains(open: OpenGains): StoredOpenGains {
  if (open.size === 0 && open.lists === 0) return {};
  return {
    gains: new Binary(packGains(openEntries(open)), 0),
    ...(open.lists > 0 && { gain_lists: open.lists, gain_hour: open.hour }),
  };
}

export function openGainsOf({ gains, gain_lists: lists, gain_hour: hour }: StoredOpenGains): OpenGains {
  return openGains(gains ? unpackGains(bytesOf(gains)) : [], {
    ...(lists !== undefined && { lists }),
    ...(hour !== undefined && { hour }),
  });
}
