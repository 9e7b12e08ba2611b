// The query port of a service, as its callers see it: signed requests over kept-alive connections.
import { setTimeout as delay } from 'node:timers/promises';
import { errors, Pool, type Dispatcher } from 'undici';
import { internalAuthorizationHeader, signInternal, type InternalClaims } from './internal-authentication.js';
import { problem } from './problems.js';

export type QueryPortAnswer = Dispatcher.ResponseData;

export interface QueryPortOptions {
  /** The address of the service. */
  url: string;
  internalSecret: string;
  /** The longest wait for the beginning of an answer, and for each further part of it. */
  timeoutMs: number;
}

/** The parts of a request besides its path. */
export interface QueryPortRequest {
  /** Default: GET. */
  method?: 'GET' | 'POST';
  body?: Buffer;
  headers?: Readonly<Record<string, string>>;
  /** The longest wait for the beginning of the answer; default: `timeoutMs` of the port. */
  timeoutMs?: number | undefined;
  /** The longest wait for each further part of the answer; default: `timeoutMs` of the port. */
  partTimeoutMs?: number | undefined;
  /** Ends the request. */
  signal?: AbortSignal;
}

/** The time in which connections that a process closes at once are seen to be closed. */
const closedWithinMs = 50;

export class QueryPort {
  readonly #pool: Pool;
  readonly #internalSecret: string;

  constructor({ url, internalSecret, timeoutMs }: QueryPortOptions) {
    this.#internalSecret = internalSecret;
    this.#pool = new Pool(new URL(url).origin, {
      connections: 64,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: 2_000 },
      keepAliveTimeout: 30_000,
    });
  }

  /**
   * Sends a request with the claims of one caller.
   * @param path with its query
   * @throws ProblemError 503 when the service is away, 504 when it is late
   */
  async ask(
    claims: InternalClaims,
    path: string,
    { method = 'GET', body, headers, timeoutMs, partTimeoutMs, signal }: QueryPortRequest = {},
  ): Promise<QueryPortAnswer> {
    const authorization = await signInternal(claims, { method, target: path, body }, this.#internalSecret);
    const request: Dispatcher.RequestOptions = {
      method,
      path,
      headers: {
        'x-request-id': claims.request_id,
        ...headers,
        [internalAuthorizationHeader]: authorization,
      },
      ...(body && { body }),
      ...(timeoutMs !== undefined && { headersTimeout: timeoutMs }),
      ...(partTimeoutMs !== undefined && { bodyTimeout: partTimeoutMs }),
      ...(signal && { signal }),
    };
    try {
      return await this.#answerTo(request);
    } catch (error) {
      throw withProblem(error);
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #answerTo(request: Dispatcher.RequestOptions): Promise<QueryPortAnswer> {
    const answer = await this.#sendTwice(request);
    if (answer.statusCode !== 401 && answer.statusCode !== 403) return answer;
    // The caller's credential is valid: a refusal concerns the claims of the asking service, and is an internal error.
    await answer.body.dump();
    throw new Error(`the owner refused the internal authorization with ${String(answer.statusCode)}`);
  }

  /**
   * A process that ends closes all connections that it keeps. A GET that was on its way is sent once more, as soon as the pool has seen
   * those closed: on a new connection, which a load balancer leads to another process.
   */
  async #sendTwice(request: Dispatcher.RequestOptions): Promise<QueryPortAnswer> {
    try {
      return await this.#pool.request(request);
    } catch (error) {
      if (request.method !== 'GET' || !isBrokenConnection(error)) throw error;
      await delay(closedWithinMs);
      return this.#pool.request(request);
    }
  }
}

function isBrokenConnection(error: unknown): boolean {
  return error instanceof errors.SocketError || isFailedCall(error);
}

/** The problem that the caller is told of. */
function withProblem(error: unknown): unknown {
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
    return problem(
      'service_timeout',
      'The service did not answer in time. Ask for less, or try again later.',
      { cause: error },
    );
  if (error instanceof errors.UndiciError || isFailedCall(error))
    return problem('service_unavailable', 'A service does not answer now. Try again in a moment.', {
      headers: { 'Retry-After': '2' },
      cause: error,
    });
  return error;
}

/** Whether it is an error of the operating system, such as a refused connection. */
function isFailedCall(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'syscall' in error;
}
