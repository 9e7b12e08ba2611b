// A HyperLogLog sketch: estimates how many different leads were put into it, with a standard error of 1.6 %, in 4 KiB whatever
// their number. Putting a lead in twice, or sketches together in any order, gives the same sketch. Pure.

/** 2 ^ registerBits registers: the standard error is 1.04 / √registers. */
const registerBits = 12;
const registers = 2 ** registerBits;
/** A lead's mark: bits that are as good as random, since the id of a lead is a hash. */
export const markBits = 52;
/** The bits of a mark that do not choose its register. */
const rankBits = markBits - registerBits;
const rankSize = 2 ** rankBits;

/** For each register the highest rank that was put into it; 0: none. */
export type Sketch = Uint8Array;

/**
 * The mark of a lead, a whole number below 2 ^ 52: the first twelve hexadecimal digits of its id, and the one behind that of the
 * version.
 */
export function markOf(leadId: string): number {
  let mark = 0;
  for (let at = 0; at < 16; at += 1) {
    // The hyphens are at 8 and 13, the version at 14.
    if (at === 8 || at === 13 || at === 14) continue;
    mark = mark * 16 + hexadecimalDigit(leadId.charCodeAt(at));
  }
  return mark;
}

/** @param code of 0 to 9, a to f or A to F */
function hexadecimalDigit(code: number): number {
  return code < 58 ? code - 48 : (code | 32) - 87;
}

export function sketchOf(marks: Iterable<number>): Sketch {
  const sketch = new Uint8Array(registers);
  for (const mark of marks) put(sketch, mark);
  return sketch;
}

export function sketchesTogether(one: Sketch, other: Sketch): Sketch {
  return one.map((rank, register) => Math.max(rank, other[register] ?? 0));
}

/** Whether a mark would change the sketch. */
export function changes(sketch: Sketch, mark: number): boolean {
  return (sketch[registerOf(mark)] ?? 0) < rankOf(mark);
}

/** Puts a mark into the sketch itself. */
export function put(sketch: Sketch, mark: number): void {
  const register = registerOf(mark);
  sketch[register] = Math.max(sketch[register] ?? 0, rankOf(mark));
}

function registerOf(mark: number): number {
  return Math.floor(mark / rankSize);
}

/** One more than the number of zeros before the first one: a rank of n has the probability 2 ^ -n. */
function rankOf(mark: number): number {
  const rest = mark % rankSize;
  return rest === 0 ? rankBits + 1 : rankBits - Math.floor(Math.log2(rest));
}

/** How many leads were put in: the estimator of Otmar Ertl (arXiv 1702.01284), which has no bias at any number. */
export function estimate(sketch: Sketch): number {
  const counts = new Array<number>(rankBits + 2).fill(0);
  for (const rank of sketch) counts[rank] = (counts[rank] ?? 0) + 1;
  let sum = registers * tau(1 - (counts[rankBits + 1] ?? 0) / registers);
  for (let rank = rankBits; rank >= 1; rank -= 1) sum = (sum + (counts[rank] ?? 0)) / 2;
  sum += registers * sigma((counts[0] ?? 0) / registers);
  return Math.round(registers ** 2 / (2 * Math.LN2 * sum));
}

/** x + the sum of x ^ (2 ^ k) · 2 ^ (k - 1) over k from 1. */
function sigma(x: number): number {
  if (x === 1) return Infinity;
  let sum = x;
  for (let power = x, factor = 1, before = -1; sum !== before; factor *= 2) {
    power *= power;
    before = sum;
    sum += power * factor;
  }
  return sum;
}

/** A third of 1 - x less the sum of (1 - x ^ (2 ^ -k)) ^ 2 · 2 ^ -k over k from 1. */
function tau(x: number): number {
  if (x === 0 || x === 1) return 0;
  let sum = 1 - x;
  for (let root = x, factor = 0.5, before = -1; sum !== before; factor /= 2) {
    root = Math.sqrt(root);
    before = sum;
    sum -= (1 - root) ** 2 * factor;
  }
  return sum / 3;
}
