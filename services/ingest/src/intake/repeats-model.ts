// Tells the repeats in a batch from events that come for the first time, and counts them. Pure.
import type { records } from '@lead-scoring/contracts';
import { bodyOf, differs, type EventBody } from '../repeats/differs-model.js';
import type { IntakeEvent } from './messages.js';
import { eventKey, type StoredRepeats } from './state.js';

type ChunkEvent = records.ChunkEvent;

/** The key under which an event is looked for; null where the event cannot come again. */
export function repeatKeyOf({ may_repeat, lead_id, id }: ChunkEvent): string | null {
  return may_repeat === true ? eventKey(lead_id, id) : null;
}

export class BatchRepeats {
  /** Events kept in this batch, by `repeatKeyOf`; null where only the id is known. */
  readonly #kept = new Map<string, { event: ChunkEvent; received_at: string } | null>();
  /** By batch. */
  readonly #dropped = new Map<string, records.RepeatsDropped>();

  constructor(private readonly stored: StoredRepeats) {}

  isRepeat(key: string): boolean {
    return this.stored.has(key) || this.#kept.has(key);
  }

  keep(key: string, event: ChunkEvent, { received_at }: records.IngestEvents): void {
    this.#kept.set(key, { event, received_at });
  }

  /** Notes events that were counted at another lead. */
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

  /** One for each batch of events that had repeats. */
  events(): IntakeEvent[] {
    return [...this.#dropped.values()].map((payload) => ({ type: 'RepeatsDropped', payload }));
  }

  /** What the event said that is kept under this key. */
  #firstOf(key: string): EventBody | null {
    const kept = this.#kept.get(key);
    return kept ? bodyOf(kept.event, kept.received_at) : (this.stored.get(key) ?? null);
  }
}
