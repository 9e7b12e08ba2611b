// Scores over time as the steps of a plot: a score stays the same until its next change.

/** A place in a plot, in the units of the plot. */
export interface Place {
  x: number;
  y: number;
}

/** The path `y H x V y … H end`, to be put after the command that goes to its start: `M0 ` or `M0 100V`. */
export function stepsPath(places: readonly Place[], end: number): string {
  let path = '';
  let before: number | undefined;
  for (const { x, y } of places) {
    if (before === undefined) path = String(y);
    else if (y !== before) path += `H${String(x)}V${String(y)}`;
    before = y;
  }
  return `${path}H${String(end)}`;
}

/** The smallest and the largest of the values. */
export function extremes(values: readonly number[]): [lowest: number, highest: number] {
  return values.reduce<[number, number]>(
    ([lowest, highest], value) => [Math.min(lowest, value), Math.max(highest, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}
