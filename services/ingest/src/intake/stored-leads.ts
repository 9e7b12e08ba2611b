// Looks up what is stored of a batch's leads: events that come again, and leads that may be deleted.
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
import type { HeldLead, LookedUpAliases, StoredRepeats } from './state.js';

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
    // Of an event that comes for the first time nothing is found, and nothing more is read.
    return found.length === 0 ? new Map() : readBodies(this.readModel, found);
  }

  async heldOf(
    leadIds: readonly string[],
    { claims }: Pick<LookedUpAliases, 'claims'>,
  ): Promise<Map<string, HeldLead>> {
    const held = new Map<string, HeldLead>();
    if (leadIds.length === 0) return held;
    await withClassifiedErrors(async () => {
      const found = await findByIds(this.#deletions, leadIds.map(uuidToBinary));
      const deletionIds = new Map(found.map(({ _id, deletion_id }) => [binaryToUuid(_id), deletion_id]));
      for (const leadId of leadIds)
        held.set(leadId, {
          ou_id: await this.#ouOf(leadId),
          deletion_id: deletionIds.get(leadId) ?? null,
          // Without a claim, nothing was ever redirected here.
          foreign: claims.has(leadId) ? await this.#foreignOf(leadId) : new Map(),
        });
    });
    return held;
  }

  async #ouOf(leadId: string): Promise<string | null> {
    const first = await this.#records.findOne(
      { _id: recordIdsOf(leadId) },
      { projection: { _id: 0, ou: 1 } },
    );
    return first && binaryToUuid(first.ou);
  }

  async #foreignOf(leadId: string): Promise<Map<string, string[]>> {
    const foreign = new Map<string, string[]>();
    for await (const document of this.#records.find({ _id: recordIdsOf(leadId) }))
      addForeign(foreign, payloadOf(document));
    return foreign;
  }
}
