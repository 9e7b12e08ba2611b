// What goes wrong at the gateway with a page for people, told on a page: they have no use for JSON.
import { createHash } from 'node:crypto';
import { problemTypeOf } from '@lead-scoring/contracts';
import { sendProblem, type ProblemError } from '@lead-scoring/service';
import type { Request, Response } from 'express';

const style =
  ':root{color-scheme:light dark}body{font:1.125rem/1.5 system-ui,sans-serif;max-width:36rem;margin:20vh auto 0;padding:0 1.5rem}h1{font-size:1.75rem;line-height:1.2}';
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** From here on, problems with this request are told on a page. */
export function problemsOnPage(res: Response): void {
  res.locals.problemsOnPage = true;
}

/** Sends a problem, on a page to whom `problemsOnPage` was said. */
export function sendProblemOrPage(req: Request, res: Response, error: ProblemError): void {
  if (res.locals.problemsOnPage !== true || res.headersSent) {
    sendProblem(req, res, error);
    return;
  }
  const { title } = problemTypeOf(error.code);
  res
    .status(error.status)
    .set({ ...error.headers })
    .set('Content-Security-Policy', contentSecurityPolicy)
    .type('html')
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><style>${style}</style><main><h1>${title}</h1><p>${whatToDo(error)}</p></main></html>`,
    );
}

function whatToDo({ status, headers }: ProblemError): string {
  const seconds = headers['Retry-After'];
  if (status === 429)
    return `Too many requests came from your address. Open the link again in ${seconds ?? '60'} seconds.`;
  if (status >= 500) return 'This is on our side and mostly passes soon. Open the link again in a minute.';
  return 'Check that the link is whole: it must be opened exactly as it was sent to you.';
}
