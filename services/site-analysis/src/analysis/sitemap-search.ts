// Finds the pages of a site in its sitemaps.
import pLimit from 'p-limit';
import { isExpected, type Discovery } from './discovery.js';
import { linkedUrl, siteOf } from './site.js';
import { readSitemap } from './sitemap.js';
import type { Visited } from './visit.js';

/** The usual paths of sitemaps that no file names, the likeliest first. */
const usualPlaces = [
  '/sitemap.xml',
  '/sitemap_index.xml',
  '/sitemap-index.xml',
  '/wp-sitemap.xml',
  '/sitemap.xml.gz',
  '/sitemap.txt',
  '/sitemap/sitemap.xml',
  '/sitemaps/sitemap.xml',
  '/sitemap/index.xml',
];

/** The number of usual paths that are tried on a site with a crawl delay. */
const patientPlaces = 2;

const maximumSitemaps = 50;
const maximumNesting = 3;
/** Most sitemaps are smaller, packed or not. */
const usualSitemapBytes = 512 * 1_024;
/** The part of a sitemap that is read at most. A sitemap may have 50 MB, and its main pages come first. */
const maximumSitemapBytes = 12 * 1_024 * 1_024;
const sitemapsAtOnce = 2;
/** The limit of large sitemaps for all analyses of the process together, because they use most of its memory. */
const largeSitemaps = pLimit(4);
const sitemapTimeoutMs = 6_000;

/**
 * Adds the pages of the site's sitemaps: those in robots.txt, else those in the homepage, else those at the usual paths. Resolves with
 * false when they have no page besides the homepage. Never throws on the fault of a site: the pages found so far count.
 */
export async function discoverFromSitemaps(
  discovery: Discovery,
  origin: URL,
  named: { byRobots: readonly string[]; byHomepage: readonly URL[] },
): Promise<boolean> {
  const { visitor, pages } = discovery;
  const search = new SitemapSearch(discovery);
  const homepage = new URL('/', origin);
  const foundAny = () => pages.size > 1;

  await search.read(byAddress(named.byRobots, homepage));
  if (!foundAny()) await search.read(named.byHomepage);
  const { crawlDelayMs } = await visitor.robots(homepage).catch(() => ({ crawlDelayMs: 0 }));
  const places = crawlDelayMs > 0 ? usualPlaces.slice(0, patientPlaces) : usualPlaces;
  const [first = '/sitemap.xml', ...others] = places;
  if (!foundAny()) await search.read(byAddress([first], homepage));
  if (!foundAny()) await search.read(byAddress(others, homepage));
  return foundAny();
}

/** The result of reading a sitemap or its beginning. Its pages have been added already. */
interface ReadSitemap {
  nested: URL[];
  /** Whether only its beginning was read, and the rest may have more pages. */
  isBeginning: boolean;
}

/** Reads sitemaps and the sitemaps that they name, each once. */
class SitemapSearch {
  readonly #seen = new Set<string>();
  readonly #limit = pLimit(sitemapsAtOnce);

  constructor(private readonly discovery: Discovery) {}

  async read(sitemaps: readonly URL[], nesting = 0): Promise<void> {
    const { pages } = this.discovery;
    const seen = this.#seen;
    const fresh = sitemaps.filter((url) => {
      if (siteOf(url) !== pages.site || seen.has(url.href) || seen.size >= maximumSitemaps) return false;
      seen.add(url.href);
      return true;
    });
    const nested = await Promise.all(fresh.map((url) => this.#limit(() => this.#readOne(url))));
    if (nesting < maximumNesting && fresh.length > 0) await this.read(nested.flat(), nesting + 1);
  }

  /** Reads one sitemap, and resolves with those that it names. Of a large one the beginning is read first, and the whole when its turn comes. */
  async #readOne(url: URL): Promise<URL[]> {
    const { signal } = this.discovery;
    const beginning = await this.#readBytes(url, usualSitemapBytes);
    if (!beginning.isBeginning) return beginning.nested;
    const whole = await unlessAborted(
      signal,
      largeSitemaps(() => (signal.aborted ? null : this.#readBytes(url, maximumSitemapBytes))),
    );
    return whole === null || whole.nested.length === 0 ? beginning.nested : whole.nested;
  }

  async #readBytes(url: URL, maxBytes: number): Promise<ReadSitemap> {
    const nested: URL[] = [];
    try {
      const visited = await this.discovery.visitor.visit(url, {
        accept: 'application/xml, text/xml, text/plain;q=0.9, */*;q=0.5',
        maxBytes,
        timeoutMs: sitemapTimeoutMs,
        within: this.discovery.pages.site,
      });
      if (visited.status < 200 || visited.status >= 300) return { nested, isBeginning: false };
      const wantsMore = await this.#addPages(visited, nested);
      return { nested, isBeginning: visited.truncated && wantsMore };
    } catch (error) {
      if (!isExpected(error)) throw error;
      return { nested, isBeginning: false };
    }
  }

  /** Adds the pages of a sitemap, and collects the sitemaps that it names. @returns whether more of it could have more pages */
  async #addPages({ headers, body, url: address }: Visited, nested: URL[]): Promise<boolean> {
    const { pages, signal } = this.discovery;
    return readSitemap(
      { body, contentType: headers['content-type'], signal },
      {
        page: (location) => {
          const page = linkedUrl(location, address);
          if (page) pages.add(page);
        },
        sitemap: (location) => {
          const sitemap = linkedUrl(location, address);
          if (sitemap && nested.length < maximumSitemaps) nested.push(sitemap);
        },
      },
    );
  }
}

/** The result of the work, or null when the signal aborts first. */
function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      resolve(null);
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', giveUp);
    });
  });
}

function byAddress(locations: readonly string[], base: URL): URL[] {
  return locations.flatMap((location) => linkedUrl(location, base) ?? []);
}
