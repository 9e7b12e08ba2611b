// Serves a site that is described as paths and answers, for as long as a test runs.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOutbound, type Outbound } from '@lead-scoring/outbound';
import { agentName } from '../analysis/robots.js';

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** Answers by path. A function gets the site's own origin, for absolute addresses. */
export type SiteFiles = Record<string, string | Answer | ((origin: string) => string | Answer)>;

export interface ServedSite {
  origin: string;
  /** The requested paths, in order. */
  requests: string[];
  agents: Set<string>;
  /** The most requests that were open at one time. */
  mostAtOnce(): number;
  /** May request this site, and no other private address. */
  outbound: Outbound;
  close(): Promise<void>;
}

export async function serve(listener: RequestListener): Promise<ServedSite> {
  const requests: string[] = [];
  const agents = new Set<string>();
  let open = 0;
  let most = 0;
  const server = createServer((req, res) => {
    requests.push(req.url ?? '');
    agents.add(req.headers['user-agent'] ?? '');
    open += 1;
    most = Math.max(most, open);
    res.on('close', () => {
      open -= 1;
    });
    res.on('error', () => undefined);
    listener(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const outbound = createOutbound({
    userAgent: `${agentName}/1.0 (+https://example.com/bot)`,
    allowedPrivateTargets: [{ host: '127.0.0.1', fromPort: port, toPort: port }],
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    agents,
    mostAtOnce: () => most,
    outbound,
    close: async () => {
      await outbound.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Serves the files; any other path gets 404. */
export async function serveSite(files: SiteFiles): Promise<ServedSite> {
  const served = await serve((req, res) => {
    const path = new URL(req.url ?? '/', served.origin).pathname;
    const file = files[path];
    const answer = typeof file === 'function' ? file(served.origin) : file;
    const {
      status = 200,
      headers = {},
      body = '',
    } = answer === undefined ? { status: 404 } : typeof answer === 'string' ? { body: answer } : answer;
    res.writeHead(status, { 'content-type': typeOf(path), ...headers }).end(body);
  });
  return served;
}

function typeOf(path: string): string {
  if (path.endsWith('.xml')) return 'application/xml';
  if (path.endsWith('.txt')) return 'text/plain';
  return 'text/html; charset=utf-8';
}

/** A sitemap of these paths. */
export function sitemapOf(origin: string, paths: readonly string[]): string {
  const urls = paths.map((path) => `<url><loc>${origin}${path}</loc></url>`).join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}</urlset>`;
}

export function links(paths: readonly string[]): string {
  return paths.map((path) => `<a href="${path}">${path}</a>`).join('\n');
}
