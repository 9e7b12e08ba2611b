// Marks in the log: the position of a 202, and what a read waits for (DESIGN.md, "The way of an event").

/** A place in one partition of a topic. */
export interface PartitionOffset {
  partition: number;
  offset: bigint;
}

/**
 * The `position` of a 202, opaque to callers: for each partition of ingest.commands that the batch was written to,
 * the offset of its last record there. Numbers of variable length, so that it stays short.
 */
export function encodePosition(offsets: readonly PartitionOffset[]): string {
  const bytes: number[] = [];
  const push = (value: bigint) => {
    let rest = value;
    while (rest > 0x7fn) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
  };
  for (const { partition, offset } of [...offsets].sort((a, b) => a.partition - b.partition)) {
    push(BigInt(partition));
    push(offset);
  }
  return Buffer.from(bytes).toString('base64url');
}

/** What `encodePosition` made, or null for a text that it did not make. */
export function decodePosition(position: string): PartitionOffset[] | null {
  const bytes = Buffer.from(position, 'base64url');
  if (bytes.length === 0 || bytes.toString('base64url') !== position) return null;
  const numbers: bigint[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of bytes) {
    value |= BigInt(byte & 0x7f) << shift;
    if (byte & 0x80) {
      shift += 7n;
      if (shift > 56n) return null;
      continue;
    }
    numbers.push(value);
    value = 0n;
    shift = 0n;
  }
  if (shift !== 0n || numbers.length % 2 !== 0) return null;
  const offsets: PartitionOffset[] = [];
  for (let index = 0; index < numbers.length; index += 2) {
    const partition = Number(numbers[index] ?? 0n);
    if (partition > 100_000 || offsets.some((known) => known.partition === partition)) return null;
    offsets.push({ partition, offset: numbers[index + 1] ?? 0n });
  }
  return offsets;
}

/**
 * The header by which the gateway tells a service what a read must wait for: positions in that service's input, each
 * the next offset that must have been reached. Written `partition:offset` with commas between: `0:17,4:230`.
 */
export const minimumPositionsHeader = 'x-min-positions';

export function formatPositions(offsets: readonly PartitionOffset[]): string {
  return offsets.map(({ partition, offset }) => `${String(partition)}:${String(offset)}`).join(',');
}

/** What `formatPositions` made, or null for anything else. An empty text is no positions: nothing to wait for. */
export function parsePositions(text: string): PartitionOffset[] | null {
  if (text === '') return [];
  if (!/^\d{1,6}:\d{1,18}(,\d{1,6}:\d{1,18})*$/.test(text)) return null;
  return text.split(',').map((pair) => {
    const [partition = '', offset = ''] = pair.split(':');
    return { partition: Number(partition), offset: BigInt(offset) };
  });
}
