// Fetches pages of the analysed sites, as their robots.txt allows.
import { OutboundFailed, type Outbound, type OutboundResponse } from '@lead-scoring/outbound';
import { decodeText } from './charset.js';
import { LeftSite, SiteNotFetched } from './errors.js';
import { PacedRequests } from './paced-requests.js';
import { maximumRobotsBytes, parseRobots, unrestricted, type Robots } from './robots.js';
import { siteOf } from './site.js';

export interface VisitorDependencies {
  outbound: Outbound;
  /** Aborts at the end of the analysis. */
  signal: AbortSignal;
}

export interface VisitOptions {
  accept: string;
  maxBytes: number;
  /** The time for all redirects together; the analysis may end earlier. */
  timeoutMs: number;
  /** Redirects that leave this site are not followed. */
  within?: string;
}

export interface Visited extends OutboundResponse {
  /** The address of the answer, after redirects. */
  url: URL;
}

export interface Visitor {
  /**
   * Fetches an address with at most five redirects, and resolves with the answer of any status. Every redirect is checked against
   * `outbound` and the robots.txt of its origin.
   * @throws OutboundRefused | SiteNotFetched
   */
  visit(url: URL, options: VisitOptions): Promise<Visited>;
  /**
   * The rules of the address's origin, fetched once.
   * @throws OutboundRefused | SiteNotFetched when they cannot be fetched: then nothing else may be fetched either
   */
  robots(url: URL): Promise<Robots>;
}

const maximumRedirects = 5;
const robotsTimeoutMs = 6_000;

export function createVisitor(dependencies: VisitorDependencies): Visitor {
  return new PoliteVisitor(dependencies);
}

class PoliteVisitor implements Visitor {
  readonly #robotsByOrigin = new Map<string, Promise<Robots>>();
  readonly #requests: PacedRequests;

  constructor(private readonly dependencies: VisitorDependencies) {
    this.#requests = new PacedRequests(dependencies.outbound);
  }

  async visit(start: URL, options: VisitOptions): Promise<Visited> {
    const deadline = AbortSignal.any([this.dependencies.signal, AbortSignal.timeout(options.timeoutMs)]);
    const { outbound } = this.dependencies;
    let url = start;
    for (let hop = 0; hop <= maximumRedirects; hop += 1) {
      const rules = await this.robots(outbound.check(url));
      if (!rules.allows(url))
        throw new SiteNotFetched('blocked', `The site's robots.txt does not allow fetching ${url.pathname}.`);
      const response = await this.#requests.request(url, rules.crawlDelayMs, {
        headers: { accept: options.accept },
        maxBytes: options.maxBytes,
        signal: deadline,
      });
      const location = redirectOf(response);
      if (location === null) return { ...response, url };
      if (!URL.canParse(location, url.href))
        throw new SiteNotFetched('error', 'The site redirects to an invalid address.');
      url = outbound.check(new URL(location, url));
      if (options.within !== undefined && siteOf(url) !== options.within) throw new LeftSite(siteOf(url));
    }
    throw new SiteNotFetched('error', `The site redirects more than ${maximumRedirects} times in a row.`);
  }

  robots(url: URL): Promise<Robots> {
    const known = this.#robotsByOrigin.get(url.origin) ?? this.#fetchRobots(new URL('/robots.txt', url));
    this.#robotsByOrigin.set(url.origin, known);
    return known;
  }

  /** RFC 9309: a missing file (4xx, too many redirects) restricts nothing; a failing one (5xx, no answer) forbids everything. */
  async #fetchRobots(url: URL): Promise<Robots> {
    const deadline = AbortSignal.any([this.dependencies.signal, AbortSignal.timeout(robotsTimeoutMs)]);
    const wanted = {
      headers: { accept: 'text/plain, */*;q=0.5' },
      maxBytes: maximumRobotsBytes,
      maxRedirects: maximumRedirects,
    };
    let response;
    try {
      response = await this.#requests.request(url, 0, { ...wanted, signal: deadline });
    } catch (error) {
      if (error instanceof SiteNotFetched && error.cause instanceof OutboundFailed)
        if (error.cause.reason === 'too_many_redirects') return unrestricted;
      throw error;
    }
    const { status, body, headers } = response;
    if (status >= 500)
      throw new SiteNotFetched(
        'blocked',
        `The site's robots.txt answers with status ${status}. Until it can be read, no page of the site may be fetched.`,
      );
    return status >= 200 && status < 300
      ? parseRobots(url, decodeText(body, headers['content-type']))
      : unrestricted;
  }
}

function redirectOf({ status, headers }: OutboundResponse): string | null {
  return [301, 302, 303, 307, 308].includes(status) ? (headers['location'] ?? null) : null;
}
