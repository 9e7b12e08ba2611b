// The stored settings of event types: one document for each OU.
import type { JsonValue } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { EventTypeSettings } from './settings-model.js';

/** `_id` is the OU. */
export interface SettingsDocument extends GuardedDocument {
  _id: Binary;
  /** JSON text: pairs of a key and a spelling, because names may contain any character. */
  hidden: string;
}

export const eventTypeSettings = defineCollection<SettingsDocument>({
  name: 'event_type_settings',
  indexes: [],
});

export function toSettingsDocument(
  { ou_id, hidden }: EventTypeSettings,
  at: { partition: number; offset: number },
): SettingsDocument {
  return { _id: uuidToBinary(ou_id), hidden: packJson([...hidden] as JsonValue), ...at };
}

export function toSettings({ _id, hidden }: SettingsDocument): EventTypeSettings {
  return { ou_id: binaryToUuid(_id), hidden: new Map(unpackJson(hidden) as [string, string][]) };
}

/** The types that an OU hides: their spellings by their keys. */
export async function readHidden(readModel: ReadModel, ouId: string): Promise<EventTypeSettings['hidden']> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(eventTypeSettings).findOne({ _id: uuidToBinary(ouId) }),
  );
  return found ? toSettings(found).hidden : new Map();
}
