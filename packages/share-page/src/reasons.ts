// The reasons of an explanation, as the page and the table show them.

/** A reason without the points in front, for a place that shows them by themselves: of `+20: the account meets …` the rest. */
export function withoutPoints(words: string): string {
  return words.replace(/^[+-]?\d+: /, '');
}
