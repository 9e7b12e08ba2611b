// The order of an OU's events by time: adds events to the documents of their seconds, and removes those of deleted leads.
import {
  Binary,
  createGuardedWriter,
  findByIds,
  hexOf,
  type GuardedWriter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { eventSeconds } from './documents.js';
import { leadBytesOf, readSecondKey, recordId, secondKey, type SecondPlace } from './keys.js';
import type { RecurringValues } from './recurring-values.js';
import { blockOf, blockOffsets, SecondFold, type RemovedPlace } from './seconds.js';
import type { FoldedEvents, RecordedEvents } from './sections.js';

interface OpenSecond {
  block: number;
  fold: SecondFold;
  isStored: boolean;
}

/** Events of a deleted lead. */
export interface LeadRemoval {
  /** Records of the lead. */
  readonly recorded: readonly RecordedEvents[];
  /** The offset of the deletion. */
  readonly offset: number;
}

export class OrderOfTime {
  readonly #stored;
  readonly #writer: GuardedWriter;
  /** The documents to which later records may add: those of the block at the log's end. */
  readonly #open = new Map<string, OpenSecond>();
  /** From this offset on, memory has all documents of a block. */
  #completeFrom: number | null = null;

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
    private readonly values: RecurringValues,
  ) {
    this.#stored = readModel.collection(eventSeconds);
    this.#writer = createGuardedWriter(readModel);
  }

  /** @param ingested in the order of the log, without gaps between calls */
  async fold(ingested: readonly FoldedEvents[]): Promise<void> {
    this.#completeFrom ??= ingested[0]?.offset ?? null;
    await this.#openFirstBlock(ingested);
    const { partition, values } = this;
    const open = this.#open;
    const changed = new Set<OpenSecond>();
    for (const { payload, offset } of ingested) {
      const { ou_id: ouId, lead_id, events } = payload;
      const leadBytes = leadBytesOf(recordId(lead_id, offset));
      const { block, part } = blockOf(offset, events.length);
      events.forEach(({ event_type, timestamp }, index) => {
        const timestampMs = Date.parse(timestamp);
        const place = { ouId, second: Math.floor(timestampMs / 1_000), partition, block, part };
        const id = secondId(place);
        let at = open.get(id);
        if (!at) open.set(id, (at = { block, fold: new SecondFold(place, null), isStored: false }));
        if (at.fold.add(values.typeKeyOf(event_type), leadBytes, offset, timestampMs, index)) changed.add(at);
      });
    }
    await this.#write(changed);
    const end = Math.floor((ingested.at(-1)?.offset ?? 0) / blockOffsets);
    for (const [id, { block }] of open) if (block < end) open.delete(id);
  }

  /**
   * Removes events of deleted leads; their records stay.
   * @param removals in the order of the deletions
   */
  async remove(removals: readonly LeadRemoval[]): Promise<void> {
    const places = new Map<string, SecondPlace>();
    const deleted = new Map<string, Map<string, number>>();
    for (const { recorded, offset } of removals) {
      const leadId = recorded[0]?.payload.lead_id;
      if (leadId === undefined) continue;
      for (const [id, place] of this.#placesOf(recorded)) {
        places.set(id, place);
        const leads = deleted.get(id);
        if (leads) leads.set(leadId, offset);
        else deleted.set(id, new Map([[leadId, offset]]));
      }
    }
    const changed = new Set<OpenSecond>();
    for (const [id, at] of await this.#find(places))
      if (at.fold.removeLeads(deleted.get(id) ?? new Map())) changed.add(at);
    await this.#write(changed);
  }

  /**
   * Removes events of a type from some documents.
   * @param keys the keys of the documents in hexadecimal digits
   * @param deleted the type, the offset before which the records of its deleted events are, and the offset of the removal
   * @param first called with the records of the removed events before these leave the order of time
   */
  async removeType(
    ouId: string,
    keys: readonly string[],
    { key: typeKey, before, offset }: { key: string; before: number; offset: number },
    first: (removed: readonly RemovedPlace[]) => Promise<void>,
  ): Promise<void> {
    const places = new Map(
      keys.map((key) => {
        const place = { ouId, ...readSecondKey(new Binary(Buffer.from(key, 'hex'), 0)) };
        return [secondId(place), place] as const;
      }),
    );
    const changed = new Set<OpenSecond>();
    const removed: RemovedPlace[] = [];
    for (const at of (await this.#find(places)).values()) {
      if (!at.isStored) continue;
      const own = at.fold.removeType(typeKey, before, offset);
      if (own.length > 0) changed.add(at);
      removed.push(...own);
    }
    await first(removed);
    await this.#write(changed);
  }

  forget(): void {
    this.#open.clear();
    this.#completeFrom = null;
  }

  async #write(changed: ReadonlySet<OpenSecond>): Promise<void> {
    const fresh = new Set<object>();
    const documents = [...changed].map(({ fold, isStored }) => {
      const document = fold.document();
      if (!isStored) fresh.add(document);
      return document;
    });
    await this.#writer.write(this.#stored, documents, { isNew: (document) => fresh.has(document) });
    for (const at of changed) at.isStored = true;
  }

  /** Loads the stored documents of the block that began before `#completeFrom`. */
  async #openFirstBlock(ingested: readonly FoldedEvents[]): Promise<void> {
    const from = this.#completeFrom ?? 0;
    if (from % blockOffsets === 0) return;
    const begun = Math.floor(from / blockOffsets);
    const missing = this.#placesOf(
      ingested.filter(({ offset }) => Math.floor(offset / blockOffsets) <= begun),
    );
    for (const id of this.#open.keys()) missing.delete(id);
    for (const [id, at] of await this.#load(missing)) this.#open.set(id, at);
  }

  /** The documents of these places: those in memory, and the others as they are loaded. */
  async #find(places: ReadonlyMap<string, SecondPlace>): Promise<Map<string, OpenSecond>> {
    const found = new Map<string, OpenSecond>();
    const unknown = new Map<string, SecondPlace>();
    for (const [id, place] of places) {
      const begun = this.#open.get(id);
      if (begun) found.set(id, begun);
      else unknown.set(id, place);
    }
    for (const [id, at] of await this.#load(unknown)) found.set(id, at);
    return found;
  }

  /** Loads the documents of these places; where none is stored, a new one. */
  async #load(wanted: ReadonlyMap<string, SecondPlace>): Promise<Map<string, OpenSecond>> {
    const places = [...wanted].map(([id, place]) => ({ id, place, key: secondKey(place) }));
    const found = await findByIds(
      this.#stored,
      places.map(({ key }) => key),
    );
    const stored = new Map(found.map((document) => [hexOf(document._id), document]));
    return new Map(
      places.map(({ id, place, key }) => {
        const document = stored.get(hexOf(key)) ?? null;
        const fold = new SecondFold(place, document);
        return [id, { block: place.block, fold, isStored: document !== null }];
      }),
    );
  }

  /** The places of the documents that list these events. */
  #placesOf(recorded: readonly RecordedEvents[]): Map<string, SecondPlace> {
    const places = new Map<string, SecondPlace>();
    for (const { payload, offset } of recorded) {
      const { block, part } = blockOf(offset, payload.events.length);
      for (const { timestamp } of payload.events) {
        const second = Math.floor(Date.parse(timestamp) / 1_000);
        const place = { ouId: payload.ou_id, second, partition: this.partition, block, part };
        places.set(secondId(place), place);
      }
    }
    return places;
  }
}

function secondId({ ouId, second, block, part }: SecondPlace): string {
  return `${ouId}/${String(second)}/${String(block)}/${String(part)}`;
}
