// Fetches the homepage of a site, and decides whether the answer is an HTML page.
import { decodeText } from './charset.js';
import { SiteNotFetched } from './errors.js';
import { readLinks, type PageLinks } from './links.js';
import type { Visited, VisitOptions, Visitor } from './visit.js';

export interface Page extends PageLinks {
  /** The address of the answer, after redirects. */
  url: URL;
}

/** Few pages are longer, and menus are at the beginning. */
const maximumPageBytes = 1_024 * 1_024;

export const pageVisit: VisitOptions = {
  accept: 'text/html, application/xhtml+xml;q=0.9, */*;q=0.1',
  maxBytes: maximumPageBytes,
  timeoutMs: 8_000,
};

/**
 * Reads the page at which the analysis starts.
 * @throws OutboundRefused | SiteNotFetched with the reason
 */
export async function readHomepage(visitor: Visitor, url: URL): Promise<Page> {
  const visited = await visitor.visit(url, pageVisit);
  const { status, headers } = visited;
  if (status === 401 || status === 407)
    throw new SiteNotFetched(
      'login_required',
      `The site requires a login: it answers with status ${status}.`,
    );
  if ([403, 406, 429, 451, 999].includes(status) || 'cf-mitigated' in headers)
    throw new SiteNotFetched(
      'blocked',
      `The site blocks automated requests: it answers with status ${status}.`,
    );
  if (status < 200 || status >= 300)
    throw new SiteNotFetched('error', `The site answers with status ${status}.`);
  if (isLogin(visited.url) && !isLogin(url))
    throw new SiteNotFetched(
      'login_required',
      `The site requires a login: it redirects to ${visited.url.pathname}.`,
    );
  const html = htmlOf(visited);
  if (html === null)
    throw new SiteNotFetched(
      'not_html',
      `The site's answer is not HTML (${(headers['content-type'] ?? 'no content type').slice(0, 100)}).`,
    );
  return { ...readLinks(html, visited.url), url: visited.url };
}

const loginPath =
  /\/(?:log[-_]?in|sign[-_]?in|sso|saml2?|oauth2?|authorize|wp-login|servicelogin)(?:\.[a-z]{2,5})?(?:\/|$)/i;

function isLogin(url: URL): boolean {
  return loginPath.test(url.pathname);
}

/** The text of an HTML answer; null when it is not HTML. Wrong and missing content types are common. */
export function htmlOf({ headers, body }: Visited): string | null {
  const contentType = headers['content-type'];
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (body.includes(0) && !/utf-?16/i.test(contentType ?? '') && !isUtf16(body) && !type.includes('html'))
    return null;
  const text = decodeText(body, contentType);
  if (type === 'text/html' || type === 'application/xhtml+xml') return text.trim() === '' ? null : text;
  const isOther = /^(?:image|audio|video|font)\/|json|pdf|zip|javascript|css/.test(type);
  return !isOther && /<(?:!doctype html|html|head|body|title|a)[\s>]/i.test(text.slice(0, 100_000))
    ? text
    : null;
}

function isUtf16(body: Buffer): boolean {
  return (body[0] === 0xff && body[1] === 0xfe) || (body[0] === 0xfe && body[1] === 0xff);
}
