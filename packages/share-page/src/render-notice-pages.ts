// Pages without an explanation: each says what happened, and what to do.
import { countInWords, html, momentInWords, textOf, type Child } from '@lead-scoring/charts';
import { htmlDocument, mark } from './document.js';

/** 410: the link has expired after its seven days. */
export function renderExpiredPage(expiresAt: string): string {
  return notice({
    title: 'This link has ended',
    lead: html`It could be opened until <time datetime="${expiresAt}">${momentInWords(expiresAt)}</time>.`,
    rest: html`<p class="dim">
      Links to a score last seven days, so that what they show does not stay open for ever. Whoever sent you
      this one can make a new link in a moment: just ask.
    </p>`,
  });
}

/** 404: the token is unknown, or the link was revoked. */
export function renderUnknownPage(): string {
  return notice({
    title: 'There is nothing behind this link',
    lead: 'It may have been copied only in part, or it was withdrawn by its sender.',
    rest: html`<ul class="dim">
      <li>Open it once more from the message that it came in, or copy the whole of it.</li>
      <li>If that does not help, ask the sender for a new link.</li>
    </ul>`,
  });
}

/** 503: the page cannot be made now. */
export function renderUnavailablePage(): string {
  return notice({
    title: 'The score cannot be shown just now',
    lead: 'This is on our side, and your link is fine.',
    rest: html`<p class="dim">It usually passes within a minute or two.</p>
      <a class="button" href="">Try again</a>`,
  });
}

/** 429: too many requests came from the reader's address. */
export function renderTooManyPage(retryAfterSeconds: number): string {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds));
  const wait =
    seconds < 90 ? countInWords(seconds, 'second') : countInWords(Math.ceil(seconds / 60), 'minute');
  return notice({
    title: 'A short pause, please',
    lead: `Too many pages were opened from your network. This one can be opened again in ${wait}.`,
    rest: html`<p class="dim">Your link is fine. Others who share your connection may have used it, too.</p>
      <a class="button" href="">Try again</a>`,
  });
}

/** A page that says one thing, and what to do. */
export function notice({ title, lead, rest }: { title: string; lead: Child; rest: Child }): string {
  return textOf(
    htmlDocument({
      title,
      main: html`<section class="notice">
        ${mark}
        <h1>${title}</h1>
        <p class="lead">${lead}</p>
        ${rest}
      </section>`,
    }),
  );
}
