// Finds the pages of a site: in its sitemaps, else by following its navigation one level deep.
import { OutboundRefused } from '@lead-scoring/outbound';
import pLimit from 'p-limit';
import { LeftSite, SiteNotFetched } from './errors.js';
import { htmlOf, pageVisit, type Page } from './homepage.js';
import { readLinks } from './links.js';
import { linkedUrl, siteOf, type SitePages } from './site.js';
import { readSitemap } from './sitemap.js';
import type { Visitor } from './visit.js';

export interface Discovery {
  visitor: Visitor;
  pages: SitePages;
  signal: AbortSignal;
}

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
  { visitor, pages, signal }: Discovery,
  origin: URL,
  named: { byRobots: readonly string[]; byHomepage: readonly URL[] },
): Promise<boolean> {
  const seen = new Set<string>();
  const limit = pLimit(sitemapsAtOnce);
  const homepage = new URL('/', origin);
  const foundAny = () => pages.size > 1;

  await read(byAddress(named.byRobots, homepage));
  if (!foundAny()) await read(named.byHomepage);
  const { crawlDelayMs } = await visitor.robots(homepage).catch(() => ({ crawlDelayMs: 0 }));
  const places = crawlDelayMs > 0 ? usualPlaces.slice(0, patientPlaces) : usualPlaces;
  const [first = '/sitemap.xml', ...others] = places;
  if (!foundAny()) await read(byAddress([first], homepage));
  if (!foundAny()) await read(byAddress(others, homepage));
  return foundAny();

  async function read(sitemaps: readonly URL[], nesting = 0): Promise<void> {
    const fresh = sitemaps.filter((url) => {
      if (siteOf(url) !== pages.site || seen.has(url.href) || seen.size >= maximumSitemaps) return false;
      seen.add(url.href);
      return true;
    });
    const nested = await Promise.all(fresh.map((url) => limit(() => readOne(url))));
    if (nesting < maximumNesting && fresh.length > 0) await read(nested.flat(), nesting + 1);
  }

  /** The sitemaps that it names. A large one is asked for again in its turn; until then, and without it, its beginning counts. */
  async function readOne(url: URL): Promise<URL[]> {
    const beginning = await readBytes(url, usualSitemapBytes);
    if (!beginning.isBeginning) return beginning.nested;
    const whole = await before(
      signal,
      largeSitemaps(() => (signal.aborted ? null : readBytes(url, maximumSitemapBytes))),
    );
    return whole === null || whole.nested.length === 0 ? beginning.nested : whole.nested;
  }

  async function readBytes(url: URL, maxBytes: number): Promise<{ nested: URL[]; isBeginning: boolean }> {
    const nested: URL[] = [];
    try {
      const {
        status,
        headers,
        body,
        truncated,
        url: address,
      } = await visitor.visit(url, {
        accept: 'application/xml, text/xml, text/plain;q=0.9, */*;q=0.5',
        maxBytes,
        timeoutMs: sitemapTimeoutMs,
        within: pages.site,
      });
      if (status < 200 || status >= 300) return { nested, isBeginning: false };
      const wantsMore = await readSitemap(
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
      return { nested, isBeginning: truncated && wantsMore };
    } catch (error) {
      if (!isExpected(error)) throw error;
      return { nested, isBeginning: false };
    }
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

/** Pages of the navigation that are read. */
const maximumNavigation = 40;

const navigationTimeoutMs = 5_000;

/** A homepage that names this many pages suffices. */
const sufficientPages = 300;

/**
 * Adds the pages that the homepage links to and, one level deep, those that the pages of its navigation link to.
 * Never throws: what was found by then counts.
 */
export async function discoverByCrawling(
  { visitor, pages, signal }: Discovery,
  homepage: Page,
): Promise<'crawl' | 'crawl+depth'> {
  for (const link of homepage.links) pages.add(link);
  if (pages.size >= sufficientPages) return 'crawl';
  const read = await Promise.all(navigationOf(homepage, pages).map(readPage));
  // In the order of the navigation, whatever the order of the answers was.
  for (const { links } of read) for (const link of links) pages.add(link);
  for (const { named, address } of read)
    if (address === null || pages.pathOf(address) !== pages.pathOf(named)) pages.remove(named);
  for (const { address } of read) if (address !== null) pages.add(address);
  return read.some(({ answered }) => answered) ? 'crawl+depth' : 'crawl';

  async function readPage(named: URL): Promise<ReadPage> {
    const unread = { named, address: named, links: [], answered: false };
    try {
      const visited = await visitor.visit(named, {
        ...pageVisit,
        timeoutMs: navigationTimeoutMs,
        within: pages.site,
      });
      const { status, url } = visited;
      if (status === 404 || status === 410) return { ...unread, address: null };
      if (status < 200 || status >= 300 || signal.aborted) return unread;
      const html = htmlOf(visited);
      if (html === null) return { ...unread, address: null };
      const { canonical, links } = readLinks(html, url);
      return { named, address: addressOf(url, canonical, pages), links, answered: true };
    } catch (error) {
      if (!isExpected(error)) throw error;
      // What leads to where nobody may go is no page; what is slow or forbidden may be one.
      const leadsNowhere = error instanceof OutboundRefused || error instanceof LeftSite;
      return leadsNowhere ? { ...unread, address: null } : unread;
    }
  }
}

interface ReadPage {
  /** As the homepage names it. */
  named: URL;
  /** What it says its address is; null for what is no page of the site. */
  address: URL | null;
  links: readonly URL[];
  answered: boolean;
}

/** The pages that the top level of the site's navigation names; where none can be told, those right below the root. */
function navigationOf({ url, links, navigation }: Page, pages: SitePages): URL[] {
  const own = pages.pathOf(url);
  const byPath = (urls: readonly URL[]) => {
    const found = new Map<string, URL>();
    for (const link of urls) {
      const path = pages.pathOf(link);
      if (path !== null && path !== own && !found.has(path)) found.set(path, withoutFragment(link));
    }
    return found;
  };
  const named = byPath(navigation);
  const chosen = named.size > 0 ? named : byPath(links.filter(({ pathname }) => isTopLevel(pathname)));
  return [...chosen.values()].slice(0, maximumNavigation);
}

/** `/pricing` and `/en/pricing` are, `/blog/pricing` is not. */
function isTopLevel(pathname: string): boolean {
  return /^(?:\/[a-z]{2}(?:[-_][a-z]{2})?)?\/[^/]+\/?$/i.test(pathname);
}

function withoutFragment(link: URL): URL {
  const url = new URL(link);
  url.hash = '';
  return url;
}

/** Where a page lives: what it calls its own address, unless all pages seem to call themselves the homepage. */
export function addressOf(url: URL, canonical: URL | null, pages: SitePages): URL {
  const path = canonical && pages.pathOf(canonical);
  return canonical && path !== null && path !== '/' ? canonical : url;
}

function byAddress(locations: readonly string[], base: URL): URL[] {
  return locations.flatMap((location) => linkedUrl(location, base) ?? []);
}

/** What a page of somebody else's site may be like: gone, forbidden, slow. Everything else is a fault of ours. */
function isExpected(error: unknown): boolean {
  return error instanceof OutboundRefused || error instanceof SiteNotFetched;
}
