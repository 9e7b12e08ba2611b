// Routing that all HTTP servers of the system share: decoding of paths and queries, 404 and 405 as problems.
import { context } from '@opentelemetry/api';
import { getRPCMetadata, RPCType } from '@opentelemetry/core';
import type { RequestHandler } from 'express';
import { ProblemError } from './problems.js';

/** First middleware: refuses a path that is not percent-encoded UTF-8, even when no route would match it. */
export const checkPath: RequestHandler = (req, _res, next) => {
  if (req.path.includes('%')) decodeURIComponent(req.path);
  next();
};

/**
 * First handler of a route: metrics and traces use the route's pattern as its name, because there are few patterns and
 * unlimited paths.
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

/** Last handler of a path: 405 with the allowed methods. */
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
 * Parses the query of a URL into texts, each parameter at most once. Unlike express's parser it makes no arrays or
 * objects, and refuses queries that do not decode.
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
