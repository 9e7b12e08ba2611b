// What goes wrong at the gateway with a page for people, told on a page: they have no use for JSON.
import { sendProblem, type ProblemError } from '@lead-scoring/service';
import {
  pageHeaders,
  renderTooManyPage,
  renderUnavailablePage,
  renderUnknownPage,
} from '@lead-scoring/share-page';
import type { Request, Response } from 'express';

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
  res
    .status(error.status)
    .set({ ...error.headers, ...pageHeaders })
    .send(pageOf(error));
}

function pageOf({ status, headers }: ProblemError): string {
  if (status === 429) return renderTooManyPage(Number(headers['Retry-After'] ?? 60));
  return status >= 500 ? renderUnavailablePage() : renderUnknownPage();
}
