// What a partition's triggers remember of leads, and what queries show of firings and silences: folded in memory, written behind.
import { leadKey } from '@lead-scoring/explanations';
import {
  BufferedInserts,
  BufferedReplacements,
  BufferedStates,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import { leadNamed, nameOf, type LeadName } from './accounts.js';
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

/** An own event as the partition folds it. */
export interface RecordedFiring {
  readonly event: FiringEvent;
  /** The payload as it is on the log. */
  readonly json: Buffer;
  readonly offset: number;
}

export interface FoldedLead {
  readonly state: LeadState;
  /** Offset of the last own event in the state. */
  readonly offset: number;
}

/** Unwritten firings, and unwritten states, above which a fold waits. */
const maximumUnwritten = { firings: 2_000, states: 30_000 };
/**
 * Time over which the states are written while nobody waits for them, in milliseconds. Written in one go, they would slow down
 * the batches that are decided meanwhile for several seconds.
 */
const spreadOverMs = 20_000;

export class FiringStore {
  readonly #fired: BufferedInserts<FiredDocument>;
  readonly #suppressions: BufferedReplacements<SuppressionDocument>;
  /** By name of the lead. They change with nearly every event, and are written once for many changes. */
  readonly #states: BufferedStates<FoldedLead, LeadStateDocument>;
  /** Writes firings and silences with each fold: queries show them. */
  readonly #shown: WriteBehind;
  /** Writes the states, and before them the firings that they remember. */
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
      idOf: (name) => leadKey(leadNamed(name).ou_id, leadNamed(name).lead_id),
      toState: (document, name) => ({
        state: toLeadState(document, leadNamed(name)),
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

  /** The states by name of the lead; null where nothing was recorded of a lead. */
  load(leads: readonly LeadName[]): Promise<Map<string, FoldedLead | null>> {
    return this.#states.load(leads.map(nameOf));
  }

  /** Waits while too much is unwritten. @throws the error of an earlier write */
  async room(): Promise<void> {
    await this.#shown.room();
    await this.#remembered.room();
  }

  /**
   * Puts in what these events show to queries, and begins to write it.
   * @param forgotten leads that are forgotten with these events: what is stored of them is deleted
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
    if (isFired(event)) this.#fired.put(toFiredDocument(event, json, partition));
    else if (event.type === 'TriggerSuppressed')
      this.#suppressions.put(toSuppressionDocument(event.payload, { partition, offset }));
  }

  /** Puts in changed states, after what their events show. */
  put(changed: ReadonlyMap<string, FoldedLead>): void {
    for (const [name, lead] of changed) this.#states.put(name, lead);
  }

  /** Resolves when everything that queries show of the events folded as of this call is stored. */
  shown(): Promise<void> {
    return this.#shown.written();
  }

  /** Writes everything folded as of this call, the states spread out over time until `awaited` is aborted. */
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
