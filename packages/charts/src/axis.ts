// The axis of whole numbers beside a plot: round numbers around the values.

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `1.2K`, `−5`. */
export function compactNumber(value: number): string {
  return compact.format(value).replace('-', '\u2212');
}

/** `12.5%`, for coordinates of an SVG that takes the width of its place. */
export function percent(value: number): string {
  return `${String(Math.round(value * 100) / 100)}%`;
}

/**
 * Round whole numbers at equal distances, in ascending order: the first is at most the lowest value, the last at least the
 * highest one. At most `count` distances, and one more where both ends have to be round.
 */
export function axisMarks(lowest: number, highest: number, count: number): number[] {
  const step = roundStep(Math.max(1, (highest - lowest) / count));
  const first = Math.floor(lowest / step);
  const last = Math.max(first + 1, Math.ceil(highest / step));
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is not smaller. */
function roundStep(distance: number): number {
  const power = 10 ** Math.floor(Math.log10(distance));
  return ([1, 2, 5, 10].find((factor) => factor * power >= distance) ?? 10) * power;
}
