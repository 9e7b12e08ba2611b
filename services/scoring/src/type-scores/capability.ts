// Counts the scored events of each type, so that a dry run of a deletion says what it would concern. The removal of a lead takes its
// events back, and so does the deletion of a type. It keeps the deleted types for jobs that read the recorded history.
import { projection, type OpenCapability } from '@lead-scoring/capability';
import { eventTypeKey, records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord } from '@lead-scoring/event-log';
import {
  BufferedStates,
  bytesOf,
  insertMissing,
  offsetToNumber,
  readJson,
  readOffset,
  uuidBytes,
  withClassifiedErrors,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import { deletedTypes, toDeletedType } from '../event-deletions/documents.js';
import type { LeadProjection } from '../leads/capability.js';
import { timeline } from '../leads/documents.js';
import type { OpenLeads } from '../leads/open-leads.js';
import { recordKeysUpTo } from '../keys.js';
import { scoredTypesOf, sumOfCounts, type TypeCounts } from './count-model.js';
import { typeScores as stored, typeScoresId, type TypeScoresDocument } from './documents.js';

export function typeScores({ leads }: { leads: LeadProjection }) {
  return projection({
    name: 'type-scores',
    events: {
      LeadScored: records.leadScored,
      ScoreAdjusted: records.scoreAdjusted,
      LeadRemoved: records.leadRemoved,
      EventScoresDeleted: records.eventScoresDeleted,
    },
    collections: [stored, deletedTypes],
    open: (scope) =>
      new OpenTypeScores(scope.readModel, { partition: scope.partition, leads: scope.opened(leads) }),
  });
}

export type TypeScores = ReturnType<typeof typeScores>;

/** What the records of a batch change, in their order, by the OU's id followed by the key of the type. */
type Changes = Map<string, { readonly offset: number; readonly events: number }[]>;

/** The decisions on a lead that scored events, by their offsets. */
type DecidedCounts = Map<number, TypeCounts>;

/** Removed leads whose decisions are read at the same time. */
const readAhead = 8;
/** Types that a partition keeps in memory. */
const maximumCached = 2_000;
const ouIdLength = 36;

export class OpenTypeScores implements OpenCapability {
  readonly #timeline;
  readonly #deletedTypes;
  readonly #partition: number;
  readonly #leads: Pick<OpenLeads, 'write'>;
  /** By the OU's id followed by the key of the type. */
  readonly #counts: BufferedStates<TypeScoresDocument, TypeScoresDocument>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: ReadModel,
    { partition, leads }: { partition: number; leads: Pick<OpenLeads, 'write'> },
  ) {
    this.#partition = partition;
    this.#leads = leads;
    this.#timeline = readModel.collection(timeline);
    this.#deletedTypes = readModel.collection(deletedTypes);
    this.#counts = new BufferedStates(readModel, {
      collection: stored,
      idOf: (name) => this.#idOf(name),
      toState: (document) => document,
      toDocument: (document) => document,
      maximumCached,
    });
    this.#behind = new WriteBehind([this.#counts]);
  }

  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    await this.#behind.room();
    const isRemoving = folded.some((record) => isRecord(record, records.leadRemoved));
    // What a removed lead had of earlier batches is then in its timeline.
    if (isRemoving) await this.#leads.write();
    await this.#apply(await this.#changesIn(folded));
    const marks = folded.flatMap((record) =>
      isRecord(record, records.eventScoresDeleted) ? [toDeletedType(record.payload)] : [],
    );
    if (marks.length > 0) await insertMissing(this.#deletedTypes, marks);
    // Before the timeline of the removed lead is deleted, from which the same would have to be folded again after a crash.
    if (isRemoving) await this.#behind.write();
  }

  /** The scored events of a type in this partition, as far as they are folded. */
  async countOf(ouId: string, typeKey: string): Promise<number> {
    const name = ouId + typeKey;
    return (await this.#counts.load([name])).get(name)?.events ?? 0;
  }

  write(awaited: AbortSignal): Promise<void> {
    return this.#behind.write(awaited);
  }

  forget(): void {
    this.#behind.forget();
  }

  async #changesIn(folded: readonly FoldedRecord[]): Promise<Changes> {
    const changes: Changes = new Map();
    /** Of each lead that the batch removes: its decisions in this batch since its last removal. */
    const removed = decisionsByLead(folded);
    const stored = this.#decidedOnRemoved(folded);
    for (const record of folded) {
      const offset = offsetToNumber(record.offset);
      if (isRecord(record, records.leadScored)) {
        const { ou_id, lead_id, scored_events } = record.payload;
        if (scored_events.length === 0) continue;
        const counts = scoredTypesOf(record.payload);
        removed.get(lead_id)?.set(offset, counts);
        note(changes, ou_id, { offset, counts, sign: 1 });
      } else if (isRecord(record, records.scoreAdjusted)) {
        const { ou_id, lead_id, deleted } = record.payload;
        if (!deleted) continue;
        const counts = new Map([[eventTypeKey(deleted.event_type), deleted.events]]);
        removed.get(lead_id)?.set(offset, negative(counts));
        note(changes, ou_id, { offset, counts, sign: -1 });
      } else if (isRecord(record, records.leadRemoved)) {
        const { ou_id, lead_id } = record.payload;
        const { value: known } = await stored.next();
        const counts = sumOfCounts(new Map([...(known ?? []), ...(removed.get(lead_id) ?? [])]).values());
        removed.set(lead_id, new Map());
        note(changes, ou_id, { offset, counts, sign: -1 });
      }
    }
    return changes;
  }

  /**
   * Yields one result for each LeadRemoved of the batch, in the order of the batch: the stored decisions on its lead since the lead's previous
   * removal. The decisions on the next eight removed leads are read meanwhile.
   */
  async *#decidedOnRemoved(folded: readonly FoldedRecord[]): AsyncGenerator<DecidedCounts, void> {
    const froms = new Map<string, number>();
    const reading: Promise<DecidedCounts>[] = [];
    for (const record of folded) {
      if (!isRecord(record, records.leadRemoved)) continue;
      const { lead_id } = record.payload;
      const to = offsetToNumber(record.offset);
      const decided = this.#decidedOn(lead_id, { from: froms.get(lead_id) ?? 0, to });
      // Thrown where it is awaited, if it ever is.
      decided.catch(() => undefined);
      froms.set(lead_id, to);
      reading.push(decided);
      const first = reading.length > readAhead ? reading.shift() : undefined;
      if (first) yield await first;
    }
    for (const decided of reading) yield await decided;
  }

  /** The stored decisions on a lead that scored events, by their offsets. After a crash, some of the batch may be among them. */
  async #decidedOn(leadId: string, { from, to }: { from: number; to: number }): Promise<DecidedCounts> {
    const decided: DecidedCounts = new Map();
    await withClassifiedErrors(async () => {
      for await (const { _id, json } of this.#timeline.find({ _id: recordKeysUpTo(leadId, to, from) })) {
        const { scored_events, deleted } = readJson(json) as unknown as Partial<
          records.LeadScored & records.ScoreAdjusted
        >;
        const offset = readOffset(bytesOf(_id), uuidBytes);
        if (scored_events) decided.set(offset, scoredTypesOf({ scored_events }));
        // Events of a deleted type were taken back with the type.
        if (deleted) decided.set(offset, new Map([[eventTypeKey(deleted.event_type), -deleted.events]]));
      }
    });
    return decided;
  }

  /** One look-up and one change for each type, however many events it has. */
  async #apply(changes: Changes): Promise<void> {
    const known = await this.#counts.load([...changes.keys()]);
    for (const [name, ofType] of changes) {
      const before = known.get(name) ?? null;
      // Those up to the stored offset were folded before a crash.
      const after = ofType.filter(({ offset }) => !before || offset > before.offset);
      const last = after.at(-1);
      if (!last) continue;
      this.#counts.put(name, {
        _id: before?._id ?? this.#idOf(name),
        events: after.reduce((sum, { events }) => Math.max(0, sum + events), before?.events ?? 0),
        partition: this.#partition,
        offset: last.offset,
      });
    }
  }

  #idOf(name: string) {
    return typeScoresId(name.slice(0, ouIdLength), name.slice(ouIdLength), this.#partition);
  }
}

const negative = (counts: TypeCounts): TypeCounts =>
  new Map([...counts].map(([key, events]) => [key, -events]));

function decisionsByLead(folded: readonly FoldedRecord[]): Map<string, DecidedCounts> {
  const removals = folded.filter((record) => isRecord(record, records.leadRemoved));
  return new Map(removals.map(({ payload }) => [payload.lead_id, new Map()]));
}

function note(
  changes: Changes,
  ouId: string,
  { offset, counts, sign }: { offset: number; counts: TypeCounts; sign: 1 | -1 },
): void {
  for (const [key, events] of counts) {
    const name = ouId + key;
    const change = { offset, events: sign * events };
    const known = changes.get(name);
    if (known) known.push(change);
    else changes.set(name, [change]);
  }
}
