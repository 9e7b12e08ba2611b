// Errors on the wire: RFC 9457 members with a stable code and a sentence that says what to change (API.md).
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemTypeOf, type Problem } from '@lead-scoring/contracts';
import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';

export interface FieldError {
  /** Where: `body.events[3].timestamp`, `query.limit`. */
  path: string;
  message: string;
}

export interface ProblemOptions {
  errors?: readonly FieldError[];
  /** Headers of the answer, such as Retry-After or Allow. */
  headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  cause?: unknown;
}

/** An answer that says no. `detail` and `errors` reach the client; `cause` only the log. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    readonly status: number,
    /** Stable snake_case word for programs. */
    readonly code: string,
    readonly detail: string,
    options: ProblemOptions = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}

const maximumErrors = 100;

/** The body of a problem. `type` is a name for the code that stays the same and points at nothing. */
export function problemBody(error: ProblemError, requestId: string): Problem {
  return {
    type: `urn:lead-scoring:problem:${error.code}`,
    title: problemTypeOf(error.code).title,
    status: error.status,
    detail: cut(error.detail, 4_000),
    code: error.code,
    ...(error.errors && {
      errors: error.errors
        .slice(0, maximumErrors)
        .map(({ path, message }) => ({ path: cut(path, 1_000), message: cut(message, 1_000) })),
    }),
    request_id: requestId,
  };
}

function cut(text: string, maximum: number): string {
  // Half of a surrogate pair at the cut would make the answer ill-formed.
  return text.length <= maximum ? text : `${text.slice(0, maximum - 1).toWellFormed()}…`;
}

const requestIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** The request's id: the caller's `X-Request-Id` when it is fit for a log, else a new one; the same at every call. */
export function requestIdOf(req: IncomingMessage & { requestId?: string }): string {
  if (req.requestId !== undefined) return req.requestId;
  const sent = req.headers['x-request-id'];
  req.requestId = typeof sent === 'string' && requestIdPattern.test(sent) ? sent : randomUUID();
  return req.requestId;
}

/** Sends a problem, as `application/problem+json` when the request's Accept names it. */
export function sendProblem(req: IncomingMessage, res: ServerResponse, error: ProblemError): void {
  const requestId = requestIdOf(req);
  if (res.headersSent) {
    // The answer has begun: all that can be told is that it is not whole.
    res.destroy();
    return;
  }
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  res.statusCode = error.status;
  res.setHeader('X-Request-Id', requestId);
  // A route that shows something private has said more than this already.
  if (!res.hasHeader('Cache-Control')) res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  const named = (req.headers.accept ?? '').toLowerCase().includes('application/problem+json');
  res.setHeader('Content-Type', `${named ? 'application/problem+json' : 'application/json'}; charset=utf-8`);
  const body = JSON.stringify(problemBody(error, requestId));
  res.setHeader('Content-Length', Buffer.byteLength(body));
  if (req.complete) {
    res.end(req.method === 'HEAD' ? undefined : body);
    return;
  }
  // The client has its answer now; the end waits, because it closes a connection that is not to be kept alive.
  if (req.method === 'HEAD') res.flushHeaders();
  else res.write(body);
  discardRest(req, () => {
    if (!res.writableEnded) res.end();
  });
  if (error.status !== 408) return;
  const ending = setTimeout(() => req.destroy(), lingerMs);
  req.once('close', () => {
    clearTimeout(ending);
  });
}

const maximumDiscardedBytes = 64 * 1024 * 1024;
/** How long a client that sends too slowly is given to read its answer before its connection is ended. */
const lingerMs = 2_000;

/**
 * Reads on and throws away what the client is still sending: closing at once would reset the connection, and the
 * client would see that in place of the answer. There is an end to patience.
 */
function discardRest(req: IncomingMessage, done: () => void): void {
  let discarded = 0;
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > maximumDiscardedBytes) req.destroy();
  });
  req.on('error', () => {
    // The client has gone; nobody waits for anything any more.
  });
  req.once('end', done);
  req.once('close', done);
  req.resume();
}

/** Turns whatever was thrown into a problem; what is not known to be the client's fault is 500 without a word about it. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof URIError) return malformedPath(error);
  if (error instanceof Error) {
    if (error.name === 'InvalidCursor')
      return new ProblemError(400, 'invalid_cursor', error.message, { cause: error });
    const status = 'status' in error && typeof error.status === 'number' ? error.status : undefined;
    // Express's router rejects paths that do not decode with a 400 of its own.
    if (status === 400) return malformedPath(error);
    if ('retriable' in error && error.retriable === true)
      return new ProblemError(
        503,
        'service_unavailable',
        'The service cannot reach what it needs. Try again in a moment.',
        {
          cause: error,
          headers: { 'Retry-After': '1' },
        },
      );
  }
  return new ProblemError(
    500,
    'internal_error',
    'Something went wrong on our side. Quote the request_id to the operator.',
    {
      cause: error,
    },
  );
}

function malformedPath(cause: unknown): ProblemError {
  return new ProblemError(
    400,
    'malformed_path',
    'The path holds a % that does not start an encoded UTF-8 character. Encode it as %25.',
    {
      cause,
    },
  );
}

/**
 * Whether what goes wrong with a page is told on a page: to everybody but programs that ask for JSON.
 * @param accept the request's header
 */
export function wantsPage(accept: string | undefined): boolean {
  const types = (accept ?? '').toLowerCase();
  return types.includes('text/html') || !types.includes('json');
}

/**
 * Express's last middleware: every error becomes a problem; those of ours (5xx) are logged with their cause.
 * @param send writes the answer
 */
export function problemHandler(
  logger: Pick<Logger, 'error' | 'debug' | 'warn'>,
  send: (req: Request, res: Response, problem: ProblemError) => void = sendProblem,
): ErrorRequestHandler {
  // Express tells error middleware by its four parameters.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  return (error: unknown, req, res, _next) => {
    const problem = asProblem(error);
    const requestId = requestIdOf(req);
    if (problem.status >= 500) {
      const log = problem.status === 500 ? 'error' : 'warn';
      logger[log](
        { err: problem.cause ?? problem, request_id: requestId, code: problem.code },
        'request failed',
      );
    } else
      logger.debug({ request_id: requestId, code: problem.code, status: problem.status }, 'request refused');
    send(req, res, problem);
  };
}
