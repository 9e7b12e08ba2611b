// What every HTTP surface of the system does alike: paths and queries that decode, 404 and 405 as problems.
import { context } from '@opentelemetry/api';
import { getRPCMetadata, RPCType } from '@opentelemetry/core';
import type { RequestHandler } from 'express';
import { ProblemError } from './problems.js';

/** First middleware: refuses a path that is not percent-encoded UTF-8, whether a route would look at it or not. */
export const checkPath: RequestHandler = (req, _res, next) => {
  if (req.path.includes('%')) decodeURIComponent(req.path);
  next();
};

/**
 * First handler of a route: names it in metrics and traces by its pattern, of which there are few, and not by its
 * path, of which there are many.
 * @param pattern as declared: `/leads/{id}`
 */
export function nameRoute(pattern: string): RequestHandler {
  return (_req, _res, next) => {
    const metadata = getRPCMetadata(context.active());
    if (metadata?.type === RPCType.HTTP) metadata.route = pattern;
    next();
  };
}

/** Last route: 404. */
export const notFound: RequestHandler = (req) => {
  throw new ProblemError(
    404,
    'route_not_found',
    `There is no ${req.path.slice(0, 200)} here. See /docs for what there is.`,
  );
};

/** After a path's handlers: 405 with what is allowed. */
export function methodNotAllowed(allowed: readonly string[]): RequestHandler {
  const methods = allowed.includes('GET') && !allowed.includes('HEAD') ? [...allowed, 'HEAD'] : [...allowed];
  const allow = methods.sort().join(', ');
  return (req) => {
    throw new ProblemError(405, 'method_not_allowed', `${req.method} is not allowed here; ${allow} is.`, {
      headers: { Allow: allow },
    });
  };
}

/**
 * The query of a URL, each parameter once, as plain text. Unlike express's own parser it makes no arrays or objects
 * and refuses what does not decode.
 * @param url path with query, as in `req.url`
 * @throws ProblemError 400
 */
export function parseQuery(url: string): Record<string, string> {
  const start = url.indexOf('?');
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  if (start === -1) return query;
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name in query)
      throw new ProblemError(400, 'invalid_request', `query.${name} must be given once.`, {
        errors: [{ path: `query.${name}`, message: 'must be given once' }],
      });
    query[name] = equals === -1 ? '' : decode(pair.slice(equals + 1));
  }
  return query;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new ProblemError(
      400,
      'malformed_query',
      'The query holds a % that does not start an encoded UTF-8 character. Encode it as %25.',
      { cause: error },
    );
  }
}
