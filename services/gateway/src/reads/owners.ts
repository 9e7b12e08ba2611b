// The services that own read models: connections to their query ports, and requests signed by the gateway.
import type { ServiceName } from '@lead-scoring/contracts';
import { internalAuthorizationHeader, signInternal, type InternalClaims } from '@lead-scoring/service';
import { errors, Pool, type Dispatcher } from 'undici';
import { problem, tryAgain } from '../problem.js';

export type Owner = Exclude<ServiceName, 'gateway'>;
export type OwnerAnswer = Dispatcher.ResponseData;

export interface OwnersOptions {
  urls: Readonly<Record<Owner, string>>;
  internalSecret: string;
  /** The longest wait for the beginning of an answer. Longer than the owner's own wait for a position. */
  timeoutMs?: number;
}

/** The parts of a request to an owner besides its path. */
export interface OwnerRequest {
  /** Default: GET. */
  method?: 'GET' | 'POST';
  body?: Buffer;
  headers?: Readonly<Record<string, string>>;
  /** Ends the request. */
  signal?: AbortSignal;
}

/** Sends a request to an owner with the claims of one caller. */
export type Ask = (owner: Owner, path: string, ownerRequest?: OwnerRequest) => Promise<OwnerAnswer>;

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
   * @param common defaults for every request
   * @throws ProblemError 503 when the owner is away, 504 when it is late
   */
  askAs(claims: InternalClaims, common: OwnerRequest = {}): Ask {
    return async (owner, path, ownerRequest = {}) => {
      const { method = 'GET', body, signal = common.signal } = ownerRequest;
      const call = { method, target: path, body };
      const authorization = await signInternal(claims, call, this.#internalSecret);
      return request(this.#pools[owner], {
        method,
        path,
        headers: {
          'x-request-id': claims.request_id,
          ...common.headers,
          [internalAuthorizationHeader]: authorization,
          ...ownerRequest.headers,
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
    // The caller's credential is valid: a refusal concerns the gateway's own claims, and is an internal error.
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
