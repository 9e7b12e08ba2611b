// Analyses of whole sites over real connections: the results, the ways of finding pages, and politeness.
import { afterEach, describe, expect, test } from '@jest/globals';
import { attributeFilter, compileFilters, siteAnalysis, type SiteAnalysis } from '@lead-scoring/contracts';
import { links, serve, serveSite, sitemapOf, type ServedSite, type SiteFiles } from '../testing/serve.js';
import { agency } from '../testing/sites/agency.js';
import { multiLanguage } from '../testing/sites/multi-language.js';
import { openSource } from '../testing/sites/open-source.js';
import { saas } from '../testing/sites/saas.js';
import { shop } from '../testing/sites/shop.js';
import { analyzeSite } from './analyze.js';
import { agentName } from './robots.js';

let served: ServedSite;

afterEach(() => served.close());

async function analyze(files: SiteFiles, path = ''): Promise<SiteAnalysis> {
  served = await serveSite(files);
  return analyzeServed(path);
}

async function analyzeServed(path = ''): Promise<SiteAnalysis> {
  const signal = AbortSignal.timeout(14_000);
  const result = await analyzeSite(served.origin + path, { outbound: served.outbound, signal });
  return siteAnalysis.parse(result);
}

/** A complete result in short: one line for each category, with the fragments where its rule has a list. */
function summary({ categories, proposed_rules, ...rest }: SiteAnalysis) {
  expect(
    proposed_rules.map(({ event_type, weight, label, icon }) => {
      return { event_type, category: label, suggested_weight: weight, icon };
    }),
  ).toEqual(
    categories.map(({ category, suggested_weight, icon }) => {
      return { event_type: 'Page View', category, suggested_weight, icon };
    }),
  );
  return {
    ...rest,
    fetched_url: rest.fetched_url.replace(served.origin, ''),
    categories: categories.map(({ category, pattern, urls, suggested_weight, icon }, at) => {
      const value = proposed_rules[at]?.attribute_filters[0]?.value;
      const list = Array.isArray(value) ? ` (${value.join(' ')})` : '';
      expect(list === '' ? value : pattern).toBe(pattern);
      return `${category} (${suggested_weight}, ${icon}): ${pattern}${list} in ${urls.join(' ')}`;
    }),
  };
}

describe('the whole result', () => {
  test('of a SaaS product: an index of sitemaps, one of them zipped', async () => {
    expect(summary(await analyze(saas))).toEqual({
      domain: '127.0.0.1',
      fetched_url: '/',
      page_count: 36,
      skipped_urls: 0,
      source: 'sitemap',
      categories: [
        'Very High Intent - Demo/Book (15, calendar-check): demo in /book-demo /demo',
        'High Intent - Contact (12, mail): /contact in /contact-sales /contact',
        'High Intent - Pricing (10, badge-dollar-sign): /pricing in /pricing /pricing/enterprise',
        'High Intent - Signup (10, user-plus): /free-trial in /free-trial',
        'Mid-High Intent - Social Proof (8, star): /customers in /customers /customers/acme /customers/globex',
        // A post of the blog is about product-led growth: every fragment that matches /product matches it as well.
        'Mid Intent - Product (6, package): /product/ (/product /features) in /product /product/automation /product/reporting /features/integrations /blog/product-led-growth',
        'Mid Intent - Solutions (6, lightbulb): /solutions in /solutions/for-agencies /solutions/retail',
        'Mid Intent - Tools (6, calculator): /roi-calculator in /roi-calculator',
        'Mid Intent - Documentation (5, book-open): /docs in /docs /docs/install /docs/webhooks',
        'Low Intent - Partners (3, handshake): /partners in /partners',
        'Low Intent - Resources (3, library): /templates in /templates/invoice',
        'Low Intent - Content (2, newspaper): /blog in /blog /blog/why-teams-plan /blog/planning-2026 /blog/product-led-growth /blog/a-psychology-of-prices /blog/hello-world',
        'Neutral - Company Info (1, building-2): /about in /company/about',
        'Not a Buyer - Careers (-5, briefcase): /careers in /company/careers /company/careers/engineer',
        'Not a Buyer - Legal (-3, scale): /legal in /legal/privacy /legal/terms-of-service',
      ],
    });
  });

  test('of an agency: hand-written pages, a base address, a menu without nav', async () => {
    expect(summary(await analyze(agency))).toEqual({
      domain: '127.0.0.1',
      fetched_url: '/',
      page_count: 11,
      skipped_urls: 0,
      source: 'crawl+depth',
      categories: [
        'High Intent - Contact (12, mail): /contact in /contact',
        'Mid-High Intent - Social Proof (8, star): /our-work in /our-work /our-work/lighthouse /our-work/harbour',
        'Mid Intent - Solutions (6, lightbulb): /services in /services.html /services/branding.html /services/web.html',
        'Neutral - Company Info (1, building-2): /about_us in /about_us.php',
        'Not a Buyer - Careers (-5, briefcase): /jobs in /jobs',
        'Not a Buyer - Legal (-3, scale): /impressum in /Impressum.html',
      ],
    });
  });

  test('of a shop: a sitemap of plain text that no file names', async () => {
    expect(summary(await analyze(shop))).toEqual({
      domain: '127.0.0.1',
      fetched_url: '/',
      page_count: 15,
      skipped_urls: 0,
      source: 'sitemap',
      categories: [
        'High Intent - Contact (12, mail): /pages/contact in /pages/contact /de/pages/contact',
        'Mid-High Intent - Social Proof (8, star): /reviews in /pages/reviews',
        'Mid Intent - Product (6, package): /products in /products/desk-lamp /products/floor-lamp /de/products/desk-lamp',
        'Mid Intent - Location Pages (5, map-pin): /store-locator in /pages/store-locator',
        'Low Intent - Content (2, newspaper): /blogs in /blogs/news/autumn',
        'Neutral - Company Info (1, building-2): /about-us in /pages/about-us',
        'Not a Buyer - Legal (-3, scale): -policy in /pages/shipping-policy /policies/refund-policy',
      ],
    });
  });

  test('of open source with much documentation: a crawl', async () => {
    expect(summary(await analyze(openSource))).toEqual({
      domain: '127.0.0.1',
      fetched_url: '/',
      page_count: 15,
      skipped_urls: 0,
      source: 'crawl+depth',
      categories: [
        'Mid Intent - Documentation (5, book-open): /docs in /docs/intro /docs/api /docs/v1.2 /docs/install /docs/guides/deploy /docs/guides/scale /docs/api/client /docs/api/server',
        'Low Intent - Content (2, newspaper): /blog in /blog /blog/release-2 /blog/release-1',
        'Not a Buyer - Legal (-3, scale): /privacy in /privacy',
      ],
    });
    // A page that robots.txt forbids is listed, but was not read.
    expect(served.requests).not.toContain('/community');
  });

  test('of a company in three languages: a homepage that redirects, sitemaps with other languages', async () => {
    expect(summary(await analyze(multiLanguage))).toEqual({
      domain: '127.0.0.1',
      fetched_url: '/en/',
      page_count: 23,
      skipped_urls: 0,
      source: 'sitemap',
      categories: [
        'High Intent - Contact (12, mail): /contact in /en/contact /de/contact /fr-fr/contact',
        'High Intent - Pricing (10, badge-dollar-sign): /pricing (/pricing /preise) in /en/pricing /de/pricing /fr-fr/pricing /de/preise',
        'Mid Intent - Product (6, package): /products in /en/products/pumps /de/products/pumps /fr-fr/products/pumps /en/products/valves /de/products/valves /fr-fr/products/valves',
        'Low Intent - Content (2, newspaper): /newsroom in /en/newsroom /de/newsroom /fr-fr/newsroom',
        'Neutral - Company Info (1, building-2): /%c3%bcber-uns in /de/%C3%BCber-uns',
        'Not a Buyer - Careers (-5, briefcase): /careers in /en/company/careers /de/company/careers /fr-fr/company/careers',
      ],
    });
  });

  test.each([saas, agency, shop, openSource, multiLanguage])(
    'has filters that match exactly the listed pages (site %#)',
    async (files) => {
      const { categories, proposed_rules } = await analyze(files);
      const all = [...new Set(categories.flatMap(({ urls }) => urls))];
      for (const [at, { urls }] of categories.entries()) {
        const filters = (proposed_rules[at]?.attribute_filters ?? []).map((filter) =>
          attributeFilter.parse(filter),
        );
        expect(all.filter((path) => compileFilters(filters)({ path })).sort()).toEqual([...urls].sort());
      }
    },
  );
});

const pagesOf = ({ categories }: SiteAnalysis) => categories.flatMap(({ urls }) => urls).sort();
const home = '<html><body>Nothing</body></html>';

describe('sitemaps', () => {
  test('all sitemaps in robots.txt are read, also relative ones and those in groups of other agents, but not those of other hosts', async () => {
    const result = await analyze({
      '/': home,
      '/robots.txt': (origin) =>
        `Sitemap: ${origin}/a.xml\nUser-agent: x\nDisallow: /\nSitemap: /b.xml\nSitemap: https://elsewhere.example/c.xml`,
      '/a.xml': (origin) => sitemapOf(origin, ['/pricing', '/contact']),
      '/b.xml': () => sitemapOf('https://elsewhere.example', ['/demo']) + '<!-- -->',
    });
    expect(pagesOf(result)).toEqual(['/contact', '/pricing']);
    expect(served.requests).toEqual(['/robots.txt', '/', '/a.xml', '/b.xml']);
  });

  test.each([
    '/sitemap.xml',
    '/sitemap_index.xml',
    '/sitemap-index.xml',
    '/wp-sitemap.xml',
    '/sitemap.xml.gz',
    '/sitemap.txt',
    '/sitemap/sitemap.xml',
  ])('one that no file names is found at %s', async (path) => {
    const result = await analyze({ '/': home, [path]: (origin) => sitemapOf(origin, ['/pricing']) });
    expect(result).toMatchObject({ source: 'sitemap', page_count: 2 });
  });

  test('one that the homepage names is found', async () => {
    const result = await analyze({
      '/': '<link rel="sitemap" href="/hidden-map.xml">',
      '/hidden-map.xml': (origin) => sitemapOf(origin, ['/pricing']),
    });
    expect(result.source).toBe('sitemap');
  });

  test('if the sitemaps in robots.txt do not exist, the usual places are tried', async () => {
    const result = await analyze({
      '/': home,
      '/robots.txt': 'Sitemap: /gone.xml',
      '/sitemap.xml': (origin) => sitemapOf(origin, ['/pricing']),
    });
    expect(result.source).toBe('sitemap');
  });

  test('indexes may nest, and the content type of an answer does not matter', async () => {
    const index = (path: string) => ({
      headers: { 'content-type': 'application/pdf' },
      body: `<sitemapindex><sitemap><loc>${path}</loc></sitemap></sitemapindex>`,
    });
    const result = await analyze({
      '/': home,
      '/sitemap.xml': index('/one'),
      '/one': index('two/'),
      '/two/': (origin) => ({
        headers: { 'content-type': 'text/html' },
        body: sitemapOf(origin, ['/pricing']),
      }),
    });
    expect(result).toMatchObject({ source: 'sitemap', page_count: 2 });
  });

  test('the page of a site that answers every path with the same page is not taken for a sitemap', async () => {
    served = await serve((_, res) => {
      res
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><nav><a href="/pricing">Pricing</a></nav>');
    });
    expect(await analyzeServed()).toMatchObject({ source: 'crawl+depth', page_count: 2 });
  });

  test('one that names only the homepage is ignored', async () => {
    const result = await analyze({
      '/': '<a href="/pricing">Pricing</a>',
      '/pricing': home,
      '/sitemap.xml': (origin) => sitemapOf(origin, ['/', '/index.html', '/#top']),
    });
    expect(result).toMatchObject({ source: 'crawl+depth', page_count: 2 });
  });

  test('of thousands of pages the 300 nearest to the homepage are analysed, and the others are counted', async () => {
    const posts = Array.from({ length: 5_000 }, (_, at) => `/blog/post-${at}`);
    const result = await analyze({
      '/': home,
      '/sitemap.xml': (origin) =>
        sitemapOf(origin, [...posts, '/pricing', ...posts.map((post) => `${post}/?page=2`)]),
    });
    expect(result).toMatchObject({ source: 'sitemap', page_count: 5_002, skipped_urls: 4_702 });
    expect(pagesOf(result)).toHaveLength(299);
    expect(pagesOf(result)).toContain('/pricing');
  });

  test('are sufficient for a site whose homepage cannot be read', async () => {
    const result = await analyze({
      '/': { status: 500 },
      '/sitemap.xml': (origin) => sitemapOf(origin, ['/', '/pricing']),
    });
    expect(result).toMatchObject({ source: 'sitemap', page_count: 2 });
  });
});

describe('a crawl', () => {
  test('reads only the homepage when there is no navigation to follow', async () => {
    const result = await analyze({ '/': links(['/legal/site/privacy', '/a/b/pricing']) });
    expect(result).toMatchObject({ source: 'crawl', page_count: 3 });
    expect(served.requests).not.toContain('/a/b/pricing');
  });

  test('reads only the homepage when it links to 300 pages', async () => {
    const result = await analyze({
      '/': `<nav>${links(Array.from({ length: 400 }, (_, at) => `/p${at}`))}</nav>`,
    });
    expect(result).toMatchObject({ source: 'crawl', page_count: 401, skipped_urls: 101 });
    expect(served.requests).not.toContain('/p0');
  });

  test('goes one level deep and no further', async () => {
    const result = await analyze({
      '/': '<nav><a href="/product">Product</a></nav><main><a href="/blog/x">Post</a></main>',
      '/product': '<a href="/product/tour">Tour</a>',
      '/product/tour': '<a href="/pricing">Pricing</a>',
      '/blog/x': '<a href="/demo">Demo</a>',
    });
    expect(result).toMatchObject({ source: 'crawl+depth', page_count: 4 });
    expect(served.requests).not.toContain('/product/tour');
    expect(served.requests).not.toContain('/blog/x');
  });

  test('of a site without a menu follows the links to the top level of paths', async () => {
    const result = await analyze({
      '/': '<p><a href="/product">Product</a> <a href="/blog/x">Post</a></p>',
      '/product': '<a href="/pricing">Pricing</a>',
    });
    expect(result).toMatchObject({ source: 'crawl+depth', page_count: 4 });
    expect(served.requests).not.toContain('/blog/x');
  });

  test('counts a page once: by its canonical address, without query, fragment, trailing slash and www', async () => {
    const result = await analyze({
      '/': `<nav>${links(['/pricing', '/pricing/', '/pricing?x=1', '/pricing#a', '/pricing/index.html', '/old'])}</nav>`,
      '/pricing': '<link rel="canonical" href="/pricing?utm=1">',
      '/old': '<link rel="canonical" href="/contact"><nav><a href="/old">Old</a></nav>',
    });
    expect(pagesOf(result)).toEqual(['/contact', '/pricing']);
    expect(result.page_count).toBe(3);
  });

  test('ignores canonical addresses when all pages name the homepage as theirs', async () => {
    const head = '<link rel="canonical" href="/">';
    const result = await analyze({ '/': `${head}<nav><a href="/pricing">P</a></nav>`, '/pricing': head });
    expect(pagesOf(result)).toEqual(['/pricing']);
  });

  test('leaves out links that are gone, are not pages, or redirect to another site or a refused address', async () => {
    const result = await analyze({
      '/': `<nav>${links(['/gone', '/demo', '/contact', '/customers', '/jobs', '/logo.png', '/pricing', '/blog'])}</nav>`,
      '/demo': { status: 302, headers: { location: 'https://elsewhere.example/demo' } },
      '/contact': { status: 302, headers: { location: 'http://169.254.169.254/latest' } },
      '/customers': { headers: { 'content-type': 'application/json' }, body: '{}' },
      '/jobs': { status: 301, headers: { location: '/careers' } },
      '/careers': '<nav><a href="/jobs">Jobs</a></nav>',
      '/pricing': { status: 403 },
      '/blog': { status: 500 },
    });
    expect(pagesOf(result)).toEqual(['/blog', '/careers', '/pricing']);
    expect(result.page_count).toBe(4);
  });

  test('starts at the given address, and the homepage is then a page like the others', async () => {
    const result = await analyze(
      {
        '/': '<a href="/contact">',
        '/en/start': '<nav><a href="/">Home</a><a href="/en/pricing">Pricing</a></nav>',
        '/en/pricing': home,
      },
      '/en/start?utm_source=x#top',
    );
    expect(result.fetched_url).toBe(`${served.origin}/en/start`);
    expect(pagesOf(result)).toEqual(['/contact', '/en/pricing']);
  });
});

describe('politeness', () => {
  test('every request has our user agent, with a contact address', async () => {
    await analyze(agency);
    expect([...served.agents]).toEqual([`${agentName}/1.0 (+https://example.com/bot)`]);
  });

  test('robots.txt is requested first, and once', async () => {
    await analyze(agency);
    expect(served.requests[0]).toBe('/robots.txt');
    expect(served.requests.filter((path) => path === '/robots.txt')).toHaveLength(1);
  });

  test('pages and sitemaps that robots.txt forbids are not fetched', async () => {
    await analyze({
      '/robots.txt': `User-agent: ${agentName}\nDisallow: /product\nDisallow: /*.xml\nSitemap: /map.xml`,
      '/': `<nav>${links(['/product', '/pricing'])}</nav>`,
      '/pricing': { status: 302, headers: { location: '/product' } },
    });
    expect(served.requests.filter((path) => /product|xml$/.test(path))).toEqual([]);
    expect(served.requests).toContain('/pricing');
  });

  test('a homepage that robots.txt forbids is not fetched: the result is that the site blocks us', async () => {
    served = await serveSite({ '/robots.txt': 'User-agent: *\nDisallow: /', '/': home });
    await expect(analyzeServed()).rejects.toMatchObject({ reason: 'blocked' });
    expect(served.requests).toEqual(['/robots.txt']);
  });

  test('a robots.txt that redirects is followed', async () => {
    await analyze({
      '/robots.txt': { status: 301, headers: { location: '/real-robots' } },
      '/real-robots': 'User-agent: *\nDisallow: /product',
      '/': `<nav>${links(['/product', '/pricing'])}</nav>`,
    });
    expect(served.requests).not.toContain('/product');
  });

  test('at most four requests are in flight at a time', async () => {
    const pages = links(Array.from({ length: 40 }, (_, at) => `/page-${at}`));
    const waiting: (() => void)[] = [];
    served = await serve((req, res) => {
      const answer = () => res.writeHead(200, { 'content-type': 'text/html' }).end(`<nav>${pages}</nav>`);
      if (!req.url?.startsWith('/page')) answer();
      // Each request is answered when three more wait, so that the largest allowed number is open.
      else if (waiting.push(answer) >= 4) waiting.splice(0).forEach((one) => one());
    });
    expect((await analyzeServed()).page_count).toBe(41);
    expect(served.mostAtOnce()).toBe(4);
  });

  test('a site that answers 429 gets no more requests', async () => {
    await analyze({
      '/': `<nav>${links(['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h'])}</nav>`,
      ...Object.fromEntries(['/a', '/b', '/c', '/d'].map((path) => [path, { status: 429 }])),
    });
    expect(served.requests.filter((path) => path.length === 2)).toEqual(['/a', '/b', '/c', '/d']);
  });

  test('a site with a crawl delay gets one request at a time, and fewer of them', async () => {
    await analyze({
      '/robots.txt': 'User-agent: *\nCrawl-delay: 0.1',
      '/': `<nav>${links(['/a', '/b'])}</nav>`,
    });
    expect(served.requests).toEqual(['/robots.txt', '/', '/sitemap.xml', '/sitemap_index.xml', '/a', '/b']);
    expect(served.mostAtOnce()).toBe(1);
  });
});
