// The documents of deals.
import {
  deleteByIds,
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { JsonValue } from '@lead-scoring/contracts';
import { storedAsDocuments, type AggregateStorage } from '@lead-scoring/capability';
import type { Deal } from './state.js';

export interface DealDocument extends GuardedDocument {
  /** The deal's key. */
  _id: Binary;
  ou: Binary;
  /** The stage in lower case; empty where the deal has none. */
  stage: string;
  /** When it was closed, or got its stage where no event said so; absent for a deal with neither. */
  closed_at?: string;
  score: number;
  leads: Binary[];
  created_at: string;
  updated_at: string;
  /** JSON text of the deal. */
  content: string;
}

export const deals = defineCollection<DealDocument>({
  name: 'deals',
  indexes: [
    { key: { ou: 1, score: -1, _id: -1 } },
    { key: { leads: 1 } },
    { key: { ou: 1, stage: 1, closed_at: 1 } },
  ],
});

export function toDeal({ content }: Pick<DealDocument, 'content'>): Deal {
  return unpackJson(content) as unknown as Deal;
}

export function toDealDocument(deal: Deal, at: { partition: number; offset: number }): DealDocument {
  const closedAt = closingOf(deal);
  return {
    _id: uuidToBinary(deal.key),
    ou: uuidToBinary(deal.ou_id),
    stage: String(deal.fields.stage?.value ?? '').toLowerCase(),
    ...(closedAt !== undefined && { closed_at: closedAt }),
    score: deal.score,
    leads: deal.leads.map(uuidToBinary),
    created_at: deal.created_at,
    updated_at: deal.updated_at,
    content: packJson(deal as unknown as JsonValue),
    ...at,
  };
}

/** A deal without `closed_at` was closed when an event gave it the stage that it has. */
function closingOf({ fields: { closed_at, stage } }: Deal): string | undefined {
  return typeof closed_at?.value === 'string' ? closed_at.value : stage?.at;
}

const storage = storedAsDocuments<Deal | null, DealDocument>({
  collection: deals,
  idOf: uuidToBinary,
  toState: toDeal,
  toDocument: (deal, at) => deal && toDealDocument(deal, at),
});

/** One document for each deal; that of a removed deal is deleted. */
export const storedDeals: AggregateStorage<Deal | null, unknown> = {
  ...storage,
  open: (readModel, partition) => {
    const stored = storage.open(readModel, partition);
    return {
      load: (keys) => stored.load(keys),
      write: async (changed) => {
        await stored.write(changed);
        const gone = changed.filter(({ state }) => state === null);
        if (gone.length > 0)
          await deleteByIds(
            readModel.collection(deals),
            gone.map(({ key }) => uuidToBinary(key)),
          );
      },
    };
  },
};
