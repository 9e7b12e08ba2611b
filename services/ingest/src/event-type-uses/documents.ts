// The stored uses of event types: one document for each rule or trigger that names one.
import { nameBasedId, type JsonValue } from '@lead-scoring/contracts';
import {
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { EventTypeUse } from './use-model.js';

export interface UseDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  /** JSON text, because names may contain any character. */
  use: string;
}

export const eventTypeUses = defineCollection<UseDocument>({
  name: 'event_type_uses',
  indexes: [{ key: { ou: 1 } }],
});

/** A rule and a trigger may have one id. */
export function useId(ouId: string, by: 'rule' | 'trigger', id: string): string {
  return nameBasedId(ouId, `use-of-event-types:${by}:${id}`);
}

export function toUse({ use }: Pick<UseDocument, 'use'>): EventTypeUse {
  return unpackJson(use) as unknown as EventTypeUse;
}

export const packedUse = (use: EventTypeUse): string => packJson(use as unknown as JsonValue);

/** The users of an OU's event types, by the keys of the types; by their ids, rules first. */
export async function readUses(
  readModel: ReadModel,
  ouId: string,
): Promise<ReadonlyMap<string, EventTypeUse['user'][]>> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(eventTypeUses)
      .find({ ou: uuidToBinary(ouId) })
      .toArray(),
  );
  const uses = new Map<string, EventTypeUse['user'][]>();
  for (const { user, types } of found.map(toUse))
    for (const key of types) {
      const users = uses.get(key);
      if (users) users.push(user);
      else uses.set(key, [user]);
    }
  for (const users of uses.values()) users.sort((left, right) => (left.id < right.id ? -1 : 1));
  return uses;
}
