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
  score: number;
  leads: Binary[];
  created_at: string;
  updated_at: string;
  /** JSON text of the deal. */
  content: string;
}

export const deals = defineCollection<DealDocument>({
  name: 'deals',
  indexes: [{ key: { ou: 1, score: -1, _id: -1 } }, { key: { leads: 1 } }],
});

export function toDeal({ content }: Pick<DealDocument, 'content'>): Deal {
  return unpackJson(content) as unknown as Deal;
}

export function toDealDocument(deal: Deal, at: { partition: number; offset: number }): DealDocument {
  return {
    _id: uuidToBinary(deal.key),
    ou: uuidToBinary(deal.ou_id),
    stage: String(deal.fields.stage?.value ?? '').toLowerCase(),
    score: deal.score,
    leads: deal.leads.map(uuidToBinary),
    created_at: deal.created_at,
    updated_at: deal.updated_at,
    content: packJson(deal as unknown as JsonValue),
    ...at,
  };
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
