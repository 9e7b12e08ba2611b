// HTML that is escaped by construction: markup comes from templates only, and every value in a template is text.

const content = Symbol('content');

/** Markup made by a template. No other value can become markup. */
export interface Html {
  readonly [content]: string;
}

/** Values in a template: text and numbers are escaped, markup stays, false and undefined are left out. */
export type Child = string | number | false | undefined | Html | readonly Child[];

/**
 * Template tag: `html`<b title="${title}">${name}</b>``. Values in attributes must be in double quotes. No value may be
 * in a script, in a style, or in the name of a tag or attribute.
 */
export function html(parts: TemplateStringsArray, ...children: Child[]): Html {
  return {
    [content]: sourceOf(parts).reduce((before, part, index) => before + markupOf(children[index - 1]) + part),
  };
}

const sources = new WeakMap<TemplateStringsArray, string[]>();

/** The template without the indentation of the source code. */
function sourceOf(parts: TemplateStringsArray): string[] {
  let source = sources.get(parts);
  if (!source) {
    source = parts.map((part) => part.replace(/\n\s*/g, '\n'));
    sources.set(parts, source);
  }
  return source;
}

/** A style sheet as an element. Its text must be a constant, because it is not escaped. */
export function styleElement(sheet: string): Html {
  if (sheet.includes('</')) throw new Error('a style sheet cannot end its own element');
  return { [content]: `<style>${sheet}</style>` };
}

/** The markup as text, to be sent. */
export function textOf(markup: Html): string {
  return markup[content];
}

function markupOf(child: Child): string {
  if (child === undefined || child === false) return '';
  if (typeof child === 'string') return escape(child);
  if (typeof child === 'number') return String(child);
  return content in child ? child[content] : child.map(markupOf).join('');
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
  '`': '&#96;',
};

/** Control characters, lone surrogates and code points that are not characters are not allowed in a document. */
const forbidden = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\uFFFE\uFFFF]|\p{Surrogate}/gu; // oxlint-disable-line no-control-regex -- the pattern removes them

function escape(text: string): string {
  return text
    .replace(forbidden, '\uFFFD')
    .replace(/[&<>"'`]/g, (character) => entities[character] ?? character);
}
