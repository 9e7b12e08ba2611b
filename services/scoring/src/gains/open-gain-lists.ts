// The full lists of gains of a partition, written before the statistics that count them.
import {
  Binary,
  BufferedReplacements,
  bytesOf,
  deleteFound,
  hexOf,
  UuidMap,
  withClassifiedErrors,
  type ReadModel,
  type WriteBuffer,
} from '@lead-scoring/read-model';
import type { Lead } from '../leads/state.js';
import {
  endOfHours,
  gainListKeysWithin,
  gainLists,
  toGainListDocument,
  type GainListDocument,
} from './documents.js';
import { keptHours, type GainList } from './gain-model.js';
import { withoutLeads } from './packed-gains-model.js';

/** The leads of an OU whose gains a batch removes. */
interface RemovedGains {
  readonly leadIds: Set<string>;
  /** The first decision on any of them: older lists have none of their gains. */
  first_offset: number;
}

export class OpenGainLists {
  readonly lists: BufferedReplacements<GainListDocument>;
  /** Written after the lists: one of these may be of a deleted lead, and expire in the same batch. */
  readonly expired: ExpiredGainLists;
  /** Lists in which a removed lead of the batch may be, by OU and id; null in a batch that removes no lead. */
  #ofBatch: Map<string, Map<string, GainListDocument>> | null = null;

  constructor(
    private readonly readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
  ) {
    this.lists = new BufferedReplacements(readModel, gainLists);
    this.expired = new ExpiredGainLists(readModel, partition);
  }

  /**
   * Begins a batch. All lists of before are stored if it removes leads.
   * @param removed the leads that it removes
   */
  async begin(removed: readonly Lead[]): Promise<void> {
    this.#ofBatch = removed.length === 0 ? null : new Map();
    for (const [ouId, gains] of gainsOf(removed)) this.#ofBatch?.set(ouId, await this.#find(ouId, gains));
  }

  async #find(ouId: string, { leadIds, first_offset }: RemovedGains): Promise<Map<string, GainListDocument>> {
    const found = new Map<string, GainListDocument>();
    const leads = new UuidMap([...leadIds].map((leadId) => [leadId, true] as const));
    await withClassifiedErrors(async () => {
      const all = this.readModel.collection(gainLists).find({
        _id: gainListKeysWithin(ouId, 0, endOfHours),
        partition: this.partition,
        offset: { $gte: first_offset },
      });
      for await (const list of all)
        if (withoutLeads(bytesOf(list.entries), leads)) found.set(hexOf(list._id), list);
    });
    return found;
  }

  /** Adds a list that became full by the decision at an offset. */
  add(ouId: string, list: GainList, { offset, hourBefore }: { offset: number; hourBefore: number }): void {
    this.#put(ouId, toGainListDocument(ouId, list, { partition: this.partition, offset }));
    if (list.hour > hourBefore) this.expired.put(ouId, list.hour - keptHours);
  }

  /** Removes the gains of a lead that was deleted at an offset. */
  remove(ouId: string, leadId: string, offset: number): void {
    const lead = new UuidMap<true>([[leadId, true]]);
    for (const list of this.#ofBatch?.get(ouId)?.values() ?? []) {
      const entries = withoutLeads(bytesOf(list.entries), lead);
      if (entries) this.#put(ouId, { ...list, entries: new Binary(entries, 0), offset });
    }
  }

  #put(ouId: string, list: GainListDocument): void {
    this.lists.put(list);
    this.#ofBatch?.get(ouId)?.set(hexOf(list._id), list);
  }
}

/** The removed leads that may have gained points, by OU. */
function gainsOf(removed: readonly Lead[]): Map<string, RemovedGains> {
  const byUnit = new Map<string, RemovedGains>();
  for (const { ou_id, id, first_offset, last_scored_at } of removed) {
    if (last_scored_at === undefined) continue;
    const known = byUnit.get(ou_id) ?? { leadIds: new Set(), first_offset };
    known.leadIds.add(id);
    known.first_offset = Math.min(known.first_offset, first_offset);
    byUnit.set(ou_id, known);
  }
  return byUnit;
}

/** Lists from before the kept hours, which the next cycle deletes. */
class ExpiredGainLists implements WriteBuffer {
  /** The first hour that is kept, by OU. */
  #kept = new Map<string, number>();

  constructor(
    private readonly readModel: Pick<ReadModel, 'collection'>,
    private readonly partition: number,
  ) {}

  get size(): number {
    return this.#kept.size;
  }

  put(ouId: string, hour: number): void {
    this.#kept.set(ouId, hour);
  }

  take() {
    const taken = this.#kept;
    this.#kept = new Map();
    return {
      write: async () => {
        for (const [ouId, hour] of taken)
          await deleteFound(this.readModel.collection(gainLists), {
            _id: gainListKeysWithin(ouId, 0, hour),
            partition: this.partition,
          });
      },
      stored: () => undefined,
    };
  }

  forget(): void {
    this.#kept = new Map();
  }
}
