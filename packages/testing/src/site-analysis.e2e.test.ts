// Website analysis through the running system: from a site's address to rules that score views of its pages, and the answers for
// unreadable sites and forbidden addresses.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { leadIdOf, problem, type SiteAnalysis } from '@lead-scoring/contracts';
import { html, sitemapSite, startExampleSite, type ExampleSite, type Page } from './example-site.js';
import { furnish } from './route-examples.js';
import { startTestSystem, type Answer, type RequestOptions, type TestSystem } from './test-system.js';

const listed = [
  ...['/pricing', '/book-demo', '/blog/one', '/blog/two', '/careers', '/planet'],
  ...['/terms', '/terms/sale', '/privacy'],
];
const crawled: Record<string, Page> = {
  '/robots.txt': (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /partners\n');
  },
  '/': html(
    '<nav><a href="/pricing/">Pricing</a><a href="/docs">Docs</a><a href="/partners">Partners</a></nav>',
  ),
  '/pricing/': html('<h1>Pricing</h1>'),
  '/docs': html('<a href="/contact">Talk to us</a>'),
  '/partners': html('<h1>Partners</h1>'),
  '/contact': html('<h1>Contact</h1>'),
};

let system: TestSystem;
let withSitemap: ExampleSite;
let withoutSitemap: ExampleSite;
let broken: ExampleSite;
/** Answers its homepage once `release` is called. */
let slow: ExampleSite;
let release: () => void = () => undefined;
let asked: Promise<void>;

beforeAll(async () => {
  withSitemap = await startExampleSite(sitemapSite(listed));
  withoutSitemap = await startExampleSite(crawled);
  const status =
    (code: number, type = 'text/html'): Page =>
    (_req, res) => {
      res.writeHead(code, { 'content-type': type }).end('no');
    };
  broken = await startExampleSite({
    '/login': status(401),
    '/blocked': status(403),
    '/picture': status(200, 'image/png'),
    '/away': (_req, res) => {
      res.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    },
  });
  const released = new Promise<void>((resolve) => (release = resolve));
  let tellAsked: () => void = () => undefined;
  asked = new Promise((resolve) => (tellAsked = resolve));
  slow = await startExampleSite({
    '/robots.txt': (_req, res) => {
      tellAsked();
      void released.then(() => res.writeHead(404).end());
    },
    '/': html('<nav><a href="/pricing">Pricing</a></nav>'),
    '/pricing': html('<h1>Pricing</h1>'),
  });
  system = await startTestSystem({
    environment: {
      ALLOW_PRIVATE_TARGETS: [withSitemap, withoutSitemap, broken, slow]
        .map(({ target }) => target)
        .join(','),
    },
  });
}, 120_000);

afterAll(async () => {
  release();
  await system.stop();
  for (const site of [withSitemap, withoutSitemap, broken, slow]) await site.stop();
}, 60_000);

/** Sends the request in the first unit, also when there are others. */
const request = <Body = unknown>(path: string, { headers, ...options }: RequestOptions = {}) =>
  system.request<Body>(path, { ...options, headers: { 'x-ou-id': system.ouId, ...headers } });

const analyse = <Body = SiteAnalysis>(url: unknown, headers: Record<string, string> = {}) =>
  request<Body>('/site-scoring/analyze', { body: { url }, headers });

describe('a site with a sitemap', () => {
  let found: Answer<SiteAnalysis>;

  test('is answered as SPEC.md has it', async () => {
    found = await analyse(withSitemap.url);
    expect(found.status).toBe(200);
    expect(found.body).toMatchObject({
      fetched_url: expect.stringContaining(withSitemap.url),
      skipped_urls: 0,
      source: 'sitemap',
    });
    expect(found.body.categories.map(({ category, urls }) => [category, [...urls].sort()])).toEqual([
      ['Very High Intent - Demo/Book', ['/book-demo']],
      ['High Intent - Pricing', ['/pricing']],
      ['Low Intent - Content', ['/blog/one', '/blog/two']],
      ['Not a Buyer - Careers', ['/careers']],
      ['Not a Buyer - Legal', ['/privacy', '/terms', '/terms/sale']],
    ]);
    expect(found.body.proposed_rules).toEqual(
      found.body.categories.map(({ category, pattern, suggested_weight, icon }) => {
        const value = category === 'Not a Buyer - Legal' ? ['/terms', '/privacy'] : pattern;
        return {
          event_type: 'Page View',
          weight: suggested_weight,
          label: category,
          icon,
          attribute_filters: [{ field: 'path', operator: 'contains', value }],
        };
      }),
    );
    expect(withSitemap.requests.every(({ userAgent }) => /\(\+?.+\)|https?:\/\//.test(userAgent ?? ''))).toBe(
      true,
    );
  });

  test('proposes rules that can be posted unchanged, and then score views of exactly those pages', async () => {
    for (const rule of found.body.proposed_rules) {
      const made = await request('/engagement-scoring/rules', { body: rule });
      expect(made).toMatchObject({ status: 201, body: { label: rule.label, icon: rule.icon } });
    }
    const weights = new Map(
      found.body.categories.flatMap(({ urls, suggested_weight }) =>
        urls.map((path) => [path, suggested_weight] as const),
      ),
    );
    const visits = ['/', ...listed].map((path, index) => ({
      path,
      alias: `visitor-${String(index)}-${randomUUID()}@example.com`,
    }));
    const sent = await request<{ position: string }>('/ingest', {
      body: visits.map(({ path, alias }) => ({
        alias_kind: 'email',
        alias,
        event_type: 'Page View',
        metadata: { path },
      })),
    });
    expect(sent.status).toBe(202);
    const scores: [string, number][] = [];
    for (const { path, alias } of visits) {
      const lead = leadIdOf(system.ouId, 'email', alias);
      const { body } = await request<{ score: number }>(`/score/${lead}?min_position=${sent.body.position}`);
      scores.push([path, body.score]);
    }
    expect(scores).toEqual(visits.map(({ path }) => [path, weights.get(path) ?? 0]));
  });

  test('is in the list of analyses, newest first, and in no other unit’s', async () => {
    await analyse(withoutSitemap.url);
    const { status, body } = await request<{ total: number; data: Record<string, unknown>[] }>(
      '/site-scoring/analyses?limit=2',
    );
    expect(status).toBe(200);
    expect(body.total).toBeGreaterThanOrEqual(2);
    expect(body.data.map(({ url }) => url)).toEqual([withoutSitemap.url, withSitemap.url]);
    expect(body.data[1]).toMatchObject({ ...found.body, id: expect.any(String) });
    const other = await furnish(system, 'elsewhere');
    const foreign = await request<{ data: { url: string }[] }>('/site-scoring/analyses', {
      token: other.viewerToken,
      headers: { 'x-ou-id': other.ouId },
    });
    expect(foreign.body.data.map(({ url }) => url)).toEqual([other.siteUrl]);
  });
});

test('a site without a sitemap is crawled from its homepage, as its robots.txt allows', async () => {
  withoutSitemap.requests.length = 0;
  const { status, body } = await analyse(withoutSitemap.url);
  expect(status).toBe(200);
  expect(['crawl', 'crawl+depth']).toContain(body.source);
  expect(body.categories.map(({ category }) => category)).toEqual(
    expect.arrayContaining(['High Intent - Pricing', 'Mid Intent - Documentation']),
  );
  expect(withoutSitemap.requests.map(({ path }) => path)).not.toContain('/partners');
});

test('analyses do not wait for each other: many are answered while one waits for a slow site', async () => {
  const waiting = analyse(slow.url);
  await asked;
  const others = await Promise.all(Array.from({ length: 8 }, () => analyse(withSitemap.url)));
  expect(others.map(({ status }) => status)).toEqual(Array(8).fill(200));
  release();
  expect((await waiting).status).toBe(200);
});

test('a repeated Idempotency-Key causes one analysis and gets one answer', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const total = async () => (await request<{ total: number }>('/site-scoring/analyses?limit=1')).body.total;
  const before = await total();
  const [first, second] = [await analyse(withSitemap.url, key), await analyse(withSitemap.url, key)];
  expect(first.status).toBe(200);
  expect(second.body).toEqual(first.body);
  expect(await total()).toBe(before + 1);
});

describe('a forbidden address is 400 with its code and a sentence', () => {
  test.each([
    [undefined, 'invalid_request'],
    ['', 'invalid_request'],
    [17, 'invalid_request'],
    ['http://', 'invalid_url'],
    ['ftp://example.com/', 'scheme_not_allowed'],
    ['javascript:alert(1)', 'invalid_url'],
    ['https://user:secret@example.com/', 'credentials_in_url'],
    ['https://example.com:8443/', 'port_not_allowed'],
    ['http://127.0.0.1/', 'address_not_public'],
    ['http://[::ffff:10.0.0.1]/', 'address_not_public'],
    ['http://0x7f.1/', 'address_not_public'],
    ['http://169.254.169.254/latest/meta-data/', 'address_not_public'],
    ['localhost', 'address_not_public'],
  ])('%s: %s', async (url, code) => {
    const { status, body } = await analyse<{ code: string }>(url);
    expect({ status, code: body.code }).toEqual({ status: 400, code });
    expect(problem.safeParse(body).error?.issues ?? []).toEqual([]);
  });

  test('also where a site redirects to it', async () => {
    expect(await analyse(`${broken.url}/away`)).toMatchObject({
      status: 400,
      body: { code: 'address_not_public' },
    });
  });
});

describe('a site that cannot be read is 502 with the reason', () => {
  test.each([
    ['/login', 'site_login_required'],
    ['/blocked', 'site_blocked'],
    ['/picture', 'site_not_html'],
  ])('%s: %s', async (path, code) => {
    const { status, body } = await analyse<{ code: string }>(`${broken.url}${path}`);
    expect({ status, code: body.code }).toEqual({ status: 502, code });
    expect(problem.safeParse(body).error?.issues ?? []).toEqual([]);
  });

  test('a host name without an address', async () => {
    const { status, body } = await analyse<{ code: string }>('no-such-site.example');
    expect(status).toBe(502);
    expect(body.code).toMatch(/^site_/);
  });
});

test('a request that is sent while the service is down is answered once it is back, or when it is repeated', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const { process } = system.service('site-analysis');
  await process.stop('SIGKILL');
  const pending = analyse(withSitemap.url, key);
  await process.start();
  await system.system.ready(60_000);
  let answer: Answer = await pending;
  for (let attempt = 0; attempt < 5 && answer.status >= 500; attempt += 1)
    answer = await analyse(withSitemap.url, key);
  expect(answer.status).toBe(200);
}, 180_000);
