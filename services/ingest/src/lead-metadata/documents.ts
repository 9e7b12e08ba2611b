// The stored form of what is set for leads.
import type { JsonObject, JoinedMetadata } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  findByIds,
  readJson,
  storedJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { KnownMetadata } from '../intake/state.js';

/** `_id` is the lead's id. A lead for which nothing was ever set has none. */
export interface LeadMetadataDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  /** What is set as JSON: storedJson. It has any keys, which the database would not all take as names of fields. */
  json: Binary;
  patches: string[];
  patched_at: string;
}

export const leadMetadata = defineCollection<LeadMetadataDocument>({ name: 'lead_metadata', indexes: [] });

export function leadMetadataDocument(
  { ou_id, lead_id }: { readonly ou_id: string; readonly lead_id: string },
  { own, joined, patches, patched_at }: KnownMetadata,
  at: { partition: number; offset: number },
): LeadMetadataDocument {
  return {
    _id: uuidToBinary(lead_id),
    ou: uuidToBinary(ou_id),
    json: storedJson(Buffer.from(JSON.stringify({ own, joined }))),
    patches: [...patches],
    patched_at,
    ...at,
  };
}

export function toKnownMetadata({ json, patches, patched_at }: LeadMetadataDocument): KnownMetadata {
  const { own, joined } = readJson(json) as unknown as { own: JsonObject; joined: JoinedMetadata[] };
  return { own, joined, patches, patched_at };
}

/** What is set for these leads, by lead. */
export async function readLeadMetadata(
  readModel: Pick<ReadModel, 'collection'>,
  leadIds: readonly string[],
): Promise<Map<string, KnownMetadata>> {
  if (leadIds.length === 0) return new Map();
  const found = await findByIds(readModel.collection(leadMetadata), leadIds.map(uuidToBinary));
  return new Map(found.map((document) => [binaryToUuid(document._id), toKnownMetadata(document)]));
}
