// The document of an account's state. Firings and suppressions are in the collections of `firing/`, so that one list has all.
import type { JsonValue } from '@lead-scoring/contracts';
import {
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { TriggerMemory } from '../firing/state.js';
import type { AccountState } from './state.js';

export interface AccountStateDocument extends GuardedDocument {
  /** The account's id. */
  _id: Binary;
  ou: Binary;
  /** JSON text of `Content`. */
  content: string;
}

interface Content {
  ou_id: string;
  account_id: string;
  seen: number;
  memories: [trigger: string, memory: TriggerMemory][];
}

export const accountStates = defineCollection<AccountStateDocument>({ name: 'account_states', indexes: [] });

export const accountFiringCollections = [accountStates];

export function toAccountStateDocument(
  { ou_id, account_id, seen, memories }: AccountState,
  at: { partition: number; offset: number },
): AccountStateDocument {
  const content: Content = { ou_id, account_id, seen, memories: [...memories] };
  return {
    _id: uuidToBinary(account_id),
    ou: uuidToBinary(ou_id),
    content: packJson(content as unknown as JsonValue),
    ...at,
  };
}

export function toAccountState({ content }: Pick<AccountStateDocument, 'content'>): AccountState {
  const { memories, ...state } = unpackJson(content) as unknown as Content;
  return { ...state, memories: new Map(memories) };
}
