// Folds the statistics of event types in a partition: adds new events, and subtracts those of deleted leads.
import type { records } from '@lead-scoring/contracts';
import { BufferedStates, WriteBehind, type ReadModel } from '@lead-scoring/read-model';
import type { RecurringValues } from '../events/recurring-values.js';
import type { FoldedEvents } from '../events/sections.js';
import { eventTypeDocumentId, eventTypes, toDocument, toShare, type EventTypeDocument } from './documents.js';
import { EventTypeFold, type EventTypeShare } from './fold.js';

/** The most types that stay in memory. */
const maximumCached = 5_000;

/** Changed in place: each has many values, and few of them change. */
interface OpenType {
  readonly fold: EventTypeFold;
  /** Offset of the last event folded. */
  offset: number;
}

/** The shares that a deleted lead's events have added, and the offset of the deletion that subtracts them. */
export interface DeletedShares {
  offset: number;
  shares: EventTypeShare[];
}

export class EventTypeStatistics {
  /** By `typeId`. */
  readonly #types: BufferedStates<OpenType, EventTypeDocument>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: ReadModel,
    partition: number,
    private readonly values: RecurringValues,
  ) {
    this.#types = new BufferedStates(readModel, {
      collection: eventTypes,
      idOf: (id) => eventTypeDocumentId(...typeNamed(id), partition),
      toState: (document, id) => ({
        fold: new EventTypeFold(...typeNamed(id), toShare(document)),
        offset: document.offset,
      }),
      toDocument: ({ fold, offset }) => toDocument(fold.share(), { partition, offset }),
      maximumCached,
      changesInPlace: true,
    });
    this.#behind = new WriteBehind([this.#types]);
  }

  /** Resolves when the statistics are stored. */
  async fold(ingested: readonly FoldedEvents[]): Promise<void> {
    const { values } = this;
    const wanted = new Set<string>();
    for (const { payload } of ingested)
      for (const { event_type } of payload.events)
        wanted.add(typeId(payload.ou_id, values.typeKeyOf(event_type)));
    const types = await this.#open(wanted);
    const changed = new Set<string>();
    for (const { payload, offset } of ingested) {
      const grown = new Set<OpenType>();
      for (const event of payload.events) {
        const id = typeId(payload.ou_id, values.typeKeyOf(event.event_type));
        const open = types.get(id);
        // It was folded before a crash.
        if (!open || open.offset >= offset) continue;
        open.fold.add(event, payload.aliases);
        grown.add(open);
        changed.add(id);
      }
      for (const open of grown) open.offset = offset;
    }
    await this.#write(types, changed);
  }

  async subtract(deleted: readonly DeletedShares[]): Promise<void> {
    const shares = deleted.flatMap((one) => one.shares);
    const types = await this.#open(new Set(shares.map(({ ou_id, key }) => typeId(ou_id, key))));
    const changed = new Set<string>();
    for (const { offset, shares: subtracted } of deleted)
      for (const share of subtracted) {
        const id = typeId(share.ou_id, share.key);
        const open = types.get(id);
        if (!open || open.offset >= offset) continue;
        open.fold.subtract(share);
        open.offset = offset;
        changed.add(id);
      }
    await this.#write(types, changed);
  }

  forget(): void {
    this.#behind.forget();
  }

  /** What is folded of these types, and an empty share of a type that nothing is folded of. */
  async #open(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, OpenType>> {
    const types = new Map<string, OpenType>();
    for (const [id, open] of await this.#types.load(ids))
      types.set(id, open ?? { fold: new EventTypeFold(...typeNamed(id), null), offset: -1 });
    return types;
  }

  async #write(types: ReadonlyMap<string, OpenType>, changed: ReadonlySet<string>): Promise<void> {
    for (const id of changed) {
      const open = types.get(id);
      if (open) this.#types.put(id, open);
    }
    await this.#behind.write();
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

const ouIdLength = 36;

function typeId(ouId: string, typeKey: string): string {
  return `${ouId}${typeKey}`;
}

/** The type that a `typeId` names. */
function typeNamed(id: string): [ouId: string, typeKey: string] {
  return [id.slice(0, ouIdLength), id.slice(ouIdLength)];
}
