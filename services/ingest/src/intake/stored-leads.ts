// Looks up the stored data of a batch's leads: events that come again, and leads that may be deleted.
import {
  binaryToUuid,
  findByIds,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { records } from '@lead-scoring/contracts';
import pLimit from 'p-limit';
import { claimIdsOf, claims } from '../aliases/documents.js';
import type { DeletedTypes } from '../event-deletions/deleted-types-model.js';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { deletions, eventRecords, knownEvents, payloadOf } from '../events/documents.js';
import { knownEventId, readRecordOffset, recordIdsFrom, recordIdsOf } from '../events/keys.js';
import { readBodies } from '../repeats/bodies.js';
import { addForeign } from './deletions-model.js';
import {
  historyKey,
  type HistoryPage,
  type HistoryPages,
  type HistoryPlace,
  type LookedUpAliases,
  type StoredLead,
  type StoredRepeats,
} from './state.js';

/** The most records of a lead that are sent to another in one step. */
const recordsOfPage = 200;
/** The bytes after which a page ends, and after which a batch reads no further one. */
const bytesOfPage = 1024 * 1024;
const bytesOfBatch = 4 * bytesOfPage;
/** Leads that a process looks up at the same time. */
const lookUp = pLimit(16);

export class StoredLeads {
  readonly #records;
  readonly #known;
  readonly #deletions;
  readonly #claims;

  constructor(private readonly readModel: ReadModel) {
    this.#records = readModel.collection(eventRecords);
    this.#known = readModel.collection(knownEvents);
    this.#deletions = readModel.collection(deletions);
    this.#claims = readModel.collection(claims);
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
    { claims: claimed }: Pick<LookedUpAliases, 'claims'>,
  ): Promise<Map<string, StoredLead>> {
    const stored = new Map<string, StoredLead>();
    if (leadIds.length === 0) return stored;
    await withClassifiedErrors(async () => {
      const found = await findByIds(this.#deletions, leadIds.map(uuidToBinary));
      const deletionIds = new Map(found.map(({ _id, deletion_id }) => [binaryToUuid(_id), deletion_id]));
      for (const leadId of leadIds)
        stored.set(leadId, {
          ou_id: (await this.#ouOf(leadId)) ?? (claimed.has(leadId) ? await this.#ouOfClaims(leadId) : null),
          deletion_id: deletionIds.get(leadId) ?? null,
          // No alias was ever redirected to a lead without claims.
          foreign: claimed.has(leadId) ? await this.#foreignIdsOf(leadId) : new Map(),
        });
    });
    return stored;
  }

  /** The next records of leads that join others, as far as they are not too much for a batch. */
  async historiesOf(places: readonly HistoryPlace[]): Promise<HistoryPages> {
    const pages = new Map<string, HistoryPage>();
    let bytes = 0;
    const read = new Map<string, Promise<DeletedTypes>>();
    const deletedTypesOf = (ouId: string) => {
      const deleted = read.get(ouId) ?? readDeletedTypes(this.readModel, ouId);
      read.set(ouId, deleted);
      return deleted;
    };
    await lookUp.map(places, async (place) => {
      if (bytes >= bytesOfBatch) return;
      const { page, size } = await this.#pageOf(place, await deletedTypesOf(place.ou_id));
      pages.set(historyKey(place), page);
      bytes += size;
    });
    return pages;
  }

  /** Those of these leads that have events, in whatever partition. */
  async withEvents(leadIds: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    await lookUp.map(leadIds, async (leadId) => {
      if ((await withClassifiedErrors(() => this.#ouOf(leadId))) !== null) found.add(leadId);
    });
    return found;
  }

  async #pageOf(
    { alias_lead_id, from }: HistoryPlace,
    deleted: DeletedTypes,
  ): Promise<{ page: HistoryPage; size: number }> {
    const found: records.EventsIngested[] = [];
    let size = 0;
    let count = 0;
    let next: number | null = null;
    await withClassifiedErrors(async () => {
      const stored = this.#records
        .find({ _id: recordIdsFrom(alias_lead_id, from) }, { limit: recordsOfPage + 1 })
        .sort({ _id: 1 });
      for await (const document of stored) {
        const offset = readRecordOffset(document._id);
        if (count === recordsOfPage || size >= bytesOfPage) {
          next = offset;
          break;
        }
        count += 1;
        size += document.json.length();
        const payload = payloadOf(document);
        const events = deleted.visibleIn(payload, { partition: document.partition, offset });
        if (events.length > 0) found.push({ ...payload, events: events.map(({ event }) => event) });
      }
    });
    return { page: { records: found, exists: from > 0 || count > 0, next }, size };
  }

  async #ouOf(leadId: string): Promise<string | null> {
    const first = await this.#records.findOne(
      { _id: recordIdsOf(leadId) },
      { projection: { _id: 0, ou: 1 } },
    );
    return first && binaryToUuid(first.ou);
  }

  async #ouOfClaims(leadId: string): Promise<string | null> {
    const first = await this.#claims.findOne({ _id: claimIdsOf(leadId) }, { projection: { _id: 0, ou: 1 } });
    return first && binaryToUuid(first.ou);
  }

  async #foreignIdsOf(leadId: string): Promise<Map<string, string[]>> {
    const foreign = new Map<string, string[]>();
    for await (const document of this.#records.find({ _id: recordIdsOf(leadId) }))
      addForeign(foreign, payloadOf(document));
    return foreign;
  }
}
