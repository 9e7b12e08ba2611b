// The documents of accounts' states. Firings and suppressions are in the collections of `firing/`, so that one list has all.
import { nameBasedId, type JsonValue } from '@lead-scoring/contracts';
import { defineCollection, packJson, unpackJson, uuidToBinary, type Binary } from '@lead-scoring/read-model';
import type { TriggerMemory } from '@lead-scoring/scoring-domain/triggers';
import type { StateDocument } from '../firing/documents.js';
import type { SubjectIds } from '../firing/subject-model.js';
import type { AccountState } from './state.js';

export const accountStates = defineCollection<StateDocument>({ name: 'account_states', indexes: [] });

export const accountFiringCollections = [accountStates];

interface Content {
  seen: number;
  /** Absent where the account is forgotten. */
  memories?: [trigger: string, memory: TriggerMemory][];
}

/** A hash of both ids: the document of a forgotten account stays, and must name neither the account nor its OU. */
export function accountStateKey({ ou_id, id }: SubjectIds): Binary {
  return uuidToBinary(nameBasedId(ou_id, id));
}

/** An account's state as text, without its ids. That of a forgotten account has the position of its end, and no more. */
export function packAccountState({ seen, memories }: AccountState): string {
  const content: Content = { seen, ...(memories.size > 0 && { memories: [...memories] }) };
  return packJson(content as unknown as JsonValue);
}

export function unpackAccountState(text: string, { ou_id, id }: SubjectIds): AccountState {
  const { seen, memories } = unpackJson(text) as unknown as Content;
  return { ou_id, account_id: id, seen, memories: new Map(memories) };
}
