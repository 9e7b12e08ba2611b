// Reading addresses, links of pages, robots.txt, sitemaps and character sets, also broken ones.
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { decodeText } from './charset.js';
import { readLinks } from './links.js';
import { agentName, parseRobots } from './robots.js';
import { domainOf, linkedUrl, pagePath, siteOf, SitePages, siteUrl } from './site.js';
import { readSitemap } from './sitemap.js';

const home = new URL('https://example.com/');
const url = (text: string) => new URL(text, home);

describe('an address', () => {
  test.each([
    ['example.com', 'https://example.com'],
    [' example.com/a ', 'https://example.com/a'],
    ['example.com:8080', 'https://example.com:8080'],
    ['//example.com', 'https://example.com'],
    ['http://example.com', 'http://example.com'],
    ['HTTP://example.com', 'HTTP://example.com'],
    ['ftp://example.com', 'ftp://example.com'],
    ['mailto:a@example.com', 'https://mailto:a@example.com'],
  ])('%s means %s', (text, expected) => {
    expect(siteUrl(text)).toBe(expected);
  });

  test.each([
    ['https://www.example.com/', true],
    ['http://example.com/', true],
    ['https://EXAMPLE.com./x', true],
    ['https://blog.example.com/', false],
    ['https://example.com.evil.net/', false],
    ['https://example.com:8443/', false],
    ['https://notexample.com/', false],
  ])('%s is of the site example.com: %s', (address, same) => {
    expect(siteOf(new URL(address)) === siteOf(home)).toBe(same);
  });

  test.each([
    ['https://www.example.com/', 'example.com'],
    ['https://blog.example.com/x', 'example.com'],
    ['https://www.shop.example.co.uk:8443/', 'example.co.uk'],
    ['https://EXAMPLE.com./', 'example.com'],
    ['https://acme.github.io/', 'acme.github.io'],
    ['https://github.io/', 'github.io'],
    ['https://bücher.example.de/', 'example.de'],
    ['http://127.0.0.1:3000/', '127.0.0.1'],
    ['http://[2001:db8::1]/', '[2001:db8::1]'],
    ['http://localhost:3000/', 'localhost'],
    ['https://www.intranet/', 'www.intranet'],
  ])('%s is of the root domain %s', (address, domain) => {
    expect(domainOf(new URL(address))).toBe(domain);
  });

  test.each([
    ['/', '/'],
    ['/index.html', '/'],
    ['/en/index.php', '/en'],
    ['/Default.aspx', '/'],
    ['/pricing/', '/pricing'],
    ['/pricing?plan=a#top', '/pricing'],
    ['//pricing//a', null],
    ['/a//b/', '/a/b'],
    ['/a;jsessionid=1/b;v=2', '/a/b'],
    ['/%7euser/%c3%bc', '/~user/%C3%BC'],
    ['/über', '/%C3%BCber'],
    ['/%zz', '/%zz'],
    ['/a.pdf', null],
    ['/logo.SVG?x', null],
    ['/feed.xml', null],
    ['/docs/v1.2', '/docs/v1.2'],
    ['/page.html', '/page.html'],
    ['/cdn-cgi/l/email-protection', null],
    ['/wp-json/wp/v2', null],
  ])('%s is the page %s', (address, expected) => {
    const pages = new SitePages('example.com');
    expect(pages.pathOf(url(address))).toBe(expected);
  });

  test('an address is the same page with and without www, query, fragment, trailing slash or index file', () => {
    const pages = new SitePages('example.com');
    for (const address of [
      'http://www.example.com/a',
      'https://example.com/a/?x=1',
      '/a#b',
      '/a/index.html',
      'https://other.example.com/a',
    ])
      pages.add(url(address));
    expect(pages.nearestFirst()).toEqual(['/a']);
  });

  test('the pages nearest to the homepage come first', () => {
    const pages = new SitePages('example.com');
    for (const address of ['/b/c/d', '/b/c', '/z', '/', '/a/b', '/a']) pages.add(url(address));
    expect(pages.nearestFirst()).toEqual(['/', '/z', '/a', '/b/c', '/a/b', '/b/c/d']);
  });

  test.each([
    'mailto:a@b.c',
    'tel:1',
    'javascript:void(0)',
    'data:text/html,x',
    'http://',
    `/${'a'.repeat(3_000)}`,
  ])('%s is not a link to a page', (href) => {
    expect(linkedUrl(href, home)).toBeNull();
  });
  test('an address of hostile length or shape is read like any other', () => {
    expect(pagePath(new URL(`https://example.com/${'/'.repeat(1_900)}a`))).toBe('/a');
    expect(pagePath(url(`/${';'.repeat(1_900)}`))).toBe('/');
  });
});

describe('the links of a page', () => {
  const read = (html: string) => readLinks(html, url('/dir/page'));
  const paths = (urls: URL[]) => urls.map(({ pathname }) => pathname);

  test.each([
    ['a nav element', '<nav><ul><li><a href="/a">A</a></ul></nav><a href="/b">B</a>'],
    ['a header', '<header><div><a href="/a">A</a></div></header><p><a href="/b">B</a></p>'],
    ['the role of a navigation', '<div role="navigation"><a href="/a">A</a></div><a href="/b">B</a>'],
    ['a class', '<div class="wrap Main-Nav"><a href="/a">A</a></div><a href="/b">B</a>'],
    ['an id', '<ul id="topMenu"><li><a href="/a">A</a></li></ul><a href="/b">B</a>'],
    ['an old-fashioned table', '<TABLE ID=menubar><TR><TD><A HREF=/a>A</A></TABLE><A HREF=/b>B</A>'],
  ])('the navigation is recognised by %s', (_, html) => {
    const found = read(html);
    expect(paths(found.navigation)).toEqual(['/a']);
    expect(paths(found.links)).toEqual(['/a', '/b']);
  });

  test('menus in a footer are not navigation', () => {
    expect(read('<footer><nav><a href="/a">A</a></nav></footer>').navigation).toEqual([]);
    expect(read('<div class="site-footer menu"><a href="/a">A</a></div>').navigation).toEqual([]);
  });

  test('relative links are resolved by the base address, if the page has one', () => {
    expect(paths(read('<a href="x">').links)).toEqual(['/dir/x']);
    expect(paths(read('<base href="/other/"><base href="/third/"><a href="x">').links)).toEqual(['/other/x']);
    expect(paths(read('<base href="javascript:0"><a href="x">').links)).toEqual(['/dir/x']);
  });

  test('the canonical address, the sitemap and the refresh address of a page are read', () => {
    const found = read(
      `<link rel="Canonical" href="/real"><link rel=sitemap href=/map.xml>
       <meta http-equiv="Refresh" content="0; URL='/next'">`,
    );
    expect(found.canonical?.pathname).toBe('/real');
    expect(paths(found.sitemaps)).toEqual(['/map.xml']);
    expect(paths(found.navigation)).toEqual(['/next']);
  });

  test('comments, scripts, styles and entities are treated as in browsers', () => {
    const found = read(
      `<!-- <a href="/comment"> --><script>var a = '<a href="/script"><!--';</script >
       <style>/* <a href="/style"> */</style><a href="/a?b=1&amp;c=2">A</a><!-- <a href="/unfinished">`,
    );
    expect(paths(found.links)).toEqual(['/a']);
    expect(found.links[0]?.search).toBe('?b=1&c=2');
  });

  test('a form with a password field is detected', () => {
    expect(read('<form><INPUT TYPE=password></form>').asksForPassword).toBe(true);
    expect(read('<input type="text">').asksForPassword).toBe(false);
  });

  test.each([
    ['elements in elements', '<div>'.repeat(200_000)],
    ['links in links', '<a href="/a">'.repeat(100_000)],
    ['elements that end in another order', '<div>'.repeat(80_000) + '</p>'.repeat(80_000)],
    ['comments that never end', '<!--'.repeat(500_000)],
    ['scripts that never end', '<script>'.repeat(250_000)],
    ['character data that never ends', '<![CDATA['.repeat(200_000)],
    ['attributes that never end', `<a ${'x="'.repeat(600_000)}`],
    ['angle brackets', '<'.repeat(2_000_000)],
    ['spaces', `<a${' '.repeat(2_000_000)}`],
    ['nothing', ''],
    ['zeros', '\0'.repeat(1_000_000)],
  ])('a page with only %s is read', (_, html) => {
    expect(read(`<a href="/first"></a>${html}`).links[0]?.pathname).toBe('/first');
  });
});

describe('robots.txt', () => {
  const rules = (text: string) => parseRobots(url('/robots.txt'), text);

  test('the group of our agent wins over the group of all agents, and the longest rule over shorter ones', () => {
    const robots = rules(
      `User-agent: Other\nDisallow: /\n\nUser-agent: ${agentName.toUpperCase()}/2.0\nDisallow: /a\nAllow: /a/b$\nUser-agent: *\nDisallow: /`,
    );
    const allowed = ['/', '/a', '/a/b', '/a/b/c', '/b'].filter((path) => robots.allows(url(path)));
    expect(allowed).toEqual(['/', '/a/b', '/b']);
  });

  test('the group of all agents applies when our agent has none; a group may have several names', () => {
    const robots = rules(
      '\uFEFFuser-agent: one\r\nUSER-AGENT: *\r\nuser-agent: two\r\ndisallow: /*.php # no\r\n',
    );
    expect(robots.allows(url('/a.php'))).toBe(false);
    expect(robots.allows(url('/a'))).toBe(true);
  });

  test.each([
    ['1', 1_000],
    ['0.5', 500],
    ['1000000000', 1_000],
    ['-3', 0],
    ['soon', 0],
  ])('a crawl delay of %s means %d ms', (delay, expected) => {
    expect(rules(`User-agent: *\nCrawl-delay: ${delay}`).crawlDelayMs).toBe(expected);
  });

  test('all sitemaps are read, anywhere in the file, up to fifty', () => {
    expect(rules('Sitemap: https://example.com/a.xml\nUser-agent: x\nsitemap: /b.xml').sitemaps).toEqual([
      'https://example.com/a.xml',
      '/b.xml',
    ]);
    expect(rules('Sitemap: /a.xml\n'.repeat(10_000)).sitemaps).toHaveLength(50);
  });

  test.each([
    ['nothing', ''],
    ['HTML', '<!doctype html><p>Not found'],
    ['binary', '\0\u0001\uFFFD:\n:::\n'],
    ['names without end', 'User-agent: *\n'.repeat(20_000) + 'Disallow: /x\n'.repeat(20_000)],
    [
      'others without end',
      Array.from({ length: 20_000 }, (_, at) => `User-agent: a${at}\nDisallow: /\n`).join(''),
    ],
    ['wildcards without end', `User-agent: *\n${`Disallow: ${'*a'.repeat(500)}b\n`.repeat(500)}`],
  ])('%s is read and forbids nothing', (_, text) => {
    const robots = rules(text);
    expect(robots.allows(url(`/${'a'.repeat(1_900)}`))).toBe(true);
  });
});

describe('a sitemap', () => {
  const read = async (body: string | Uint8Array, contentType?: string) => {
    const pages: string[] = [];
    const sitemaps: string[] = [];
    await readSitemap(
      { body: Buffer.from(body), contentType, signal: new AbortController().signal },
      { page: (location) => pages.push(location), sitemap: (location) => sitemaps.push(location) },
    );
    return { pages, sitemaps };
  };

  test.each([
    ['of the protocol', '<?xml version="1.0"?><urlset xmlns="http://x"><url><loc> /a </loc></url></urlset>'],
    ['with prefixes', '<s:urlset xmlns:s="x"><s:url><s:loc>/a</s:loc></s:url></s:urlset>'],
    ['with undeclared prefixes', '<s:urlset><s:url><s:loc>/a</s:loc></s:url></s:urlset>'],
    ['with character data', '<urlset><url><loc><![CDATA[/a]]></loc></url></urlset>'],
    ['in capitals', '<URLSET><URL><LOC>/a</LOC></URL></URLSET>'],
    ['that ends too early', '<urlset><url><loc>/a</loc></url><url><lo'],
    ['with a page that ends too early', '<urlset><url><loc>/a</loc></url><url><loc>/brok'],
    ['that is not well-formed', '<urlset><url><loc>/a</loc><priority>1</url></b><url x=1 y></urlset> & <'],
    ['after a byte order mark', '\uFEFF<urlset><url><loc>/a</loc></url></urlset>'],
    ['after empty lines', '\n\n<?xml version="1.0"?><urlset><url><loc>/a</loc></url></urlset>'],
    [
      'with images',
      '<urlset><url><loc>/a</loc><image:image><image:loc>/i</image:loc></image:image></url></urlset>',
    ],
  ])('%s names its page', async (_, xml) => {
    expect(await read(xml)).toEqual({ pages: ['/a'], sitemaps: [] });
  });

  test('XML entities are resolved, and a bare ampersand is an ampersand', async () => {
    const { pages } = await read(
      '<urlset><url><loc>/a?b=1&amp;c=2</loc></url><url><loc>/d?e=1&f=2</loc></url></urlset>',
    );
    expect(pages).toEqual(['/a?b=1&c=2', '/d?e=1&f=2']);
  });

  test('names its other languages', async () => {
    const xml =
      '<urlset><url><loc>/en</loc><xhtml:link rel="alternate" hreflang="de" href="/de"/></url></urlset>';
    expect((await read(xml)).pages).toEqual(['/en', '/de']);
  });

  test('an index names sitemaps', async () => {
    const xml =
      '<sitemapindex><sitemap><loc>/a.xml</loc></sitemap><sitemap><loc>/b.gz</loc></sitemap></sitemapindex>';
    expect(await read(xml)).toEqual({ pages: [], sitemaps: ['/a.xml', '/b.gz'] });
  });

  test('plain text has an address per line', async () => {
    expect((await read('https://x/a\r\nhttp://x/b\n\nnonsense\nhttps://x/c', 'text/xml')).pages).toEqual([
      'https://x/a',
      'http://x/b',
      'https://x/c',
    ]);
  });

  test('gzip is recognised by its bytes, and one that ends too early is read up to its end', async () => {
    const urls = Array.from({ length: 5_000 }, (_, at) => `<url><loc>/page-${at * 7_919}</loc></url>`).join(
      '',
    );
    const zipped = gzipSync(`<urlset>${urls}</urlset>`);
    expect((await read(zipped, 'text/html')).pages).toHaveLength(5_000);
    const half = (await read(zipped.subarray(0, zipped.length / 2))).pages.length;
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(5_000);
    expect(
      (await read(Buffer.concat([zipped.subarray(0, 20), Buffer.from('garbage'.repeat(99))]))).pages,
    ).toEqual([]);
  });

  test.each([
    ['utf-16le', Buffer.from('\uFEFF<urlset><url><loc>/ü</loc></url></urlset>', 'utf16le')],
    [
      'latin1',
      Buffer.from(
        '<?xml version="1.0" encoding="iso-8859-1"?><urlset><url><loc>/ü</loc></url></urlset>',
        'latin1',
      ),
    ],
  ])('in %s is read', async (_, body) => {
    expect((await read(body)).pages).toEqual(['/ü']);
  });

  test('entities that it declares are not expanded', async () => {
    const xml = `<!DOCTYPE urlset [<!ENTITY a "${'x'.repeat(100)}"><!ENTITY b "${'&a;'.repeat(100)}">
      <!ENTITY secret SYSTEM "file:///etc/passwd">]>
      <urlset><url><loc>/before</loc></url><url><loc>/&b;&secret;</loc></url><url><loc>/after</loc></url></urlset>`;
    const { pages } = await read(xml);
    expect(pages).toContain('/before');
    expect(pages).toContain('/after');
    expect(pages.join('')).not.toMatch(/xxx|root:/);
  });

  test.each([
    ['depth', '<a>'.repeat(1_000_000)],
    ['attributes', `<a ${Array.from({ length: 200_000 }, (_, at) => `a${at}="1"`).join(' ')}>`],
    ['errors', '&;<'.repeat(500_000)],
    ['one location', `<urlset><url><loc>${'x'.repeat(3_000_000)}</loc></url></urlset>`],
    ['one line', 'x'.repeat(3_000_000)],
  ])('of hostile %s ends', async (_, body) => {
    const { pages } = await read(body);
    expect(pages.join('').length).toBeLessThan(100_000);
  });

  test('reading stops when the analysis ends', async () => {
    const pages: string[] = [];
    await readSitemap(
      {
        body: Buffer.from('https://x/a\n'.repeat(100_000)),
        contentType: undefined,
        signal: AbortSignal.abort(),
      },
      { page: (location) => pages.push(location), sitemap: () => undefined },
    );
    expect(pages).toEqual([]);
  });
});

describe('bytes become text', () => {
  const latin = Buffer.from('<p>ü', 'latin1');
  test.each<[string, Uint8Array, string | undefined, string]>([
    ['by the header', latin, 'text/html; charset=ISO-8859-1', '<p>ü'],
    ['by the header in quotes', latin, 'text/html;CHARSET="latin1"', '<p>ü'],
    [
      'by the byte order mark before the header',
      Buffer.from('\uFEFF<p>ü'),
      'text/html; charset=latin1',
      '<p>ü',
    ],
    [
      'by the meta element',
      Buffer.concat([Buffer.from('<meta charset=windows-1252>'), latin]),
      undefined,
      '<meta charset=windows-1252><p>ü',
    ],
    [
      'by the declaration of XML',
      Buffer.concat([Buffer.from('<?xml encoding="latin1"?>'), latin]),
      '',
      '<?xml encoding="latin1"?><p>ü',
    ],
    ['as UTF-8 without a declaration', Buffer.from('<p>ü'), undefined, '<p>ü'],
    ['as UTF-8 with an unknown declaration', Buffer.from('<p>ü'), 'text/html; charset=klingon', '<p>ü'],
    [
      'as UTF-8 when ASCII is declared as UTF-16',
      Buffer.from('<meta charset=utf-16>ü'),
      undefined,
      '<meta charset=utf-16>ü',
    ],
    [
      'with replacement characters for invalid bytes',
      Buffer.from([0x3c, 0xff, 0x3e]),
      'text/html; charset=utf-8',
      '<\uFFFD>',
    ],
  ])('%s', (_, body, contentType, expected) => {
    expect(decodeText(body, contentType)).toBe(expected);
  });

  test.each([
    'utf-8',
    'ibm866',
    'iso-8859-2',
    'iso-8859-3',
    'iso-8859-4',
    'iso-8859-5',
    'iso-8859-6',
    'iso-8859-7',
    'iso-8859-8',
    'iso-8859-10',
    'iso-8859-13',
    'iso-8859-14',
    'iso-8859-15',
    'iso-8859-16',
    'koi8-r',
    'koi8-u',
    'macintosh',
    'windows-874',
    'windows-1250',
    'windows-1251',
    'windows-1252',
    'windows-1253',
    'windows-1254',
    'windows-1255',
    'windows-1256',
    'windows-1257',
    'windows-1258',
    'gbk',
    'gb18030',
    'big5',
    'euc-jp',
    'iso-2022-jp',
    'shift_jis',
    'euc-kr',
    'utf-7',
    'hz-gb-2312',
    'iso-2022-kr',
  ])('links of a page in %s are found', (charset) => {
    const html = decodeText(
      Buffer.concat([
        Buffer.from('<a href="/pricing">'),
        Buffer.from([0xe4, 0xb8]),
        Buffer.from('</a><a href="/docs">'),
      ]),
      `text/html; charset=${charset}`,
    );
    expect(readLinks(html, home).links[0]?.pathname).toBe('/pricing');
  });
});
