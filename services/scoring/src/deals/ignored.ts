// Deals in event metadata that were ignored: for each OU and partition the latest, so that a sender finds out why a deal is missing.
import { documentProjection } from '@lead-scoring/capability';
import { dealLimits, nameBasedId, records, type JsonValue } from '@lead-scoring/contracts';
import {
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';

export type Ignored = records.DealsIgnored['deals'][number] & { lead_id: string; at: string };

export interface IgnoredDealsDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  /** JSON text, the newest last. */
  ignored: string;
}

export const ignoredDeals = defineCollection<IgnoredDealsDocument>({
  name: 'ignored_deals',
  indexes: [{ key: { ou: 1 } }],
});

type IgnoredEvent =
  | { type: 'DealsIgnored'; payload: records.DealsIgnored }
  | { type: 'LeadRemoved'; payload: records.LeadRemoved };

/** Pure. What a lead said goes with the lead. */
export function withIgnored(known: readonly Ignored[], { type, payload }: IgnoredEvent): readonly Ignored[] {
  switch (type) {
    case 'DealsIgnored': {
      const { lead_id, decided_at: at } = payload;
      return [...known, ...payload.deals.map((one) => ({ ...one, lead_id, at }))].slice(-dealLimits.ignored);
    }
    case 'LeadRemoved':
      return known.filter(({ lead_id }) => lead_id !== payload.lead_id);
  }
}

export function toIgnored({ ignored }: Pick<IgnoredDealsDocument, 'ignored'>): readonly Ignored[] {
  return unpackJson(ignored) as unknown as readonly Ignored[];
}

const idOf = (ouId: string, partition: number) =>
  uuidToBinary(nameBasedId(ouId, `ignored deals:${String(partition)}`));

export const ignoredDealsProjection = documentProjection<IgnoredEvent, IgnoredDealsDocument>({
  name: 'ignored-deals',
  events: { DealsIgnored: records.dealsIgnored, LeadRemoved: records.leadRemoved },
  collection: ignoredDeals,
  idOf: ({ payload }, partition) => idOf(payload.ou_id, partition),
  fold: (document, event, at) => {
    if (!document && event.type === 'LeadRemoved') return null;
    const { ou_id } = event.payload;
    const ignored = withIgnored(document ? toIgnored(document) : [], event);
    return {
      _id: idOf(ou_id, at.partition),
      ou: uuidToBinary(ou_id),
      ignored: packJson(ignored as unknown as JsonValue),
      ...at,
    };
  },
});
