// Fetches pages of other people's sites politely: as robots.txt allows, a few at once, at the pace that is asked for,
// and no more once we are told to stop.
import { setTimeout } from 'node:timers/promises';
import {
  OutboundFailed,
  OutboundRefused,
  type Outbound,
  type OutboundFailedReason,
  type OutboundResponse,
} from '@lead-scoring/outbound';
import pLimit, { type LimitFunction } from 'p-limit';
import { decodeText } from './charset.js';
import { LeftSite, SiteNotFetched, type SiteNotFetchedReason } from './errors.js';
import { maximumRobotsBytes, parseRobots, unrestricted, type Robots } from './robots.js';
import { siteOf } from './site.js';

export interface VisitorDependencies {
  outbound: Outbound;
  /** The end of the analysis. */
  signal: AbortSignal;
}

export interface VisitOptions {
  accept: string;
  maxBytes: number;
  /** For all redirects together; the analysis may end earlier. */
  timeoutMs: number;
  /** Redirects that leave this site are not followed. */
  within?: string;
}

export interface Visited extends OutboundResponse {
  /** Where the answer came from, after redirects. */
  url: URL;
}

export interface Visitor {
  /**
   * What is at the address, after at most five redirects, whatever its status. Every hop is checked and allowed.
   * @throws OutboundRefused | SiteNotFetched
   */
  visit(url: URL, options: VisitOptions): Promise<Visited>;
  /**
   * The rules of the address's origin, fetched once.
   * @throws OutboundRefused | SiteNotFetched when they cannot be had: nothing may be fetched then
   */
  robots(url: URL): Promise<Robots>;
}

const maximumRedirects = 5;
const requestsAtOnce = 4;
const robotsTimeoutMs = 6_000;

export function createVisitor({ outbound, signal }: VisitorDependencies): Visitor {
  const robotsByOrigin = new Map<string, Promise<Robots>>();
  const hosts = new Map<string, { limit: LimitFunction; nextAt: number; sentAway: boolean }>();
  return { visit, robots };

  async function visit(start: URL, options: VisitOptions): Promise<Visited> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]);
    let url = start;
    for (let hop = 0; hop <= maximumRedirects; hop += 1) {
      const rules = await robots(outbound.check(url));
      if (!rules.allows(url))
        throw new SiteNotFetched(
          'blocked',
          `The site's robots.txt does not allow ${url.pathname} to be fetched.`,
        );
      const response = await request(url, rules.crawlDelayMs, {
        headers: { accept: options.accept },
        maxBytes: options.maxBytes,
        signal: deadline,
      });
      const location = redirectOf(response);
      if (location === null) return { ...response, url };
      if (!URL.canParse(location, url.href))
        throw new SiteNotFetched('error', 'The site redirects to something that is not an address.');
      url = outbound.check(new URL(location, url));
      if (options.within !== undefined && siteOf(url) !== options.within) throw new LeftSite(siteOf(url));
    }
    throw new SiteNotFetched('error', `The site redirects more than ${maximumRedirects} times in a row.`);
  }

  function robots(url: URL): Promise<Robots> {
    const known = robotsByOrigin.get(url.origin) ?? fetchRobots(new URL('/robots.txt', url));
    robotsByOrigin.set(url.origin, known);
    return known;
  }

  /** RFC 9309: what is not there (4xx, too many redirects) restricts nothing; what fails (5xx, no answer) forbids all. */
  async function fetchRobots(url: URL): Promise<Robots> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(robotsTimeoutMs)]);
    const wanted = {
      headers: { accept: 'text/plain, */*;q=0.5' },
      maxBytes: maximumRobotsBytes,
      maxRedirects: maximumRedirects,
    };
    let response;
    try {
      response = await request(url, 0, { ...wanted, signal: deadline });
    } catch (error) {
      if (error instanceof SiteNotFetched && error.cause instanceof OutboundFailed)
        if (error.cause.reason === 'too_many_redirects') return unrestricted;
      throw error;
    }
    const { status, body, headers } = response;
    if (status >= 500)
      throw new SiteNotFetched(
        'blocked',
        `The site's robots.txt answers with status ${status}. While that is so, its pages may not be fetched.`,
      );
    return status >= 200 && status < 300
      ? parseRobots(url, decodeText(body, headers['content-type']))
      : unrestricted;
  }

  async function request(
    url: URL,
    delayMs: number,
    options: Parameters<Outbound['request']>[1],
  ): Promise<OutboundResponse> {
    const host = hostOf(url);
    return host.limit(async () => {
      if (host.sentAway)
        throw new SiteNotFetched('blocked', 'The site has answered that it gets too many requests.');
      try {
        const now = performance.now();
        const at = Math.max(now, host.nextAt);
        host.nextAt = at + delayMs;
        if (at > now) await setTimeout(at - now, undefined, { signal: options.signal });
        options.signal.throwIfAborted();
        const response = await outbound.request(url, options);
        host.sentAway ||=
          response.status === 429 || (response.status === 503 && 'retry-after' in response.headers);
        return response;
      } catch (error) {
        throw notFetched(error, options.signal);
      }
    });
  }

  function hostOf(url: URL) {
    const name = siteOf(url);
    const host = hosts.get(name) ?? { limit: pLimit(requestsAtOnce), nextAt: 0, sentAway: false };
    hosts.set(name, host);
    return host;
  }
}

function redirectOf({ status, headers }: OutboundResponse): string | null {
  return [301, 302, 303, 307, 308].includes(status) ? (headers['location'] ?? null) : null;
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
