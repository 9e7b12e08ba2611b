// A position in the log, as a 202 answer returns it and `min_position` accepts it: for some partitions, the offset up
// to which it reaches. Callers do not read it; the gateway encodes and decodes it, and the client merges the positions
// of several batches.

/** Offsets by partition number. */
export type Position = ReadonlyMap<number, bigint>;

/** Partition and offset, both in base 36, for each partition. */
export const positionForm = /^[0-9a-z]{1,4}-[0-9a-z]{1,13}(?:_[0-9a-z]{1,4}-[0-9a-z]{1,13})*$/;

/** Encodes a position in letters, digits, - and _ only, so that it needs no encoding in a URL. */
export function encodePosition(position: Position): string {
  return [...position]
    .sort(([a], [b]) => a - b)
    .map(([partition, offset]) => `${partition.toString(36)}-${offset.toString(36)}`)
    .join('_');
}

/** Decodes the text of encodePosition; null for any other text. */
export function decodePosition(text: string): Position | null {
  if (text.length > 2_000 || !positionForm.test(text)) return null;
  const position = new Map<number, bigint>();
  for (const part of text.split('_')) {
    const [partition = '', offset = ''] = part.split('-');
    const number = parseInt(partition, 36);
    if (position.has(number)) return null;
    position.set(number, bigintOf(offset));
  }
  return position;
}

/** The position that reaches as far as both. */
export function laterPosition(a: Position, b: Position): Position {
  const joined = new Map(a);
  for (const [partition, offset] of b) {
    const known = joined.get(partition);
    if (known === undefined || known < offset) joined.set(partition, offset);
  }
  return joined;
}

function bigintOf(base36: string): bigint {
  let value = 0n;
  for (const digit of base36) value = value * 36n + BigInt(parseInt(digit, 36));
  return value;
}
