// The answers to callers for servers that misbehave; an analysis of any of them takes bounded memory.
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { siteAnalysis, type SiteAnalysis } from '@lead-scoring/contracts';
import { createOutbound } from '@lead-scoring/outbound';
import { generate } from 'selfsigned';
import * as misbehaving from '../testing/misbehaving.js';
import { serve, type ServedSite } from '../testing/serve.js';
import { analyzeSite } from './analyze.js';

/** The most by which the resident memory of a process may grow while it analyses one of these sites. */
const memoryBound = 100 * 1_024 * 1_024;

/** The same while it analyses sixteen of the worst at once. */
const togetherBound = 300 * 1_024 * 1_024;

let served: ServedSite | undefined;

afterEach(async () => {
  await served?.close();
  served = undefined;
});

interface Outcome {
  result?: SiteAnalysis;
  error?: unknown;
  grownBytes: number;
}

/** The outcome of an analysis for its caller, and the growth of memory. */
async function analyze(listener: RequestListener, budgetMs = 14_000): Promise<Outcome> {
  served = await serve(listener);
  return measured(
    analyzeSite(served.origin, { outbound: served.outbound, signal: AbortSignal.timeout(budgetMs) }),
  );
}

async function measured(analysis: Promise<SiteAnalysis>): Promise<Outcome> {
  const before = process.memoryUsage.rss();
  let highest = before;
  const sampling = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 5);
  try {
    const outcome = await analysis.then(
      (result) => ({ result: siteAnalysis.parse(result) }),
      (error: unknown) => ({ error }),
    );
    return { ...outcome, grownBytes: Math.max(highest, process.memoryUsage.rss()) - before };
  } finally {
    clearInterval(sampling);
  }
}

const short = 700;

describe('502, with the reason, for a site that', () => {
  test.each<[string, RequestListener]>([
    ['never answers', misbehaving.neverAnswers],
    ['never answers with its homepage', misbehaving.neverAnswersTheHomepage],
    ['sends a byte a second', misbehaving.drips],
  ])('%s', async (_, listener) => {
    const { error, grownBytes } = await analyze(listener, short);
    expect(error).toMatchObject({ name: 'SiteNotFetched', reason: 'timeout' });
    expect(grownBytes).toBeLessThan(memoryBound);
  });

  test.each<[string, RequestListener, string]>([
    ['redirects for ever', misbehaving.redirectsForEver, 'error'],
    ['answers 401', misbehaving.answers(401, { 'www-authenticate': 'Basic' }), 'login_required'],
    ['has only a login form', misbehaving.answers(200, {}, '<input type=password>'), 'login_required'],
    ['answers 403', misbehaving.answers(403), 'blocked'],
    ['forbids unknown agents', misbehaving.forbidsUnknownAgents, 'blocked'],
    ['answers 429', misbehaving.answers(429), 'blocked'],
    ['challenges', misbehaving.answers(503, { 'cf-mitigated': 'challenge' }), 'blocked'],
    ['has a robots.txt that fails', misbehaving.robotsFails, 'blocked'],
    ['answers 404', misbehaving.answers(404), 'error'],
    ['answers 500', misbehaving.answers(500), 'error'],
    ['answers with JSON', misbehaving.answers(200, { 'content-type': 'application/json' }, '{}'), 'not_html'],
    [
      'answers with a picture',
      misbehaving.answers(200, { 'content-type': 'image/png' }, '\x89PNG'),
      'not_html',
    ],
    ['answers with bytes', misbehaving.answers(200, { 'content-type': '' }, '\0\u0001<a>\0'), 'not_html'],
    ['answers with nothing', misbehaving.answers(200), 'not_html'],
    ['answers 204', misbehaving.answers(204), 'not_html'],
    ['redirects to nowhere', misbehaving.redirectsTo('http://[broken'), 'error'],
  ])('%s', async (_, listener, reason) => {
    const { error, grownBytes } = await analyze(listener);
    expect(error).toMatchObject({ name: 'SiteNotFetched', reason });
    expect(grownBytes).toBeLessThan(memoryBound);
  });

  test('redirects to a login page', async () => {
    const { error } = await analyze((req, res) => {
      if (req.url === '/') res.writeHead(302, { location: '/users/sign_in' }).end();
      else if (req.url === '/users/sign_in')
        res.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/x">x');
      else res.writeHead(404).end();
    });
    expect(error).toMatchObject({ reason: 'login_required' });
  });

  test.each([
    ['garbage', Buffer.from([0, 1, 2, 255, 254, 10, 13, 10])],
    ['half an answer', Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n<html>')],
    ['two lengths', Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab')],
    ['headers without end', Buffer.from(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}`)],
    ['nothing', Buffer.alloc(0)],
  ])('does not speak HTTP: %s', async (_, bytes) => {
    const server = await misbehaving.serveBytes(bytes);
    const outbound = createOutbound({
      userAgent: 'test/1.0',
      allowedPrivateTargets: [{ host: '127.0.0.1', fromPort: server.port, toPort: server.port }],
    });
    const signal = AbortSignal.timeout(14_000);
    const { error } = await measured(analyzeSite(`http://127.0.0.1:${server.port}`, { outbound, signal }));
    expect(error).toMatchObject({ name: 'SiteNotFetched', message: expect.stringMatching(/\S/) });
    await outbound.close();
    await server.close();
  });

  test('has an invalid certificate', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'elsewhere.example' }]);
    const server = createTlsServer({ key, cert }, (_, res) => res.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const outbound = createOutbound({
      userAgent: 'test/1.0',
      allowedPrivateTargets: [{ host: '127.0.0.1', fromPort: port, toPort: port }],
    });
    const signal = AbortSignal.timeout(14_000);
    await expect(analyzeSite(`127.0.0.1:${port}`, { outbound, signal })).rejects.toMatchObject({
      reason: 'tls_failed',
    });
    await outbound.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test('does not answer, or has a name that DNS does not know', async () => {
    served = await serve(misbehaving.neverAnswers);
    const { port } = new URL(served.origin);
    const outbound = createOutbound({
      userAgent: 'test/1.0',
      allowedPrivateTargets: [{ host: '127.0.0.1', fromPort: Number(port), toPort: Number(port) }],
      resolve: () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })),
    });
    await served.close();
    const signal = AbortSignal.timeout(14_000);
    await expect(analyzeSite(served.origin, { outbound, signal })).rejects.toMatchObject({
      reason: 'unreachable',
    });
    await expect(analyzeSite('nobody.example.com', { outbound, signal })).rejects.toMatchObject({
      reason: 'name_not_found',
    });
    await outbound.close();
    served = undefined;
  });
});

describe('400 for', () => {
  test.each([
    ['', 'invalid_url'],
    ['http://', 'invalid_url'],
    ['no url at all', 'invalid_url'],
    ['ftp://example.com', 'scheme_not_allowed'],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['https://user:secret@example.com', 'credentials_in_url'],
    ['example.com:22', 'port_not_allowed'],
    ['localhost', 'address_not_public'],
    ['http://2130706433/', 'address_not_public'],
    ['http://[::ffff:10.0.0.1]/', 'address_not_public'],
  ])('%p: %s', async (url, code) => {
    served = await serve(misbehaving.neverAnswers);
    const { outbound } = served;
    const signal = AbortSignal.timeout(14_000);
    await expect(analyzeSite(url, { outbound, signal })).rejects.toMatchObject({
      name: 'OutboundRefused',
      code,
    });
    expect(served.requests).toEqual([]);
  });

  test.each([
    ['http://127.0.0.1:1/', 'address_not_public'],
    ['http://169.254.169.254/latest/meta-data', 'address_not_public'],
    ['//10.0.0.1/', 'address_not_public'],
    ['http://0x7f.1/', 'address_not_public'],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['http://a:b@example.com/', 'credentials_in_url'],
    ['http://example.com:25/', 'port_not_allowed'],
  ])('a homepage that redirects to %s', async (location, code) => {
    const { error } = await analyze(misbehaving.redirectsTo(location));
    expect(error).toMatchObject({ name: 'OutboundRefused', code });
  });

  test('a robots.txt that redirects to a private address', async () => {
    const { error } = await analyze((_, res) =>
      res.writeHead(301, { location: 'http://192.168.0.1/robots.txt' }).end(),
    );
    expect(error).toMatchObject({ name: 'OutboundRefused', code: 'address_not_public' });
  });
});

describe('a result from the readable part, for a site with', () => {
  test.each<[string, RequestListener, Partial<SiteAnalysis>, string[]]>([
    ['a homepage of 50 MB of text', misbehaving.hugeHomepage(50e6, 'lorem ipsum '), { page_count: 1 }, []],
    ['a homepage of 50 MB of elements', misbehaving.hugeHomepage(50e6, '<p><b>'), { page_count: 1 }, []],
    [
      'a homepage of 50 MB of links',
      misbehaving.hugeHomepage(50e6, '<a href="/docs/a/b">x</a>'),
      { page_count: 2 },
      ['/docs/a/b'],
    ],
    ['a homepage of 10 GB, zipped', misbehaving.zippedHomepage, { page_count: 1 }, []],
    [
      'a zipped sitemap of 10 GB',
      misbehaving.zippedSitemap,
      { source: 'sitemap', page_count: 2 },
      ['/pricing'],
    ],
    [
      'a sitemap of 10 GB, zipped on the way',
      misbehaving.encodedSitemap,
      { source: 'sitemap', page_count: 2 },
      ['/pricing'],
    ],
    ['a sitemap that expands entities', misbehaving.expandingSitemap, { source: 'sitemap' }, ['/pricing']],
    [
      'a sitemap index that names itself',
      misbehaving.circularIndex,
      { source: 'crawl+depth', page_count: 2 },
      ['/contact'],
    ],
    [
      'a sitemap of 100,000 pages',
      misbehaving.hugeSitemap,
      { source: 'sitemap', page_count: 100_003, skipped_urls: 99_703 },
      ['/pricing', '/pricing/teams'],
    ],
  ])('%s', async (_, listener, expected, pages) => {
    const { result, error, grownBytes } = await analyze(listener);
    expect(error).toBeUndefined();
    expect(result).toMatchObject(expected);
    const found = result?.categories.flatMap(({ urls }) => urls) ?? [];
    expect(found.filter((path) => !path.startsWith('/articles/'))).toEqual(pages);
    expect(grownBytes).toBeLessThan(memoryBound);
  });

  test('all of these at once: the memory of many analyses is bounded as well', async () => {
    const hostile = [
      misbehaving.encodedSitemap,
      misbehaving.zippedSitemap,
      misbehaving.zippedHomepage,
      misbehaving.hugeHomepage(50e6, '<p><b>'),
    ];
    const sites = await Promise.all(Array.from({ length: 4 }, () => hostile.map(serve)).flat());
    // A long budget, so that a busy machine does not end the analyses early.
    const signal = AbortSignal.timeout(80_000);
    const analyses = sites.map(({ origin, outbound }) => analyzeSite(origin, { outbound, signal }));
    const all = Promise.all(analyses);
    const [first] = analyses;
    if (first === undefined) throw new Error('there are some');
    const { error, grownBytes } = await measured(all.then(() => first));
    await Promise.all(sites.map((site) => site.close()));
    expect(error).toBeUndefined();
    expect(grownBytes).toBeLessThan(togetherBound);
  }, 90_000);

  test('an index that names itself is read a bounded number of times', async () => {
    await analyze(misbehaving.circularIndex);
    expect(served?.requests.filter((path) => path.startsWith('/sitemap.xml')).length).toBeLessThanOrEqual(50);
  });
});

describe('when the time is over, the pages found so far are the result', () => {
  const html = { 'content-type': 'text/html' };

  test('of a sitemap index of which one sitemap never ends', async () => {
    const { result } = await analyze((req, res) => {
      if (req.url === '/robots.txt') res.end('Sitemap: /a.xml\nSitemap: /never.xml');
      else if (req.url === '/a.xml') res.end('<urlset><url><loc>/pricing</loc></url></urlset>');
      else if (req.url === '/') res.writeHead(200, html).end('<p>');
    }, short);
    expect(result).toMatchObject({ source: 'sitemap', page_count: 2 });
  });

  test('of a crawl in which one page never answers', async () => {
    const { result } = await analyze((req, res) => {
      if (req.url === '/')
        res.writeHead(200, html).end('<nav><a href="/pricing"></a><a href="/never"></a></nav>');
      else if (req.url === '/pricing') res.writeHead(200, html).end('<a href="/contact">');
      else if (req.url !== '/never') res.writeHead(404).end();
    }, short);
    expect(result).toMatchObject({ source: 'crawl+depth', page_count: 4 });
  });

  test('of a site whose sitemaps never answer', async () => {
    const { result } = await analyze((req, res) => {
      if (req.url === '/robots.txt') res.writeHead(404).end();
      else if (req.url === '/') res.writeHead(200, html).end('<nav><a href="/pricing"></a></nav>');
    }, short);
    expect(result).toMatchObject({ source: 'crawl', page_count: 2 });
  });
});
