// The events of an OU in one period and partition, counted by type and cell. Pure.
import { Binary, bytesOf } from '@lead-scoring/read-model';
import type { EventPeriodDocument } from './documents.js';

/**
 * The most types in one document. A period with more is not counted, so that no producer of garbage makes large documents that each
 * batch writes anew; its events are counted from the documents of seconds.
 */
export const maximumTypes = 100;

// The layout of a count: cell, type, number of events.
const typeAt = 1;
const eventsAt = 2;
const countBytes = 6;

/** The counts of a period, changed in place, because this runs for every event. */
export class PeriodCounts {
  /** By type, a number for each cell. null: there were too many types. */
  #types: Map<string, number[]> | null;
  /** The offsets of the last completely folded record, and of the record that is being folded. */
  #folded: number;
  #current: number;

  constructor(
    private readonly cells: number,
    stored: EventPeriodDocument | null,
  ) {
    this.#types = stored?.has_too_many_types ? null : new Map<string, number[]>();
    if (stored)
      visitCounts(stored, (type, cell, events) => {
        this.#cellsOf(type)[cell] = events;
      });
    this.#folded = this.#current = stored?.offset ?? -1;
  }

  /**
   * Adds events of a record, or subtracts those of a deleted lead, unless the record is folded already. Records come in the order
   * of the log.
   * @param events negative to subtract
   * @returns whether the document changes
   */
  add(typeKey: string, cell: number, events: number, offset: number): boolean {
    if (!this.#types || offset <= this.#folded) return false;
    if (offset !== this.#current) {
      this.#folded = this.#current;
      this.#current = offset;
    }
    const counts = this.#cellsOf(typeKey);
    counts[cell] = (counts[cell] ?? 0) + events;
    if (events < 0 && counts.every((count) => count === 0)) this.#types.delete(typeKey);
    else if (this.#types.size > maximumTypes) this.#types = null;
    return true;
  }

  /** Takes all events of a type away, by a record at an offset. @returns whether the document changes */
  removeType(typeKey: string, offset: number): boolean {
    if (offset <= this.#current || this.#types?.delete(typeKey) !== true) return false;
    this.#folded = this.#current = offset;
    return true;
  }

  document(_id: Binary, partition: number): EventPeriodDocument {
    const types = [...(this.#types ?? [])];
    const filled = types.reduce((sum, [, counts]) => sum + counts.filter((count) => count > 0).length, 0);
    const bytes = Buffer.allocUnsafe(filled * countBytes);
    let at = 0;
    types.forEach(([, counts], type) => {
      counts.forEach((events, cell) => {
        if (events === 0) return;
        bytes.writeUInt8(cell, at);
        bytes.writeUInt8(type, at + typeAt);
        bytes.writeUInt32BE(events, at + eventsAt);
        at += countBytes;
      });
    });
    return {
      _id,
      types: types.map(([key]) => key),
      counts: new Binary(bytes, 0),
      ...(!this.#types && { has_too_many_types: true }),
      partition,
      offset: this.#current,
    };
  }

  #cellsOf(typeKey: string): number[] {
    const known = this.#types?.get(typeKey);
    if (known) return known;
    const cells = new Array<number>(this.cells).fill(0);
    this.#types?.set(typeKey, cells);
    return cells;
  }
}

/** Calls `visit` for each type and cell with events. */
export function visitCounts(
  { types, counts }: Pick<EventPeriodDocument, 'types' | 'counts'>,
  visit: (typeKey: string, cell: number, events: number) => void,
): void {
  const bytes = bytesOf(counts);
  for (let at = 0; at < bytes.length; at += countBytes)
    visit(types[bytes.readUInt8(at + typeAt)] ?? '', bytes.readUInt8(at), bytes.readUInt32BE(at + eventsAt));
}
