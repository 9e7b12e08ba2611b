// The pages behind the link of an invitation: what it is for, with a button, and the first token. Opening the first page changes
// nothing, because mail programs open links before people do.
import { html, momentInWords } from '@lead-scoring/charts';
import { notice } from './render-notice-pages.js';

export interface ShownInvitation {
  organisation: string;
  name: string;
  email: string;
  role: string;
  expiresAt: string;
}

export function renderInvitationPage({
  organisation,
  name,
  email,
  role,
  expiresAt,
}: ShownInvitation): string {
  return notice({
    title: `Join ${organisation}`,
    lead: html`${name}, you were invited as ${role}, with the address ${email}.`,
    rest: html`<p class="dim">
        There is no password. You get a token of your own, which you see once; with it you make others. This
        link can be used once, until <time datetime="${expiresAt}">${momentInWords(expiresAt)}</time>.
      </p>
      <form method="post"><button class="button" type="submit">Join and show my token</button></form>`,
  });
}

/** The token is in the page alone, which no cache keeps. */
export function renderFirstTokenPage({ name, token }: { name: string; token: string }): string {
  return notice({
    title: 'You have joined',
    lead: html`${name}, this is your token. It is shown this once: keep it where you keep passwords.`,
    rest: html`<p><code>${token}</code></p>
      <p class="dim">
        Send it with every call as <code>Authorization: Bearer &lt;token&gt;</code>. With it you can make
        further tokens, and end this one: POST and DELETE /settings/tokens.
      </p>`,
  });
}
