// Folds the statistics of event types in a partition: adds new events, and subtracts those of deleted leads.
import type { records } from '@lead-scoring/contracts';
import { createGuardedWriter, findByIds, type GuardedWriter, type ReadModel } from '@lead-scoring/read-model';
import type { RecurringValues } from '../events/recurring-values.js';
import type { FoldedEvents } from '../events/sections.js';
import { eventTypeDocumentId, eventTypes, toDocument, toShare } from './documents.js';
import { EventTypeFold, type EventTypeShare } from './fold.js';

/** The most types in memory. */
const maximumOpenTypes = 5_000;

interface OpenType {
  fold: EventTypeFold;
  /** Offset of the last event folded. */
  offset: number;
  isNew: boolean;
}

/** An event type of an OU. */
interface NamedType {
  ouId: string;
  typeKey: string;
}

/** The shares that a deleted lead's events have added, and the offset of the deletion that subtracts them. */
export interface DeletedShares {
  offset: number;
  shares: EventTypeShare[];
}

export class EventTypeStatistics {
  readonly #stored;
  readonly #writer: GuardedWriter;
  readonly #open = new Map<string, OpenType>();

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
    private readonly values: RecurringValues,
  ) {
    this.#stored = readModel.collection(eventTypes);
    this.#writer = createGuardedWriter(readModel);
  }

  async fold(ingested: readonly FoldedEvents[]): Promise<void> {
    const { values } = this;
    const wanted = new Map<string, NamedType>();
    for (const { payload } of ingested)
      for (const { event_type } of payload.events) {
        const typeKey = values.typeKeyOf(event_type);
        wanted.set(typeId(payload.ou_id, typeKey), { ouId: payload.ou_id, typeKey });
      }
    await this.#openMissing(wanted);
    const changed = new Set<string>();
    for (const { payload, offset } of ingested) {
      const grown = new Set<OpenType>();
      for (const event of payload.events) {
        const id = typeId(payload.ou_id, values.typeKeyOf(event.event_type));
        const open = this.#open.get(id);
        // It was folded before a crash.
        if (!open || open.offset >= offset) continue;
        open.fold.add(event, payload.aliases);
        grown.add(open);
        changed.add(id);
      }
      for (const open of grown) open.offset = offset;
    }
    await this.#write(changed);
  }

  async subtract(deleted: readonly DeletedShares[]): Promise<void> {
    const wanted = new Map<string, NamedType>();
    for (const { ou_id, key } of deleted.flatMap(({ shares }) => shares))
      wanted.set(typeId(ou_id, key), { ouId: ou_id, typeKey: key });
    await this.#openMissing(wanted);
    const changed = new Set<string>();
    for (const { offset, shares } of deleted)
      for (const share of shares) {
        const id = typeId(share.ou_id, share.key);
        const open = this.#open.get(id);
        if (!open || open.offset >= offset) continue;
        open.fold.subtract(share);
        open.offset = offset;
        changed.add(id);
      }
    await this.#write(changed);
  }

  forget(): void {
    this.#open.clear();
  }

  async #write(changed: ReadonlySet<string>): Promise<void> {
    const opened = [...changed].flatMap((id) => this.#open.get(id) ?? []);
    const fresh = new Set<object>();
    const documents = opened.map((open) => {
      const document = toDocument(open.fold.share(), { partition: this.partition, offset: open.offset });
      if (open.isNew) fresh.add(document);
      return document;
    });
    await this.#writer.write(this.#stored, documents, { isNew: (document) => fresh.has(document) });
    for (const open of opened) open.isNew = false;
  }

  async #openMissing(wanted: ReadonlyMap<string, NamedType>): Promise<void> {
    const missing = [...wanted].filter(([id]) => !this.#open.has(id));
    if (missing.length === 0) return;
    if (this.#open.size + missing.length > maximumOpenTypes)
      for (const id of this.#open.keys()) if (!wanted.has(id)) this.#open.delete(id);
    const ids = missing.map(([, { ouId, typeKey }]) => eventTypeDocumentId(ouId, typeKey, this.partition));
    const found = await findByIds(this.#stored, ids);
    const stored = new Map(found.map((document) => [document._id.toString('hex'), document]));
    missing.forEach(([id, { ouId, typeKey }], index) => {
      const document = stored.get(ids[index]?.toString('hex') ?? '');
      this.#open.set(id, {
        fold: new EventTypeFold(ouId, typeKey, document ? toShare(document) : null),
        offset: document?.offset ?? -1,
        isNew: !document,
      });
    });
  }
}

/** Adds up the shares of the events of one lead. */
export class LeadShares {
  readonly #folds = new Map<string, EventTypeFold>();

  constructor(
    private readonly ouId: string,
    private readonly values: RecurringValues,
  ) {}

  add({ events, aliases }: records.EventsIngested): void {
    for (const event of events) {
      const typeKey = this.values.typeKeyOf(event.event_type);
      const fold = this.#folds.get(typeKey) ?? new EventTypeFold(this.ouId, typeKey, null);
      this.#folds.set(typeKey, fold);
      fold.add(event, aliases);
    }
  }

  shares(): EventTypeShare[] {
    return [...this.#folds.values()].map((fold) => fold.share());
  }
}

function typeId(ouId: string, typeKey: string): string {
  return `${ouId}${typeKey}`;
}
