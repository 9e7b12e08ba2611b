// Errors of the gateway as HTML pages, for requests of pages by people.
import { sendProblem, type ProblemError } from '@lead-scoring/service';
import {
  pageHeaders,
  renderTooManyPage,
  renderUnavailablePage,
  renderUnknownPage,
} from '@lead-scoring/share-page';
import type { Request, Response } from 'express';

/** Makes the gateway answer errors of this request with an HTML page. */
export function problemsOnPage(res: Response): void {
  res.locals.problemsOnPage = true;
}

/** Sends a problem, as an HTML page if `problemsOnPage` was called for the answer. */
export function sendProblemOrPage(req: Request, res: Response, error: ProblemError): void {
  if (res.locals.problemsOnPage !== true || res.headersSent) {
    sendProblem(req, res, error);
    return;
  }
  res
    .status(error.status)
    .set({ ...error.headers, ...pageHeaders })
    .send(pageOf(error));
}

function pageOf({ status, headers }: ProblemError): string {
  if (status === 429) return renderTooManyPage(Number(headers['Retry-After'] ?? 60));
  return status >= 500 ? renderUnavailablePage() : renderUnknownPage();
}
