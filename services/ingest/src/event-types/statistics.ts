// Folds the statistics of event types in a partition: adds new events, and subtracts those of deleted leads.
import type { records } from '@lead-scoring/contracts';
import { BufferedStates, WriteBehind, type ReadModel } from '@lead-scoring/read-model';
import type { RecurringValues } from '../events/recurring-values.js';
import type { FoldedEvents } from '../events/sections.js';
import {
  eventTypeDocumentId,
  eventTypes,
  eventUnits,
  toDocument,
  toShare,
  toUnitDocument,
  toUnitShare,
  unitDocumentId,
  type EventTypeDocument,
  type UnitDocument,
} from './documents.js';
import { EventTypeFold, recounted, type EventTypeShare } from './fold.js';
import { UnitFold, type DeletedEvents } from './unit-fold.js';

/** The most types that stay in memory. */
const maximumCached = 5_000;
/** The most OUs that stay in memory. */
const maximumUnits = 1_000;

/** Changed in place: each has many values, and few of them change. */
interface Open<Fold> {
  readonly fold: Fold;
  /** Offset of the last event folded. */
  offset: number;
}

/** What a deleted lead's events have added, and the offset of the deletion that subtracts it. */
export interface DeletedShares extends DeletedEvents {
  ou_id: string;
  offset: number;
  types: EventTypeShare[];
}

export interface StatisticsOptions {
  partition: number;
  /** The most types of an OU that lists show from the partition. */
  listedTypes: number;
}

export class EventTypeStatistics {
  /** By `typeId`. */
  readonly #types: BufferedStates<Open<EventTypeFold>, EventTypeDocument>;
  /** By OU. */
  readonly #units: BufferedStates<Open<UnitFold>, UnitDocument>;
  readonly #behind: WriteBehind;
  readonly #listedTypes: number;

  constructor(
    readModel: ReadModel,
    { partition, listedTypes }: StatisticsOptions,
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
    this.#units = new BufferedStates(readModel, {
      collection: eventUnits,
      idOf: (ouId) => unitDocumentId(ouId, partition),
      toState: (document, ouId) => ({
        fold: new UnitFold(ouId, toUnitShare(document), listedTypes),
        offset: document.offset,
      }),
      toDocument: ({ fold, offset }) => toUnitDocument(fold.share(), { partition, offset }),
      maximumCached: maximumUnits,
      changesInPlace: true,
    });
    // OUs are written first: a repeated fold knows which types have lost their last event only while the stored types lack the deletion.
    this.#behind = new WriteBehind([this.#units, this.#types]);
    this.#listedTypes = listedTypes;
  }

  /** Resolves when the statistics are stored. */
  async fold(ingested: readonly FoldedEvents[]): Promise<void> {
    const { values } = this;
    const wanted = new Set<string>();
    for (const { payload } of ingested)
      for (const { event_type } of payload.events)
        wanted.add(typeId(payload.ou_id, values.typeKeyOf(event_type)));
    const opened = await this.#open(wanted, new Set(ingested.map(({ payload }) => payload.ou_id)));
    for (const record of ingested) this.#add(record, opened);
    await this.#behind.write();
  }

  #add({ payload: { ou_id, events, aliases }, offset }: FoldedEvents, { types, units }: Opened): void {
    const unit = units.get(ou_id);
    const isInUnit = !unit || unit.offset >= offset;
    const grown = new Map<string, Open<EventTypeFold>>();
    for (const event of events) {
      const key = this.values.typeKeyOf(event.event_type);
      if (!isInUnit) unit.fold.add(key, aliases);
      const id = typeId(ou_id, key);
      const open = types.get(id);
      // It was folded before a crash.
      if (!open || open.offset >= offset) continue;
      open.fold.countSince(unit?.fold.recount?.from ?? null);
      open.fold.add(event);
      grown.set(id, open);
    }
    for (const [id, open] of grown) {
      open.offset = offset;
      this.#types.put(id, open);
    }
    if (!isInUnit) this.#putUnit(ou_id, unit, offset);
  }

  async subtract(deleted: readonly DeletedShares[]): Promise<void> {
    const { types, units } = await this.#open(
      new Set(deleted.flatMap((one) => one.types.map(({ ou_id, key }) => typeId(ou_id, key)))),
      new Set(deleted.map(({ ou_id }) => ou_id)),
    );
    for (const { ou_id, offset, types: shares, ...events } of deleted) {
      const gone: string[] = [];
      for (const share of shares) {
        const id = typeId(ou_id, share.key);
        const open = types.get(id);
        if (!open || open.offset >= offset) continue;
        open.fold.countSince(units.get(ou_id)?.fold.recount?.from ?? null);
        open.fold.subtract(share);
        open.offset = offset;
        this.#types.put(id, open);
        if (open.fold.count === 0) gone.push(share.key);
      }
      const unit = units.get(ou_id);
      if (!unit || unit.offset >= offset || shares.length === 0) continue;
      unit.fold.subtract(events, gone);
      this.#putUnit(ou_id, unit, offset);
    }
    await this.#behind.write();
  }

  /** The events of a type. */
  async countOf(ouId: string, typeKey: string): Promise<number> {
    const id = typeId(ouId, typeKey);
    return (await this.#types.load([id])).get(id)?.fold.count ?? 0;
  }

  /** Takes all events of a type away, by a record at an offset. Kinds of alias stay known. */
  async removeType(ouId: string, typeKey: string, offset: number): Promise<void> {
    const id = typeId(ouId, typeKey);
    const { types, units } = await this.#open(new Set([id]), new Set([ouId]));
    const [open, unit] = [types.get(id), units.get(ouId)];
    if (!open || open.offset >= offset || open.fold.count === 0) return;
    if (unit && unit.offset < offset) {
      unit.fold.subtract({ events: open.fold.count, alias_kinds: [] }, [typeKey]);
      this.#putUnit(ouId, unit, offset);
    }
    open.fold.countSince(unit?.fold.recount?.from ?? null);
    open.fold.clear();
    open.offset = offset;
    this.#types.put(id, open);
    await this.#behind.write();
  }

  /** From the offset on, changes of the counts of an OU are counted apart as well. */
  async beginRecount({ ou_id, recount_id }: records.RecountBegun, offset: number): Promise<void> {
    const { units } = await this.#open(new Set(), new Set([ou_id]));
    const unit = units.get(ou_id);
    if (!unit || unit.offset >= offset) return;
    unit.fold.beginRecount(recount_id, offset);
    this.#putUnit(ou_id, unit, offset);
    await this.#behind.write();
  }

  /** Takes over counts of the log up to the mark of the recount that is under way; those of another one change nothing. */
  async setRecounted(
    { ou_id, recount_id, types: counted, unit: countedUnit, is_last }: records.EventTypesRecounted,
    offset: number,
  ): Promise<void> {
    const { units } = await this.#open(new Set(), new Set([ou_id]));
    const unit = units.get(ou_id);
    const recount = unit?.fold.recount;
    if (!unit || recount?.id !== recount_id) return;
    const { types } = await this.#open(new Set(counted.map(({ key }) => typeId(ou_id, key))), new Set());
    for (const type of counted) {
      const id = typeId(ou_id, type.key);
      const open = types.get(id);
      if (!open || open.offset >= offset) continue;
      const share = recounted(open.fold.share(), type, recount.from);
      this.#types.put(id, { fold: new EventTypeFold(ou_id, type.key, share), offset });
    }
    if (is_last && unit.offset < offset) {
      const listed = [...(countedUnit?.types ?? []), ...unit.fold.typesSince()];
      unit.fold.endRecount(countedUnit, await this.#countsOf(ou_id, listed));
      this.#putUnit(ou_id, unit, offset);
    }
    await this.#behind.write();
  }

  async #countsOf(ouId: string, keys: readonly string[]): Promise<Map<string, number>> {
    const found = await this.#types.load(new Set(keys.map((key) => typeId(ouId, key))));
    return new Map(Array.from(found, ([id, open]) => [typeNamed(id)[1], open?.fold.count ?? 0]));
  }

  forget(): void {
    this.#behind.forget();
  }

  #putUnit(ouId: string, unit: Open<UnitFold>, offset: number): void {
    unit.offset = offset;
    this.#units.put(ouId, unit);
  }

  /** What is folded of these types and OUs, and empty shares of those that nothing is folded of. */
  async #open(typeIds: ReadonlySet<string>, ouIds: ReadonlySet<string>): Promise<Opened> {
    const [types, units] = await Promise.all([this.#types.load(typeIds), this.#units.load(ouIds)]);
    return {
      types: new Map(
        Array.from(types, ([id, open]) => [
          id,
          open ?? { fold: new EventTypeFold(...typeNamed(id), null), offset: -1 },
        ]),
      ),
      units: new Map(Array.from(units, ([ouId, open]) => [ouId, open ?? this.#newUnit(ouId)])),
    };
  }

  #newUnit(ouId: string): Open<UnitFold> {
    return { fold: new UnitFold(ouId, null, this.#listedTypes), offset: -1 };
  }
}

interface Opened {
  readonly types: ReadonlyMap<string, Open<EventTypeFold>>;
  readonly units: ReadonlyMap<string, Open<UnitFold>>;
}

/** Adds up the shares of the events of one lead. */
export class LeadShares {
  readonly #folds = new Map<string, EventTypeFold>();
  readonly #unit: UnitFold;

  constructor(
    private readonly ouId: string,
    private readonly values: RecurringValues,
  ) {
    this.#unit = new UnitFold(ouId, null, 0);
  }

  add({ events, aliases }: records.EventsIngested): void {
    for (const event of events) {
      const typeKey = this.values.typeKeyOf(event.event_type);
      const fold = this.#folds.get(typeKey) ?? new EventTypeFold(this.ouId, typeKey, null);
      this.#folds.set(typeKey, fold);
      fold.add(event);
      this.#unit.add(typeKey, aliases);
    }
  }

  /** @param offset of the deletion */
  shares(offset: number): DeletedShares {
    const { ou_id, events, alias_kinds } = this.#unit.share();
    return {
      ou_id,
      offset,
      events,
      alias_kinds,
      types: [...this.#folds.values()].map((fold) => fold.share()),
    };
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
