// A value in a template stays text: it cannot become markup, and a parser reads it back unchanged.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { html, styleElement, textOf, type Child } from './html.js';

const written = (child: Child) => textOf(html`${child}`);

const readBack = (text: string) =>
  text
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

describe('a template', () => {
  test('escapes text, in elements and in attributes', () => {
    expect(textOf(html`<b title="${'"><i>'}">${"<script>'`&"}</b>`)).toBe(
      '<b title="&#34;&gt;&lt;i&gt;">&lt;script&gt;&#39;&#96;&amp;</b>',
    );
  });

  test('keeps the markup of other templates, in lists too, and leaves out what is not there', () => {
    const items = ['a', '<'].map((item) => html`<li>${item}</li>`);
    const list = html`<ul>
      ${items}${undefined}${false}${7}
    </ul>`;
    expect(textOf(list)).toBe('<ul>\n<li>a</li><li>&lt;</li>7\n</ul>');
  });

  test('lets no character of any text through that could begin or end markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(written(text)).not.toMatch(/[<>"'`]|&(?!(amp|lt|gt|#34|#39|#96);)/);
      }),
    );
  });

  test('is read back as the text that was put in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(readBack(written(text))).toBe(text.replace(/[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F]/g, '\uFFFD')); // oxlint-disable-line no-control-regex -- the pattern removes them
      }),
    );
  });

  test('shows what has no place in a document as a replacement character', () => {
    expect(written('a\0b\u001b\ud800c\uffff')).toBe('a\ufffdb\ufffd\ufffdc\ufffd');
  });

  test('takes nothing for markup that merely looks like it', () => {
    const forged = { content: '<script>' } as unknown as Child;
    expect(() => written(forged)).toThrow();
  });
});

test('a style sheet that would end its own element is refused', () => {
  expect(() => styleElement('b{}</style><script>')).toThrow('cannot end');
});
