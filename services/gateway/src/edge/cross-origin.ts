// Lets pages of any origin send to a route. Browsers send no cookies along, and may read the answer: it says nothing that the sender does
// not know.
import type { RequestHandler } from 'express';

/** Headers that the clients of Segment send; the asterisk covers others, but not Authorization. */
const allowedHeaders = 'Authorization, Content-Type, Content-Encoding, X-Retry-Count, *';
/** For a day; browsers shorten it. */
const preflightSeconds = '86400';

/** Sets the headers of every answer. */
export const allowAnyOrigin: RequestHandler = (_req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*');
  res.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id');
  next();
};

/** Answers the question of a browser whether a page may send. Other requests with the method OPTIONS are passed on. */
export function answerPreflight(methods: readonly string[]): RequestHandler {
  return (req, res, next) => {
    if (req.headers['access-control-request-method'] === undefined) {
      next();
      return;
    }
    res.setHeader('Access-Control-Allow-Methods', methods.join(', '));
    res.setHeader('Access-Control-Allow-Headers', allowedHeaders);
    res.setHeader('Access-Control-Max-Age', preflightSeconds);
    res.statusCode = 204;
    res.end();
  };
}
