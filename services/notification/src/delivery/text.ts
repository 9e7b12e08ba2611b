// Makes untrusted text (a lead chooses its own name) safe to show in messages: one line, bounded length, no markup or control
// characters that the displaying program would interpret.

// Control characters and line separators break lines and headers; marks of writing direction reorder the shown text; zero-width
// characters are invisible.
const unseen =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+/g;

/** The text as one line of at most `maximum` characters. */
export function oneLine(text: string, maximum: number): string {
  const line = text.toWellFormed().replace(unseen, ' ').replace(/ {2,}/g, ' ').trim();
  const characters = Array.from(line.slice(0, 2 * maximum + 2));
  return characters.length <= maximum ? line : `${characters.slice(0, maximum - 1).join('')}…`;
}

/** For text in HTML elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The three characters that Slack requires to be escaped: without them no mention and no link is possible. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
