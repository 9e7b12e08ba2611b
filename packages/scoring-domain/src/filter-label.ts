// The wording of filters in answers, limited in length. Pure.

/** Maximum length of a filter label, in UTF-16 code units. Filters with long lists of long values would exceed it. */
const maximumLabel = 50_000;

export function shortenLabel(label: string, maximum = maximumLabel): string {
  return label.length <= maximum ? label : `${label.slice(0, maximum - 1).toWellFormed()}…`;
}
