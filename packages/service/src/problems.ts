// Errors over HTTP: RFC 9457 problems with a stable code and a sentence that tells what to change (API.md).
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemTypeOf, type Problem, type ProblemCode } from '@lead-scoring/contracts';
import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';

export interface FieldError {
  /** Path of the field: `body.events[3].timestamp`, `query.limit`. */
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

/** An error answer. The client gets `detail` and `errors`; `cause` goes to the log only. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    readonly status: number,
    /** Stable snake_case code for programs. */
    readonly code: string,
    readonly detail: string,
    options: ProblemOptions = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}

/**
 * The problem of a code, with the status that the contracts give the code.
 * @param detail the cause and what to change
 */
export function problem(code: ProblemCode, detail: string, options: ProblemOptions = {}): ProblemError {
  return new ProblemError(problemTypeOf(code).status, code, detail, options);
}

const maximumErrors = 100;

/** The body of a problem. `type` is a stable name for the code; it leads to no page. */
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
  // A cut through a surrogate pair would make the answer ill-formed.
  return text.length <= maximum ? text : `${text.slice(0, maximum - 1).toWellFormed()}…`;
}

const requestIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The request's id: the caller's `X-Request-Id` when it is safe to log, else a new id. Repeated calls give the same id.
 */
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
    // The answer has begun: breaking the connection is the only way to tell that it is incomplete.
    res.destroy();
    return;
  }
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  res.statusCode = error.status;
  res.setHeader('X-Request-Id', requestId);
  // A route with private answers has already set a stricter value.
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
  // The headers are the whole answer to HEAD. The end waits, because it closes a connection that is not kept alive.
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
/** Time for a slow client to read its answer before its connection is closed. */
const lingerMs = 2_000;

/**
 * Reads and drops the rest of the request, up to a limit. Closing at once would reset the connection, and the client
 * would not see the answer.
 */
function discardRest(req: IncomingMessage, done: () => void): void {
  let discarded = 0;
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > maximumDiscardedBytes) req.destroy();
  });
  req.on('error', () => {
    // The client has gone.
  });
  req.once('end', done);
  req.once('close', done);
  req.resume();
}

/**
 * Turns any thrown error into a problem. An error that is not known to be the client's fault becomes a 500 without
 * details.
 */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof URIError) return malformedPath(error);
  if (error instanceof Error) {
    if (error.name === 'InvalidCursor')
      return new ProblemError(400, 'invalid_cursor', error.message, { cause: error });
    const status = 'status' in error && typeof error.status === 'number' ? error.status : undefined;
    // Express's router refuses undecodable paths with a 400 of its own.
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
 * Whether a problem of a page route is shown as a page: to every caller except programs that ask for JSON.
 * @param accept the Accept header
 */
export function wantsPage(accept: string | undefined): boolean {
  const types = (accept ?? '').toLowerCase();
  return types.includes('text/html') || !types.includes('json');
}

/**
 * Express's last middleware: turns every error into a problem, and logs 5xx problems with their cause.
 * @param send writes the answer
 */
export function problemHandler(
  logger: Pick<Logger, 'error' | 'debug' | 'warn'>,
  send: (req: Request, res: Response, problem: ProblemError) => void = sendProblem,
): ErrorRequestHandler {
  // Express recognises error middleware by its four parameters.
  // oxlint-disable-next-line typescript/no-unused-vars
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
