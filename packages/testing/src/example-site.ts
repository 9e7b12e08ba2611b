// A small website on this machine, for tests that analyse one.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ExampleSite {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** The site in the form of ALLOW_PRIVATE_TARGETS. */
  target: string;
  /** The requested paths, each with the user agent of the request. */
  requests: { path: string; userAgent: string | undefined }[];
  stop(): Promise<void>;
}

export type Page = (req: IncomingMessage, res: ServerResponse) => void;

export const html =
  (body: string, head = ''): Page =>
  (_req, res) => {
    res
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(`<!doctype html><html><head><title>Example</title>${head}</head><body>${body}</body></html>`);
  };

/** Answers with these pages, and with 404 for every other path. */
export async function startExampleSite(pages: Readonly<Record<string, Page>>): Promise<ExampleSite> {
  const requests: ExampleSite['requests'] = [];
  const server = createServer((req, res) => {
    const path = (req.url ?? '/').split('?')[0] ?? '/';
    requests.push({ path, userAgent: req.headers['user-agent'] });
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page) page(req, res);
    else res.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url: `http://${target}`,
    target,
    requests,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A site with a sitemap of these paths. */
export function sitemapSite(paths: readonly string[]): Record<string, Page> {
  const located = (req: IncomingMessage, path: string) => `http://${req.headers.host ?? ''}${path}`;
  return {
    '/robots.txt': (req, res) => {
      res
        .writeHead(200, { 'content-type': 'text/plain' })
        .end(`User-agent: *\nAllow: /\nSitemap: ${located(req, '/sitemap.xml')}\n`);
    },
    '/sitemap.xml': (req, res) => {
      const urls = ['/', ...paths].map((path) => `<url><loc>${located(req, path)}</loc></url>`).join('');
      res
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(
          `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}</urlset>`,
        );
    },
    '/': html('<h1>Example</h1>'),
    ...Object.fromEntries(paths.map((path) => [path, html(`<h1>${path}</h1>`)])),
  };
}
