// The line of a file that each event came from, in bounded memory: events of lines that follow each other share one entry.

/** Entries, of two numbers each. Only a file whose lines give several events, or span several lines, needs one for each of them. */
const maximumEntries = 500_000;

export class SourceLines {
  readonly #indexes: number[] = [];
  readonly #lines: number[] = [];
  #count = 0;

  constructor(private readonly maximum = maximumEntries) {}

  /** The next event came from this line. */
  add(line: number): void {
    const index = this.#count;
    this.#count += 1;
    const last = this.#indexes.length - 1;
    const follows = last >= 0 && (this.#lines[last] ?? 0) + index - (this.#indexes[last] ?? 0) === line;
    // One entry more ends the last run that is known.
    if (follows || this.#indexes.length > this.maximum) return;
    this.#indexes.push(index);
    this.#lines.push(line);
  }

  /** The line of the event with this index; null: it was not read yet, or is behind what memory holds. */
  of(index: number): number | null {
    if (index < 0 || index >= this.#count) return null;
    let [from, to] = [0, this.#indexes.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#indexes[middle] ?? 0) <= index) from = middle + 1;
      else to = middle;
    }
    const at = from - 1;
    if (at < 0 || at >= this.maximum) return null;
    return (this.#lines[at] ?? 0) + index - (this.#indexes[at] ?? 0);
  }
}
