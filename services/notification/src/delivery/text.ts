// Text of strangers (a lead chooses its own name) as messages may show it: it stays on its line, takes no more room than
// it should, and no program that displays it finds a command in it.

// Control characters and line separators break lines and headers; marks of writing direction make text read as another;
// zero-width characters hide in it.
const unseen =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+/g;

/** One line of at most so many characters. */
export function oneLine(text: string, maximum: number): string {
  const line = text.toWellFormed().replace(unseen, ' ').replace(/ {2,}/g, ' ').trim();
  const characters = Array.from(line.slice(0, 2 * maximum + 2));
  return characters.length <= maximum ? line : `${characters.slice(0, maximum - 1).join('')}…`;
}

/** Inside of HTML elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** What Slack asks for in text that it reads markup in: without these three no mention, no link. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
