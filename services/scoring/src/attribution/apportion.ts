// Shares a whole number in whole parts that add up to it: pure.

/**
 * The largest remainder method: each weight gets its share rounded towards zero, and what is left goes, one each, to the largest
 * remainders; of equal ones to the earlier.
 * @param weights not negative, and not all 0
 * @returns parts that add up to `total`, each with its sign
 */
export function apportion(total: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((before, weight) => before + weight, 0n);
  const [size, sign] = total < 0n ? [-total, -1n] : [total, 1n];
  const parts = weights.map((weight) => (size * weight) / sum);
  const remainders = weights.map((weight, index) => ({ index, remainder: (size * weight) % sum }));
  let left = size - parts.reduce((before, part) => before + part, 0n);
  remainders.sort((one, other) =>
    one.remainder === other.remainder ? one.index - other.index : one.remainder > other.remainder ? -1 : 1,
  );
  for (const { index } of remainders) {
    if (left === 0n) break;
    parts[index] = (parts[index] ?? 0n) + 1n;
    left -= 1n;
  }
  return parts.map((part) => sign * part);
}

/** Decimal places of credit, and of amounts. */
export const creditPlaces = 6;
export const amountPlaces = 4;

/** An amount in whole units of its last decimal place. */
export function amountUnits(amount: number): bigint {
  const scale = 10 ** amountPlaces;
  const whole = Math.trunc(amount);
  return BigInt(whole) * BigInt(scale) + BigInt(Math.round((amount - whole) * scale));
}

/** The number that so many units of the last decimal place are. */
export function numberOf(units: bigint, places: number): number {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const size = Number(`${digits.slice(0, -places)}.${digits.slice(-places)}`);
  return units < 0n ? -size : size;
}
