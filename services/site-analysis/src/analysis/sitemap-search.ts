// Finds the pages of a site in its sitemaps.
import pLimit from 'p-limit';
import { isExpected, type Discovery } from './discovery.js';
import { linkedUrl, siteOf } from './site.js';
import { readSitemap } from './sitemap.js';
import type { Visited } from './visit.js';

/** Where sitemaps usually are when nobody says so, the likeliest first. */
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

/** Of a site that wants pauses between requests, only the likeliest are tried. */
const patientPlaces = 2;

const maximumSitemaps = 50;
const maximumNesting = 3;
/** What most sitemaps measure at most, packed or not. */
const usualSitemapBytes = 512 * 1_024;
/** A sitemap may measure 50 MB. What comes first has the pages that matter. */
const maximumSitemapBytes = 12 * 1_024 * 1_024;
const sitemapsAtOnce = 2;
/** Of all analyses of the process together: large ones are what its memory is spent on. */
const largeSitemaps = pLimit(4);
const sitemapTimeoutMs = 6_000;

/**
 * Adds the pages of the site's sitemaps: those that robots.txt names, else those that the homepage names, else those in
 * the usual places. False when they name no page besides the homepage. Never throws: what was found by then counts.
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

/** What a sitemap, or its beginning, has named: pages are added at once. */
interface ReadSitemap {
  nested: URL[];
  /** Whether there is more of it that may name pages. */
  isBeginning: boolean;
}

/** Reads sitemaps, those that they name as well, and each once. */
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

  /** The sitemaps that it names. A large one is asked for again in its turn; until then, and without it, its beginning counts. */
  async #readOne(url: URL): Promise<URL[]> {
    const { signal } = this.discovery;
    const beginning = await this.#readBytes(url, usualSitemapBytes);
    if (!beginning.isBeginning) return beginning.nested;
    const whole = await before(
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
      const wantsMore = await this.#take(visited, nested);
      return { nested, isBeginning: visited.truncated && wantsMore };
    } catch (error) {
      if (!isExpected(error)) throw error;
      return { nested, isBeginning: false };
    }
  }

  /** Adds the pages that it names, and gathers the sitemaps. @returns whether more of it could name more */
  async #take({ headers, body, url: address }: Visited, nested: URL[]): Promise<boolean> {
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

/** What comes out of the work, or null when the signal aborts first. */
function before<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value | null> {
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
