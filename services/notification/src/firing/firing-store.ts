// The stored states of leads, firings and suppressions of one partition: folded in memory, written behind.
import { leadKey } from '@lead-scoring/explanations';
import {
  BufferedInserts,
  BufferedReplacements,
  BufferedStates,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import { leadOfCacheKey, cacheKeyOf, type LeadIdentity } from './accounts.js';
import {
  firedEvents,
  leadStates,
  suppressions,
  toFiredDocument,
  toLeadState,
  toLeadStateDocument,
  toSuppressionDocument,
  type FiredDocument,
  type LeadStateDocument,
  type SuppressionDocument,
} from './documents.js';
import { deleteFirings, deleteSuppressions, type ForgottenLead } from './forgetting.js';
import { isFired, type FiringEvent } from './messages.js';
import type { LeadState } from './state.js';

/** An event of firing, as read from the log. */
export interface RecordedFiring {
  readonly event: FiringEvent;
  /** The payload's text on the log. */
  readonly json: Buffer;
  readonly offset: number;
}

export interface FoldedLead {
  readonly state: LeadState;
  /** Offset of the last event that was folded into the state. */
  readonly offset: number;
}

/** Number of unwritten firings, and of unwritten states, above which a fold waits. */
const maximumUnwritten = { firings: 2_000, states: 30_000 };
/**
 * Time over which a write of the states is spread while no caller waits for it, in milliseconds. A write at full speed would
 * slow down concurrent batches for several seconds.
 */
const spreadOverMs = 20_000;

export class FiringStore {
  readonly #fired: BufferedInserts<FiredDocument>;
  readonly #suppressions: BufferedReplacements<SuppressionDocument>;
  /** By cache key. A state changes with nearly every event, so one write covers many changes. */
  readonly #states: BufferedStates<FoldedLead, LeadStateDocument>;
  /** Writes firings and suppressions with each fold, because queries show them. */
  readonly #shown: WriteBehind;
  /** Writes states, and before them the firings that are folded into them. */
  readonly #remembered: WriteBehind;

  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
    { cachedLeads }: { cachedLeads: number },
  ) {
    this.#fired = new BufferedInserts(readModel, firedEvents);
    this.#suppressions = new BufferedReplacements(readModel, suppressions);
    this.#states = new BufferedStates(readModel, {
      collection: leadStates,
      idOf: (key) => leadKey(leadOfCacheKey(key).ou_id, leadOfCacheKey(key).lead_id),
      toState: (document, key) => ({
        state: toLeadState(document, leadOfCacheKey(key)),
        offset: document.offset,
      }),
      toDocument: ({ state, offset }) => toLeadStateDocument(state, { partition, offset }),
      maximumCached: cachedLeads,
      spreadOverMs,
    });
    this.#shown = new WriteBehind([this.#fired, this.#suppressions], {
      maximumUnwritten: maximumUnwritten.firings,
    });
    this.#remembered = new WriteBehind([this.#shown, this.#states], {
      maximumUnwritten: maximumUnwritten.states,
    });
  }

  /** The states by cache key; null for a lead without events of firing. */
  load(leads: readonly LeadIdentity[]): Promise<Map<string, FoldedLead | null>> {
    return this.#states.load(leads.map(cacheKeyOf));
  }

  /** Waits while too many changes are unwritten. @throws the error of an earlier write */
  async room(): Promise<void> {
    await this.#shown.room();
    await this.#remembered.room();
  }

  /**
   * Adds the firings and suppressions of these events, and begins to write them.
   * @param forgotten leads that are forgotten with these events: their stored firings and suppressions are deleted
   */
  async show(recorded: readonly RecordedFiring[], forgotten: readonly ForgottenLead[]): Promise<void> {
    for (const one of recorded) this.#show(one);
    const written = this.#shown.write();
    if (forgotten.length === 0) return;
    await written;
    await deleteFirings(
      this.readModel,
      recorded.map(({ event }) => event),
    );
    await deleteSuppressions(this.readModel, forgotten);
  }

  #show({ event, json, offset }: RecordedFiring): void {
    const { partition } = this;
    if (isFired(event)) this.#fired.put(toFiredDocument(event.payload, json, partition));
    else if (event.type === 'TriggerSuppressed')
      this.#suppressions.put(toSuppressionDocument(event.payload, { partition, offset }));
  }

  /** Adds changed states; call `show` with their events first. */
  put(changed: ReadonlyMap<string, FoldedLead>): void {
    for (const [key, lead] of changed) this.#states.put(key, lead);
  }

  /** Resolves when the firings and suppressions added before this call are stored. */
  shown(): Promise<void> {
    return this.#shown.written();
  }

  /** Writes everything added before this call; states are spread over time until `awaited` is aborted. */
  write(awaited: AbortSignal): Promise<void> {
    return this.#remembered.write(awaited);
  }

  forget(): void {
    this.#remembered.forget();
  }

  async close(): Promise<void> {
    await this.#remembered.close();
    await this.#shown.close();
  }
}
