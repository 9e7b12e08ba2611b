// Counts the events of records that were written and not read yet. Pure.

interface UnreadRecord {
  offset: bigint;
  events: number;
}

export class UnreadRecords {
  readonly #byPartition = new Map<number, UnreadRecord[]>();
  #events = 0;

  /** The number of events in all unread records. */
  get events(): number {
    return this.#events;
  }

  add(partition: number, offset: bigint, events: number): void {
    const records = this.#byPartition.get(partition);
    if (records) records.push({ offset, events });
    else this.#byPartition.set(partition, [{ offset, events }]);
    this.#events += events;
  }

  /** @param next the next offset that the reader reads; -1 where it has read nothing */
  readUpTo(partition: number, next: bigint): void {
    const records = this.#byPartition.get(partition);
    if (!records) return;
    const unread = records.filter(({ offset }) => offset >= next);
    for (const { offset, events } of records) if (offset < next) this.#events -= events;
    if (unread.length > 0) this.#byPartition.set(partition, unread);
    else this.#byPartition.delete(partition);
  }
}
