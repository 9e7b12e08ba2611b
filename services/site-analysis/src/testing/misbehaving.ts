// Servers that misbehave in the ways of real sites, which analyses must withstand.
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { sitemapOf } from './serve.js';

const html = { 'content-type': 'text/html' };

/** A site whose homepage is served by the listener, without robots.txt and sitemaps. */
function onHomepage(listener: RequestListener): RequestListener {
  return (req, res) => {
    if (req.url === '/') listener(req, res);
    else res.writeHead(404).end();
  };
}

export const neverAnswers: RequestListener = () => undefined;

export const neverAnswersTheHomepage = onHomepage(neverAnswers);

/** A byte a second, for ever. */
export const drips: RequestListener = (_, res) => {
  res.writeHead(200, html);
  const timer = setInterval(() => res.write('<'), 1_000);
  res.on('close', () => {
    clearInterval(timer);
  });
};

export const redirectsForEver: RequestListener = (req, res) => {
  res.writeHead(302, { location: `/${Number(req.url?.slice(1)) + 1 || 1}` }).end();
};

export const redirectsTo = (location: string): RequestListener =>
  onHomepage((_, res) => {
    res.writeHead(302, { location }).end();
  });

export const answers = (status: number, headers: Record<string, string> = {}, body = ''): RequestListener =>
  onHomepage((_, res) => {
    res.writeHead(status, { ...html, ...headers }).end(body);
  });

export const forbidsUnknownAgents: RequestListener = (req, res) => {
  const isKnown = req.headers['user-agent']?.startsWith('Mozilla/5.0') ?? false;
  res.writeHead(isKnown ? 200 : 403, html).end(isKnown ? '<a href="/pricing">Pricing</a>' : 'Forbidden');
};

export const robotsFails: RequestListener = (req, res) => {
  res.writeHead(req.url === '/robots.txt' ? 503 : 200, html).end('<a href="/pricing">Pricing</a>');
};

/** `start`, then `piece` repeated until `bytes` have been sent or the client closes the connection. */
function endless(start: string, piece: string, bytes: number): Readable {
  const chunk = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)));
  return Readable.from(
    (function* () {
      yield Buffer.from(start);
      for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk;
    })(),
  );
}

const navigation = '<html><nav><a href="/gone">Gone</a></nav>';

/** A homepage of this many bytes. */
export const hugeHomepage = (bytes: number, piece: string): RequestListener =>
  onHomepage((_, res) => {
    endless(navigation, piece, bytes).pipe(res.writeHead(200, html));
    res.on('error', () => undefined);
  });

/** `start` and then 10 GB of spaces, in 10 MB: a gzip file may consist of many members. */
function* bomb(start: string): Iterable<Buffer> {
  yield gzipSync(start);
  const member = gzipSync(Buffer.alloc(4 * 1_024 ** 2, ' '));
  for (let at = 0; at < 2_560; at += 1) yield member;
}

export const zippedHomepage: RequestListener = onHomepage((_, res) => {
  res.writeHead(200, { ...html, 'content-encoding': 'gzip' });
  Readable.from(bomb(navigation)).pipe(res);
});

/** A site with this sitemap. Its homepage links to one page. */
export const withSitemap = (sitemap: RequestListener): RequestListener => {
  return (req, res) => {
    if (req.url === '/' || req.url === '/contact')
      res.writeHead(200, html).end('<html><a href="/contact">Contact</a></html>');
    else if (req.url?.startsWith('/sitemap.xml')) sitemap(req, res);
    else res.writeHead(404).end();
  };
};

const urlset = '<urlset><url><loc>/pricing</loc></url>';

export const zippedSitemap = withSitemap((_, res) => {
  res.writeHead(200, { 'content-type': 'application/gzip' });
  Readable.from(bomb(urlset)).pipe(res);
});

export const encodedSitemap = withSitemap((_, res) => {
  res.writeHead(200, { 'content-type': 'application/xml', 'content-encoding': 'gzip' });
  Readable.from(bomb(urlset)).pipe(res);
});

export const hugeSitemap = withSitemap((req, res) => {
  const paths = Array.from({ length: 100_000 }, (_, at) => `/articles/article-number-${at}`);
  res.end(sitemapOf(`http://${String(req.headers.host)}`, ['/', '/pricing', '/pricing/teams', ...paths]));
});

/** An entity that expands a billionfold, and one that names a file of the machine. */
export const expandingSitemap = withSitemap((_, res) => {
  const laughs = Array.from(
    { length: 10 },
    (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`,
  ).join('');
  res.end(
    `<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY l0 "haha">${laughs}<!ENTITY f SYSTEM "file:///etc/hostname">]>
     <urlset><url><loc>/pricing</loc></url><url><loc>/&l10;</loc></url><url><loc>/&f;</loc></url></urlset>`,
  );
});

/** An index that names itself under ever new names. */
export const circularIndex = withSitemap((req, res) => {
  const next = Number(new URL(req.url ?? '', 'http://x').searchParams.get('again') ?? 0) + 1;
  const again = Array.from(
    { length: 20 },
    (_, at) => `<sitemap><loc>/sitemap.xml?again=${next * 20 + at}</loc></sitemap>`,
  );
  res.end(`<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap>${again.join('')}</sitemapindex>`);
});

/** A server that does not speak HTTP: it answers every connection with these bytes. */
export async function serveBytes(bytes: Buffer): Promise<{ port: number; close(): Promise<void> }> {
  const server: Server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
