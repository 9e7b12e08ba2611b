// The services that own read models: connections to their query ports, and questions signed by the gateway.
import type { ServiceName } from '@lead-scoring/contracts';
import { internalAuthorizationHeader, signInternal, type InternalClaims } from '@lead-scoring/service';
import { errors, Pool, type Dispatcher } from 'undici';
import { problem, tryAgain } from '../problem.js';

export type Owner = Exclude<ServiceName, 'gateway'>;
export type OwnerAnswer = Dispatcher.ResponseData;

export interface OwnersOptions {
  urls: Readonly<Record<Owner, string>>;
  internalSecret: string;
  /** Until the owner begins to answer. Longer than it waits for a position. */
  timeoutMs?: number;
}

/** The parts of a question beside its path. */
export interface OwnerQuestion {
  /** Default GET. */
  method?: 'GET' | 'POST';
  body?: Buffer;
  headers?: Readonly<Record<string, string>>;
  /** Ends the question. */
  signal?: AbortSignal;
}

/** Asks an owner in the name of one request. */
export type Ask = (owner: Owner, path: string, question?: OwnerQuestion) => Promise<OwnerAnswer>;

export class Owners {
  readonly #pools: Readonly<Record<Owner, Pool>>;
  readonly #internalSecret: string;

  constructor({ urls, internalSecret, timeoutMs = 15_000 }: OwnersOptions) {
    this.#internalSecret = internalSecret;
    this.#pools = {
      ingest: poolOf(urls.ingest, timeoutMs),
      scoring: poolOf(urls.scoring, timeoutMs),
      notification: poolOf(urls.notification, timeoutMs),
      share: poolOf(urls.share, timeoutMs),
      'site-analysis': poolOf(urls['site-analysis'], timeoutMs),
    };
  }

  /**
   * @param common of every question, where the question itself says nothing else
   * @throws ProblemError 503 when the owner is away, 504 when it is late
   */
  askAs(claims: InternalClaims, common: OwnerQuestion = {}): Ask {
    return async (owner, path, question = {}) => {
      const { method = 'GET', body, signal = common.signal } = question;
      const call = { method, target: path, body };
      const authorization = await signInternal(claims, call, this.#internalSecret);
      return request(this.#pools[owner], {
        method,
        path,
        headers: {
          'x-request-id': claims.request_id,
          ...common.headers,
          [internalAuthorizationHeader]: authorization,
          ...question.headers,
        },
        ...(body && { body }),
        ...(signal && { signal }),
      });
    };
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#pools).map((pool) => pool.close()));
  }
}

function poolOf(url: string, timeoutMs: number): Pool {
  return new Pool(new URL(url).origin, {
    connections: 64,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: 2_000 },
    keepAliveTimeout: 30_000,
  });
}

async function request(pool: Pool, options: Dispatcher.RequestOptions): Promise<OwnerAnswer> {
  try {
    const answer = await pool.request(options);
    if (answer.statusCode !== 401 && answer.statusCode !== 403) return answer;
    // The caller's credential was found good here; if the owner refuses ours, that is between the two of us.
    await answer.body.dump();
    throw new Error(`the owner refused the internal authorization with ${String(answer.statusCode)}`);
  } catch (error) {
    if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
      throw problem(
        'service_timeout',
        'The service did not answer in time. Ask for less, or try again later.',
        {
          cause: error,
        },
      );
    if (error instanceof errors.UndiciError || (error instanceof Error && 'syscall' in error))
      throw tryAgain(
        'service_unavailable',
        'A service does not answer now. Try again in a moment.',
        2,
        error,
      );
    throw error;
  }
}
