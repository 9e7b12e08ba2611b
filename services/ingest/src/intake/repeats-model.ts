// Finds the repeats in a batch, and counts them. Pure.
import type { records } from '@lead-scoring/contracts';
import { bodyOf, differs, type EventBody } from '../repeats/body-model.js';
import type { IntakeEvent } from './messages.js';
import { eventKey, type LookedUpAliases, type StoredRepeats } from './state.js';

type ChunkEvent = records.ChunkEvent;

/** The key by which repeats of an event are found; null when the event cannot come again. */
export function repeatKeyOf({ may_repeat, lead_id, id }: ChunkEvent): string | null {
  return may_repeat === true ? eventKey(lead_id, id) : null;
}

/** Whether an event is sent by one lead to another, or back: the lead that takes it may have had it before it ended last. */
export function isOfPast({ is_past }: ChunkEvent): boolean {
  return is_past === true;
}

export class BatchRepeats {
  /** The events kept in this batch, by `repeatKeyOf`; null when only the id is known. */
  readonly #kept = new Map<string, { event: ChunkEvent; received_at: string } | null>();
  /** Dropped repeats by batch id. */
  readonly #dropped = new Map<string, records.RepeatsDropped>();

  constructor(
    private readonly stored: StoredRepeats,
    private readonly known: Pick<LookedUpAliases, 'keptSince'>,
  ) {}

  /** @param isPast see `isOfPast`: then only what the lead has kept since its last end counts */
  isRepeat(key: string, isPast: boolean): boolean {
    return this.#kept.has(key) || (isPast ? this.known.keptSince.has(key) : this.stored.has(key));
  }

  keep(key: string, event: ChunkEvent, { received_at }: records.IngestEvents): void {
    this.#kept.set(key, { event, received_at });
  }

  /** Adds the ids of events that were counted under another lead. */
  remember({ lead_id, event_ids }: records.RememberEvents): void {
    for (const id of event_ids) this.#kept.set(eventKey(lead_id, id), null);
  }

  drop(key: string, event: ChunkEvent, { ou_id, batch_id, received_at }: records.IngestEvents): void {
    const { lead_id } = event;
    const dropped = this.#dropped.get(batch_id) ?? { ou_id, lead_id, batch_id, count: 0 };
    dropped.count += 1;
    const first = this.#firstOf(key);
    if (first && differs(first, bodyOf(event, received_at))) dropped.differing = (dropped.differing ?? 0) + 1;
    this.#dropped.set(batch_id, dropped);
  }

  /** One event for each batch with repeats. */
  events(): IntakeEvent[] {
    return [...this.#dropped.values()].map((payload) => ({ type: 'RepeatsDropped', payload }));
  }

  /** The body of the kept or stored event with this key; null when it was not read. */
  #firstOf(key: string): EventBody | null {
    const kept = this.#kept.get(key);
    return kept ? bodyOf(kept.event, kept.received_at) : (this.stored.get(key) ?? null);
  }
}
