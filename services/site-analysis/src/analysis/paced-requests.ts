// Requests to analysed sites: a few at a time to each host, with the host's crawl delay, and no more once the host has answered that
// it gets too many.
import { setTimeout } from 'node:timers/promises';
import {
  OutboundFailed,
  OutboundRefused,
  type Outbound,
  type OutboundFailedReason,
  type OutboundResponse,
} from '@lead-scoring/outbound';
import pLimit, { type LimitFunction } from 'p-limit';
import { SiteNotFetched, type SiteNotFetchedReason } from './errors.js';
import { siteOf } from './site.js';

const requestsAtOnce = 4;

export class PacedRequests {
  readonly #hosts = new Map<string, { limit: LimitFunction; nextAt: number; isBlocked: boolean }>();

  constructor(private readonly outbound: Outbound) {}

  /** @throws OutboundRefused | SiteNotFetched */
  async request(
    url: URL,
    delayMs: number,
    options: Parameters<Outbound['request']>[1],
  ): Promise<OutboundResponse> {
    const host = this.#hostOf(url);
    return host.limit(async () => {
      if (host.isBlocked)
        throw new SiteNotFetched('blocked', 'The site has answered that it gets too many requests.');
      try {
        const now = performance.now();
        const at = Math.max(now, host.nextAt);
        host.nextAt = at + delayMs;
        if (at > now) await setTimeout(at - now, undefined, { signal: options.signal });
        options.signal.throwIfAborted();
        const response = await this.outbound.request(url, options);
        host.isBlocked ||=
          response.status === 429 || (response.status === 503 && 'retry-after' in response.headers);
        return response;
      } catch (error) {
        throw notFetched(error, options.signal);
      }
    });
  }

  #hostOf(url: URL) {
    const name = siteOf(url);
    const host = this.#hosts.get(name) ?? { limit: pLimit(requestsAtOnce), nextAt: 0, isBlocked: false };
    this.#hosts.set(name, host);
    return host;
  }
}

const reasons: Record<OutboundFailedReason, SiteNotFetchedReason> = {
  name_not_found: 'name_not_found',
  unreachable: 'unreachable',
  timeout: 'timeout',
  tls: 'tls_failed',
  too_many_redirects: 'error',
  redirect_refused: 'error',
  malformed: 'error',
};

function notFetched(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof OutboundRefused) return error;
  if (error instanceof OutboundFailed)
    return new SiteNotFetched(reasons[error.reason], error.message, { cause: error });
  if (signal.aborted)
    return new SiteNotFetched('timeout', 'The site did not answer in time.', { cause: error });
  return error;
}
