// The documents of an OU's configuration events, from which the configuration at a past time is folded.
import type { JsonValue } from '@lead-scoring/contracts';
import {
  defineCollection,
  packJson,
  unpackJson,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  type ConfigurationEvent,
  emptyConfiguration,
  evolveConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { recordKey, recordKeysUpTo } from '../keys.js';

export interface ConfigurationChangeDocument {
  /** recordKey of OU and offset. */
  _id: Binary;
  event: string;
  partition: number;
}

export const configurationChanges = defineCollection<ConfigurationChangeDocument>({
  name: 'configuration_changes',
  indexes: [],
});

export function toChangeDocument(
  event: ConfigurationEvent,
  { partition, offset }: { partition: number; offset: number },
): ConfigurationChangeDocument {
  return {
    _id: recordKey(event.payload.ou_id, offset),
    event: packJson(event as unknown as JsonValue),
    partition,
  };
}

/** The configuration at a time (ISO 8601), folded from the changes up to it. */
export async function configurationAt(
  readModel: ReadModel,
  ouId: string,
  at: string,
): Promise<ScoringConfiguration> {
  const changes = await changesOf(readModel, ouId);
  return changes
    .filter(({ payload }) => payload.at <= at)
    .reduce(evolveConfiguration, emptyConfiguration(ouId));
}

/** An earlier version of the configuration: every change makes one. */
export async function configurationOfVersion(
  readModel: ReadModel,
  ouId: string,
  version: number,
): Promise<ScoringConfiguration> {
  const changes = await changesOf(readModel, ouId);
  return changes.slice(0, version).reduce(evolveConfiguration, emptyConfiguration(ouId));
}

/** Calls `visit` with some versions of the configuration, in their order: the changes are folded once. */
export async function configurationsOfVersions(
  readModel: ReadModel,
  ouId: string,
  versions: ReadonlySet<number>,
  visit: (configuration: ScoringConfiguration) => void,
): Promise<void> {
  let configuration = emptyConfiguration(ouId);
  for (const change of await changesOf(readModel, ouId)) {
    configuration = evolveConfiguration(configuration, change);
    if (versions.has(configuration.version)) visit(configuration);
  }
}

/** A page of the changes, newest first, each with the version that it made. */
export async function changesPage(
  readModel: ReadModel,
  ouId: string,
  { page, limit }: { page: number; limit: number },
): Promise<{ total: number; changes: { version: number; event: ConfigurationEvent }[] }> {
  const stored = readModel.collection(configurationChanges);
  const all = recordKeysUpTo(ouId, Number.MAX_SAFE_INTEGER);
  const [newest] = await withClassifiedErrors(() =>
    stored.find({ _id: all }).sort({ _id: -1 }).limit(1).toArray(),
  );
  if (!newest) return { total: 0, changes: [] };
  // Both reads end at the same change: one that comes meanwhile would shift the numbers.
  const upToNewest = { _id: { ...all, $lte: newest._id } };
  const before = (page - 1) * limit;
  const [total, found] = await withClassifiedErrors(() =>
    Promise.all([
      stored.countDocuments(upToNewest),
      stored.find(upToNewest).sort({ _id: -1 }).skip(before).limit(limit).toArray(),
    ]),
  );
  const changes = found.map(({ event }, index) => ({
    version: total - before - index,
    event: eventIn(event),
  }));
  return { total, changes };
}

async function changesOf(readModel: ReadModel, ouId: string): Promise<ConfigurationEvent[]> {
  const changes = await withClassifiedErrors(() =>
    readModel
      .collection(configurationChanges)
      .find({ _id: recordKeysUpTo(ouId, Number.MAX_SAFE_INTEGER) })
      .sort({ _id: 1 })
      .toArray(),
  );
  return changes.map(({ event }) => eventIn(event));
}

function eventIn(packed: ConfigurationChangeDocument['event']): ConfigurationEvent {
  return unpackJson(packed) as unknown as ConfigurationEvent;
}
