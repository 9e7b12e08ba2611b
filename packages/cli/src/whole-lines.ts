// Divides the bytes of an export into whole lines, and finds the cursor of the last one. Pure.

export type ExportFormat = 'csv' | 'ndjson';

const [quote, lineFeed] = [0x22, 0x0a];

/** The whole lines of parts that may end anywhere. In CSV a line may hold line breaks, within quotes. */
export class WholeLines {
  #rest: Uint8Array = Buffer.alloc(0);
  #isQuoted = false;

  constructor(private readonly format: ExportFormat) {}

  /** The lines that the part completes, and their number; the rest is kept for the next part. */
  take(part: Uint8Array): { bytes: Buffer; lines: number } {
    const bytes = Buffer.concat([this.#rest, part]);
    let end = 0;
    let lines = 0;
    for (let at = this.#rest.length; at < bytes.length; at += 1) {
      if (bytes[at] === quote && this.format === 'csv') this.#isQuoted = !this.#isQuoted;
      else if (bytes[at] === lineFeed && !this.#isQuoted) {
        end = at + 1;
        lines += 1;
      }
    }
    this.#rest = bytes.subarray(end);
    return { bytes: bytes.subarray(0, end), lines };
  }
}

/** The cursor of the last of these lines; null when that is the header, or there is none. */
export function cursorIn(lines: Buffer, format: ExportFormat): string | null {
  if (format === 'csv') {
    const last = lines
      .subarray(lines.lastIndexOf(',') + 1)
      .toString()
      .trimEnd();
    return /^[A-Za-z0-9_-]{20,}$/.test(last) ? last : null;
  }
  const text = lines.toString().trimEnd();
  if (text === '') return null;
  const { cursor } = JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as { cursor?: unknown };
  return typeof cursor === 'string' ? cursor : null;
}
