// The states of a partition's leads: read through a cache, changed in memory, written behind. A state that changes with
// nearly every event is then written once for many changes.
import { setTimeout } from 'node:timers/promises';
import { leadKey } from '@lead-scoring/explanations';
import {
  createGuardedWriter,
  createStateCache,
  findByIds,
  keyOf,
  type Collection,
  type GuardedWriter,
  type ReadModel,
  type StateCache,
} from '@lead-scoring/read-model';
import { nameOf, type LeadName } from './accounts.js';
import { leadStates, toLeadState, toLeadStateDocument, type LeadStateDocument } from './documents.js';
import type { LeadState } from './state.js';

export interface FoldedLead {
  readonly state: LeadState;
  /** Offset of the last own event in the state. */
  readonly offset: number;
}

interface UnwrittenLead extends FoldedLead {
  /** No document of the lead is stored. */
  readonly isNew: boolean;
}

/** Unwritten states that a partition keeps before it starts to write them beside the next batches. */
const maximumUnwritten = 30_000;
/** States in one write. */
const statesPerWrite = 200;
/**
 * Time over which the writes are spread while nobody waits for them, in milliseconds. Written in one go, they would slow down
 * the batches that are decided meanwhile for several seconds.
 */
const spreadOverMs = 20_000;

export class LeadStateStore {
  readonly #collection: Collection<LeadStateDocument>;
  readonly #writer: GuardedWriter;
  readonly #cache: StateCache<FoldedLead>;
  /** By name of the lead. A state is unwritten, then being written, then in the cache. */
  readonly #unwritten = new Map<string, UnwrittenLead>();
  readonly #beingWritten = new Map<string, UnwrittenLead>();
  /** Settles when the last write that was asked for has ended; never rejects. */
  #writes: Promise<void> = Promise.resolve();
  /** Aborted to end the pauses of the write that is under way. */
  #haste = new AbortController();

  /** @param firings are stored before the states that remember them */
  constructor(
    readModel: ReadModel,
    private readonly partition: number,
    private readonly firings: { written(): Promise<void> },
    { cachedLeads }: { cachedLeads: number },
  ) {
    this.#collection = readModel.collection(leadStates);
    this.#writer = createGuardedWriter(readModel);
    this.#cache = createStateCache({ maximumEntries: cachedLeads });
  }

  /** By name of the lead; null where nothing was recorded of a lead. */
  async load(leads: readonly LeadName[]): Promise<Map<string, FoldedLead | null>> {
    const leadsByName = new Map(leads.map((lead) => [nameOf(lead), lead]));
    const inMemory = new Map<string, FoldedLead>();
    for (const name of leadsByName.keys()) {
      const lead = this.#unwritten.get(name) ?? this.#beingWritten.get(name);
      if (lead) inMemory.set(name, lead);
    }
    const others = [...leadsByName.keys()].filter((name) => !inMemory.has(name));
    const loaded = await this.#cache.load(others, (missing) => this.#find(missing, leadsByName));
    return new Map([...loaded, ...inMemory]);
  }

  async #find(
    names: readonly string[],
    leadsByName: ReadonlyMap<string, LeadName>,
  ): Promise<[string, FoldedLead][]> {
    const byKey = new Map<string, [string, LeadName]>();
    const keys = names.flatMap((name) => {
      const lead = leadsByName.get(name);
      if (!lead) return [];
      const key = leadKey(lead.ou_id, lead.lead_id);
      byKey.set(keyOf(key), [name, lead]);
      return [key];
    });
    const found: [string, FoldedLead][] = [];
    for (const document of await findByIds(this.#collection, keys)) {
      const [name, lead] = byKey.get(keyOf(document._id)) ?? [];
      if (name !== undefined && lead)
        found.push([name, { state: toLeadState(document, lead), offset: document.offset }]);
    }
    return found;
  }

  /**
   * Keeps changed states in memory. Above the maximum of unwritten states it waits for the write under way and starts the next.
   * @param before what `load` answered for these leads
   */
  async put(
    changed: ReadonlyMap<string, FoldedLead>,
    before: ReadonlyMap<string, FoldedLead | null>,
  ): Promise<void> {
    for (const [name, lead] of changed) {
      const isNew = this.#unwritten.get(name)?.isNew ?? !before.get(name);
      this.#unwritten.set(name, { ...lead, isNew });
    }
    if (this.#unwritten.size <= maximumUnwritten) return;
    this.#haste.abort();
    await this.#writes;
    // States that fail to be written stay unwritten, and the next write that the runtime asks for fails.
    this.write(new AbortController().signal).catch(() => undefined);
  }

  /**
   * Writes the states that are unwritten as of this call, after the writes that were asked for before.
   * @param awaited aborted when somebody waits for the end: the writes are spread out until then
   */
  write(awaited: AbortSignal): Promise<void> {
    const written = this.#writes.then(() => this.#writeUnwritten(awaited));
    this.#writes = written.catch(() => undefined);
    return written;
  }

  async #writeUnwritten(awaited: AbortSignal): Promise<void> {
    this.#haste = new AbortController();
    const signal = AbortSignal.any([awaited, this.#haste.signal]);
    for (const [name, lead] of this.#unwritten) this.#beingWritten.set(name, lead);
    this.#unwritten.clear();
    try {
      await this.firings.written();
      await this.#writeSpread([...this.#beingWritten.values()], signal);
      for (const [name, { state, offset }] of this.#beingWritten) this.#cache.put(name, { state, offset });
    } catch (error) {
      for (const [name, lead] of this.#beingWritten)
        if (!this.#unwritten.has(name)) this.#unwritten.set(name, lead);
      throw error;
    } finally {
      this.#beingWritten.clear();
    }
  }

  async #writeSpread(leads: readonly UnwrittenLead[], signal: AbortSignal): Promise<void> {
    const pauseMs = (spreadOverMs * statesPerWrite) / leads.length;
    for (let from = 0; from < leads.length; from += statesPerWrite) {
      await this.#writeDocuments(leads.slice(from, from + statesPerWrite));
      if (from + statesPerWrite < leads.length) await setTimeout(pauseMs, null, { signal }).catch(() => null);
    }
  }

  async #writeDocuments(leads: readonly UnwrittenLead[]): Promise<void> {
    const newDocuments = new Set<object>();
    const documents = leads.map(({ state, offset, isNew }) => {
      const document = toLeadStateDocument(state, { partition: this.partition, offset });
      if (isNew) newDocuments.add(document);
      return document;
    });
    await this.#writer.write(this.#collection, documents, {
      isNew: (document) => newDocuments.has(document),
    });
  }

  /** Drops the states that are read again from what is stored; unwritten ones stay. */
  forget(): void {
    this.#cache.clear();
  }

  /** Ends the write under way without pauses. */
  async close(): Promise<void> {
    this.#haste.abort();
    await this.#writes;
  }
}
