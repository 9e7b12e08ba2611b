// Analyses a website: finds its pages, sorts them into categories of a visitor's intent, and proposes rules.
import { maximumAnalysedPages, type SiteAnalysis } from '@lead-scoring/contracts';
import type { Outbound } from '@lead-scoring/outbound';
import { addressOf, discoverByCrawling } from './crawl.js';
import { SiteNotFetched } from './errors.js';
import { readHomepage, type Page } from './homepage.js';
import { proposeRules } from './propose.js';
import { domainOf, siteOf, SitePages, siteUrl } from './site.js';
import { discoverFromSitemaps } from './sitemap-search.js';
import { createVisitor, type Visitor } from './visit.js';

export interface AnalyzeDependencies {
  outbound: Outbound;
  /** When it aborts, the pages found so far are the result. */
  signal: AbortSignal;
}

/**
 * @param url with or without `https://`
 * @throws OutboundRefused when the address, or one that it redirects to, may not be requested
 * @throws SiteNotFetched when the site has nothing that can be analysed
 */
export async function analyzeSite(url: string, dependencies: AnalyzeDependencies): Promise<SiteAnalysis> {
  const { outbound, signal } = dependencies;
  const start = new URL(outbound.check(siteUrl(url)));
  start.search = '';
  start.hash = '';
  const visitor = createVisitor(dependencies);
  const { sitemaps } = await visitor.robots(start);
  const homepage = await homepageOrReason(visitor, start);
  const fetched = homepage instanceof SiteNotFetched ? start : homepage.url;

  const pages = new SitePages(siteOf(fetched));
  const discovery = { visitor, pages, signal };
  if (!(homepage instanceof SiteNotFetched)) pages.add(addressOf(fetched, homepage.canonical, pages));
  const named = {
    byRobots: [...sitemaps, ...(await sitemapsOf(visitor, fetched))],
    byHomepage: homepage instanceof SiteNotFetched ? [] : homepage.sitemaps,
  };
  let source: SiteAnalysis['source'] = 'sitemap';
  if (!(await discoverFromSitemaps(discovery, fetched, named))) {
    if (homepage instanceof SiteNotFetched) throw homepage;
    source = await discoverByCrawling(discovery, homepage);
    if (homepage.asksForPassword && pages.size <= 1)
      throw new SiteNotFetched(
        'login_required',
        'The site requires a login: its homepage has only a login form.',
      );
  }
  return resultOf(fetched, pages, source);
}

/** Reads the homepage, or returns the reason why it cannot be read: the site may still have a sitemap. */
async function homepageOrReason(visitor: Visitor, url: URL): Promise<Page | SiteNotFetched> {
  try {
    return await readHomepage(visitor, url);
  } catch (error) {
    if (error instanceof SiteNotFetched) return error;
    throw error;
  }
}

/** The sitemaps in the robots.txt of the origin to which the homepage has redirected; that file has been read already. */
async function sitemapsOf(visitor: Visitor, url: URL): Promise<readonly string[]> {
  try {
    return (await visitor.robots(url)).sitemaps;
  } catch (error) {
    if (error instanceof SiteNotFetched) return [];
    throw error;
  }
}

function resultOf(fetched: URL, pages: SitePages, source: SiteAnalysis['source']): SiteAnalysis {
  const paths = pages.nearestFirst();
  const analysed = paths.slice(0, maximumAnalysedPages);
  const skipped = paths.slice(maximumAnalysedPages);
  const address = new URL(fetched);
  address.search = '';
  address.hash = '';
  return {
    domain: domainOf(fetched),
    fetched_url: address.href,
    page_count: paths.length,
    skipped_urls: skipped.length,
    source,
    ...proposeRules(analysed, skipped),
  };
}
