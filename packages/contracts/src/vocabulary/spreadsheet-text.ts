// Texts in cells of a spreadsheet, which runs some of them as formulas. Pure.

/** Spreadsheets run a text that begins with one of these as a formula, also with those of full width, or after a line break. */
const runs = /^'*[=+\-@\t\r\n＝＋－＠]/;
const hasApostrophe = /^'+[=+\-@\t\r\n＝＋－＠]/;

/** The text with an apostrophe in front where a spreadsheet would run it, or where it would lose its own apostrophe when it is read. */
export function withApostrophe(text: string): string {
  return runs.test(text) ? `'${text}` : text;
}

/** The text that `withApostrophe` was given. */
export function withoutApostrophe(text: string): string {
  return hasApostrophe.test(text) ? text.slice(1) : text;
}
