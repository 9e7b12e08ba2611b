// The frame of every page: head, logo and style.
import { html, palette, styleElement, type Child, type Html } from '@lead-scoring/charts';
import { style } from './style.js';

export interface DocumentParts {
  title: string;
  /** True for pages with little text: it is set in large print. */
  roomy?: boolean;
  /** Further elements of the head. */
  head?: Child;
  /** Element at the top, right of the logo. */
  aside?: Child;
  main: Html;
  footer?: Html;
}

/** The logo: three bars on a common zero line. */
export const mark = html`<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
  <rect class="gain" x="9" y="3" width="13" height="4.6" rx="1.4" />
  <rect class="gain" x="9" y="9.7" width="8" height="4.6" rx="1.4" />
  <rect class="loss" x="2" y="16.4" width="7" height="4.6" rx="1.4" />
</svg>`;

/** The logo as the page's icon, in a data address, so that the page needs one request only. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g fill="${palette.light['gain-bar']}"><rect x="9" y="3" width="13" height="4.6" rx="1.4"/><rect x="9" y="9.7" width="8" height="4.6" rx="1.4"/></g><rect fill="${palette.light['loss-bar']}" x="2" y="16.4" width="7" height="4.6" rx="1.4"/></svg>`,
)}`;

/** A complete HTML document. */
export function htmlDocument({ title, roomy = false, head, aside, main, footer }: DocumentParts): Html {
  return html`<!doctype html>
    <html lang="en" ${roomy && html` class="roomy"`}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <meta name="robots" content="noindex, nofollow" />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="${palette.light.back}" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="${palette.dark.back}" media="(prefers-color-scheme: dark)" />
        <link rel="icon" href="${icon}" />
        ${head} ${styleElement(style)}
      </head>
      <body>
        <header class="top">
          <p class="brand">${mark}Lead score</p>
          ${aside}
        </header>
        <main>${main}</main>
        ${footer}
      </body>
    </html> `;
}
