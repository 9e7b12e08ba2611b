// Looks up the stored data of a batch's leads: events that come again, and leads that may be deleted.
import {
  binaryToUuid,
  findByIds,
  oneWithinEach,
  readUuid,
  uuidToBinary,
  withClassifiedErrors,
  type Collection,
  type ReadModel,
} from '@lead-scoring/read-model';
import { leadIdOf, noMetadata, type records, type SetMetadata } from '@lead-scoring/contracts';
import pLimit from 'p-limit';
import { claimIdsOf, claims, readClaimId } from '../aliases/documents.js';
import type { DeletedTypes } from '../event-deletions/deleted-types-model.js';
import { readDeletedTypes } from '../event-deletions/documents.js';
import {
  deletions,
  eventRecords,
  knownEvents,
  payloadOf,
  type EventRecordDocument,
} from '../events/documents.js';
import {
  knownEventId,
  leadBytesOf,
  readKnownEventId,
  readRecordOffset,
  recordIdsFrom,
  recordIdsOf,
} from '../events/keys.js';
import { leadsWithEvents, redirectsFrom, wayOf } from '../events/leads-of-alias.js';
import type { ReadHistories, StoredEvents } from '../events/read-histories.js';
import { storedIn } from '../events/record-store.js';
import { readLeadMetadata } from '../lead-metadata/documents.js';
import { dividedRecords, leadEnds } from '../merges/documents.js';
import { readBodies } from '../repeats/bodies.js';
import { addForeign } from './deletions-model.js';
import {
  dividedKey,
  eventKey,
  historyKey,
  type DividedPage,
  type DividedPages,
  type HistoryPage,
  type HistoryPages,
  type HistoryPlace,
  type KnownMetadata,
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
  readonly #ends;
  readonly #divided;

  /** @param histories keeps the records of leads that join others, as they are stored */
  constructor(
    private readonly readModel: ReadModel,
    private readonly histories: ReadHistories,
  ) {
    this.#records = readModel.collection(eventRecords);
    this.#known = readModel.collection(knownEvents);
    this.#deletions = readModel.collection(deletions);
    this.#claims = readModel.collection(claims);
    this.#ends = readModel.collection(leadEnds);
    this.#divided = readModel.collection(dividedRecords);
  }

  async repeatsAmong(candidates: readonly { lead_id: string; id: string }[]): Promise<StoredRepeats> {
    const found = await findByIds(
      this.#known,
      candidates.map(({ lead_id, id }) => knownEventId(lead_id, id)),
    );
    // An event that comes for the first time is not found, and causes no further read.
    return found.length === 0 ? new Map() : readBodies(this.readModel, found);
  }

  /** Of events that are sent by one lead to another, or back, those that the other has kept since its last end, by `eventKey`. */
  async keptSince(candidates: readonly { lead_id: string; id: string }[]): Promise<Set<string>> {
    const kept = new Set<string>();
    if (candidates.length === 0) return kept;
    const leadIds = [...new Set(candidates.map(({ lead_id }) => lead_id))];
    const [found, ends] = await Promise.all([
      findByIds(
        this.#known,
        candidates.map(({ lead_id, id }) => knownEventId(lead_id, id)),
      ),
      findByIds(this.#ends, leadIds.map(uuidToBinary)),
    ]);
    const endOf = new Map(ends.map(({ _id, offset }) => [binaryToUuid(_id), offset]));
    for (const { _id, offset } of found) {
      const { lead_id, id } = readKnownEventId(_id);
      if (offset !== undefined && offset > (endOf.get(lead_id) ?? -1)) kept.add(eventKey(lead_id, id));
    }
    return kept;
  }

  /**
   * The OUs of those of these leads that have events or claims, or are being divided.
   * @param mayClaim false: the lead is known to have no claims
   */
  async unitsOf(
    leadIds: readonly string[],
    mayClaim: (leadId: string) => boolean = () => true,
  ): Promise<Map<string, string>> {
    const units = new Map<string, string>();
    const others = () => leadIds.filter((leadId) => !units.has(leadId));
    for (const { _id, ou } of await oneWithinEach(this.#records, leadIds.map(recordIdsOf), ['ou']))
      units.set(readUuid(leadBytesOf(_id), 0), binaryToUuid(ou));
    const claiming = others().filter(mayClaim).map(claimIdsOf);
    for (const { _id, ou } of await oneWithinEach(this.#claims, claiming, ['ou']))
      units.set(readClaimId(_id).lead_id, binaryToUuid(ou));
    for (const { _id, ou } of await oneWithinEach(this.#divided, others().map(recordIdsOf), ['ou']))
      units.set(readUuid(leadBytesOf(_id), 0), binaryToUuid(ou));
    return units;
  }

  /** The OUs of those of these leads that have events, or are being divided. */
  eventfulUnitsOf(leadIds: readonly string[]): Promise<Map<string, string>> {
    return this.unitsOf(leadIds, () => false);
  }

  /** What is set for these leads. */
  metadataOf(leadIds: readonly string[]): Promise<Map<string, KnownMetadata>> {
    return readLeadMetadata(this.readModel, leadIds);
  }

  /** The last deletions of these leads. */
  async deletionsOf(leadIds: readonly string[]): Promise<Map<string, string>> {
    const found = await findByIds(this.#deletions, leadIds.map(uuidToBinary));
    return new Map(found.map(({ _id, deletion_id }) => [binaryToUuid(_id), deletion_id]));
  }

  async storedLeadsOf(
    leadIds: readonly string[],
    { claims: claimed }: Pick<LookedUpAliases, 'claims'>,
  ): Promise<Map<string, StoredLead>> {
    const stored = new Map<string, StoredLead>();
    if (leadIds.length === 0) return stored;
    await withClassifiedErrors(async () => {
      const [deletionIds, units] = await Promise.all([
        this.deletionsOf(leadIds),
        this.unitsOf(leadIds, (leadId) => claimed.has(leadId)),
      ]);
      for (const leadId of leadIds)
        stored.set(leadId, {
          ou_id: units.get(leadId) ?? null,
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
    this.histories.clear();
    let bytes = 0;
    const read = new Map<string, Promise<DeletedTypes>>();
    const deletedTypesOf = (ouId: string) => {
      const deleted = read.get(ouId) ?? readDeletedTypes(this.readModel, ouId);
      read.set(ouId, deleted);
      return deleted;
    };
    await lookUp.map(places, async (place) => {
      if (bytes >= bytesOfBatch) return;
      const { page, stored, size } = await this.#pageOf(place, await deletedTypesOf(place.ou_id));
      pages.set(historyKey(place), page);
      bytes += size;
      if (place.from === 0 && page.next === null) this.histories.keep(place.alias_lead_id, stored);
    });
    return pages;
  }

  /** The next records of leads that are divided, as far as they are not too much for a batch. */
  async dividedOf(
    divisions: readonly records.SendDivided[],
    metadata: LookedUpAliases['metadata'],
  ): Promise<DividedPages> {
    const pages = new Map<string, DividedPage>();
    for (const [index, division] of divisions.entries()) {
      // One page for each batch: a division is rare, and its page may have a megabyte.
      if (index > 0) break;
      pages.set(dividedKey(division), await this.#dividedPageOf(division, metadata.get(division.lead_id)));
    }
    return pages;
  }

  async #dividedPageOf(
    { ou_id, lead_id, alias_lead_id, from }: records.SendDivided,
    { joined }: SetMetadata = noMetadata,
  ): Promise<DividedPage> {
    const place = { collection: this.#divided, leadId: lead_id, from };
    const { page, after } = await this.#recordsOf(place, await readDeletedTypes(this.readModel, ou_id));
    const joinedLeads = after === null ? joined.map((one) => one.lead_id) : [];
    const redirectTo = await redirectsFrom(this.readModel, ou_id, [
      ...page.records.map(namedLeadOf),
      ...joinedLeads,
    ]);
    const leaves = (leadId: string) => [...wayOf(leadId, redirectTo)].includes(alias_lead_id);
    return {
      records: page.records.map((payload) => ({ payload, leaves: leaves(namedLeadOf(payload)) })),
      next: after,
      leaving: new Set(joinedLeads.filter(leaves)),
    };
  }

  /** Those of these leads that have events, in whatever partition. */
  withEvents(leadIds: readonly string[]): Promise<Set<string>> {
    return leadsWithEvents(this.readModel, leadIds);
  }

  #pageOf({ alias_lead_id, from }: HistoryPlace, deleted: DeletedTypes) {
    return this.#recordsOf({ collection: this.#records, leadId: alias_lead_id, from }, deleted);
  }

  async #recordsOf(
    {
      collection,
      leadId,
      from,
    }: { collection: Collection<EventRecordDocument>; leadId: string; from: number },
    deleted: DeletedTypes,
  ): Promise<{ page: HistoryPage; stored: StoredEvents[]; size: number; after: number | null }> {
    const found: records.EventsIngested[] = [];
    const stored: StoredEvents[] = [];
    let size = 0;
    let next: number | null = null;
    /** The offset behind the last record; null: there is none. */
    let after: number | null = null;
    await withClassifiedErrors(async () => {
      const documents = collection
        .find({ _id: recordIdsFrom(leadId, from) }, { limit: recordsOfPage + 1 })
        .sort({ _id: 1 });
      for await (const document of documents) {
        if (stored.length === recordsOfPage || size >= bytesOfPage) {
          next = readRecordOffset(document._id);
          break;
        }
        const one = storedIn(document);
        const { payload, offset, bytes } = one;
        stored.push(one);
        after = offset + 1;
        size += bytes;
        const events = deleted.visibleIn(payload, { partition: document.partition, offset });
        if (events.length > 0) found.push({ ...payload, events: events.map(({ event }) => event) });
      }
    });
    return { page: { records: found, exists: from > 0 || stored.length > 0, next }, stored, size, after };
  }

  async #foreignIdsOf(leadId: string): Promise<Map<string, string[]>> {
    const foreign = new Map<string, string[]>();
    for await (const document of this.#records.find({ _id: recordIdsOf(leadId) }))
      addForeign(foreign, payloadOf(document));
    return foreign;
  }
}

/** The lead that the alias of a record names without a redirect. */
function namedLeadOf({ ou_id, lead_id, aliases: [named] }: records.EventsIngested): string {
  return named ? leadIdOf(ou_id, named.alias_kind, named.alias) : lead_id;
}
