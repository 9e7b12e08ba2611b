// Counts the events of a batch by the credential that has sent them. Pure.
import type { records } from '@lead-scoring/contracts';
import type { IntakeEvent } from './messages.js';

type Command = Pick<records.IngestEvents, 'ou_id' | 'sent_by' | 'received_at'>;

/** The length of a time's part that names the hour: `2026-01-01T12`. */
const hourLength = 13;

export class SenderCounts {
  /** By OU, hour and sender. */
  readonly #counts = new Map<string, records.EventsCounted>();

  /** Counts an event that is recorded. One that nobody has sent now, such as one of a past that moves, was counted before. */
  keep(leadId: string, command: Command): void {
    const counted = this.#of(leadId, command);
    if (counted) counted.events += 1;
  }

  /** Counts an event that had come before. */
  drop(leadId: string, command: Command): void {
    const counted = this.#of(leadId, command);
    if (counted) counted.repeats += 1;
  }

  events(): IntakeEvent[] {
    return [...this.#counts.values()].map((payload) => ({ type: 'EventsCounted', payload }));
  }

  #of(lead_id: string, { ou_id, sent_by, received_at }: Command): records.EventsCounted | null {
    if (sent_by === undefined) return null;
    const key = `${ou_id}${received_at.slice(0, hourLength)}${sent_by}`;
    const known = this.#counts.get(key);
    if (known) return known;
    const counted = { ou_id, lead_id, sent_by, received_at, events: 0, repeats: 0 };
    this.#counts.set(key, counted);
    return counted;
  }
}
