// Looks up the stored data of a batch's leads: events that come again, and leads that may be deleted.
import {
  binaryToUuid,
  findByIds,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { deletions, eventRecords, knownEvents, payloadOf } from '../events/documents.js';
import { knownEventId, recordIdsOf } from '../events/keys.js';
import { readBodies } from '../repeats/bodies.js';
import { addForeign } from './deletions-model.js';
import type { StoredLead, LookedUpAliases, StoredRepeats } from './state.js';

export class StoredLeads {
  readonly #records;
  readonly #known;
  readonly #deletions;

  constructor(private readonly readModel: ReadModel) {
    this.#records = readModel.collection(eventRecords);
    this.#known = readModel.collection(knownEvents);
    this.#deletions = readModel.collection(deletions);
  }

  async repeatsAmong(candidates: readonly { lead_id: string; id: string }[]): Promise<StoredRepeats> {
    const found = await findByIds(
      this.#known,
      candidates.map(({ lead_id, id }) => knownEventId(lead_id, id)),
    );
    // An event that comes for the first time is not found, and causes no further read.
    return found.length === 0 ? new Map() : readBodies(this.readModel, found);
  }

  async storedLeadsOf(
    leadIds: readonly string[],
    { claims }: Pick<LookedUpAliases, 'claims'>,
  ): Promise<Map<string, StoredLead>> {
    const stored = new Map<string, StoredLead>();
    if (leadIds.length === 0) return stored;
    await withClassifiedErrors(async () => {
      const found = await findByIds(this.#deletions, leadIds.map(uuidToBinary));
      const deletionIds = new Map(found.map(({ _id, deletion_id }) => [binaryToUuid(_id), deletion_id]));
      for (const leadId of leadIds)
        stored.set(leadId, {
          ou_id: await this.#ouOf(leadId),
          deletion_id: deletionIds.get(leadId) ?? null,
          // No alias was ever redirected to a lead without claims.
          foreign: claims.has(leadId) ? await this.#foreignIdsOf(leadId) : new Map(),
        });
    });
    return stored;
  }

  async #ouOf(leadId: string): Promise<string | null> {
    const first = await this.#records.findOne(
      { _id: recordIdsOf(leadId) },
      { projection: { _id: 0, ou: 1 } },
    );
    return first && binaryToUuid(first.ou);
  }

  async #foreignIdsOf(leadId: string): Promise<Map<string, string[]>> {
    const foreign = new Map<string, string[]>();
    for await (const document of this.#records.find({ _id: recordIdsOf(leadId) }))
      addForeign(foreign, payloadOf(document));
    return foreign;
  }
}
