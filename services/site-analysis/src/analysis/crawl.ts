// Finds the pages of a site by following its navigation one level deep.
import { OutboundRefused } from '@lead-scoring/outbound';
import { isExpected, type Discovery } from './discovery.js';
import { LeftSite } from './errors.js';
import { htmlOf, pageVisit, type Page } from './homepage.js';
import { readLinks } from './links.js';
import type { SitePages } from './site.js';

/** The most pages of the navigation that are read. */
const maximumNavigation = 40;

const navigationTimeoutMs = 5_000;

/** If the homepage links to so many pages, no other page is read. */
const sufficientPages = 300;

/**
 * Adds the pages that the homepage links to and, one level deep, those that the pages of its navigation link to.
 * Never throws on the fault of a site: the pages found so far count.
 */
export async function discoverByCrawling(
  { visitor, pages, signal }: Discovery,
  homepage: Page,
): Promise<'crawl' | 'crawl+depth'> {
  for (const link of homepage.links) pages.add(link);
  if (pages.size >= sufficientPages) return 'crawl';
  const read = await Promise.all(navigationOf(homepage, pages).map(readPage));
  // In the order of the navigation, not in that of the answers.
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
      // A link to a refused address or another site is not a page; a slow or forbidden one may be.
      const leadsNowhere = error instanceof OutboundRefused || error instanceof LeftSite;
      return leadsNowhere ? { ...unread, address: null } : unread;
    }
  }
}

interface ReadPage {
  /** The address in the homepage's link. */
  named: URL;
  /** The page's own address; null when it is not a page of the site. */
  address: URL | null;
  links: readonly URL[];
  answered: boolean;
}

/** The pages in the site's menus; if no menu was recognised, those at the top level of paths. */
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

/** Whether a path is at the top level: `/pricing` and `/en/pricing` are, `/blog/pricing` is not. */
function isTopLevel(pathname: string): boolean {
  return /^(?:\/[a-z]{2}(?:[-_][a-z]{2})?)?\/[^/]+\/?$/i.test(pathname);
}

function withoutFragment(link: URL): URL {
  const url = new URL(link);
  url.hash = '';
  return url;
}

/** The address of a page: its canonical address, unless that is the homepage, which misconfigured sites give for all pages. */
export function addressOf(url: URL, canonical: URL | null, pages: SitePages): URL {
  const path = canonical && pages.pathOf(canonical);
  return canonical && path !== null && path !== '/' ? canonical : url;
}
