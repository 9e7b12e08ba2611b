// Decides which addresses belong to a site, and which of them are the same page.
import { getDomain } from 'tldts';

/** Longer addresses are ignored: pages for people have shorter ones. */
const maximumUrlLength = 1_000;

/** The address with `https://` added when it has no scheme. */
export function siteUrl(text: string): string {
  const trimmed = text.trim();
  if (/^[a-z][a-z0-9+.-]*:[\\/]{2}/i.test(trimmed)) return trimmed;
  return `https://${trimmed.replace(/^[\\/]{2}/, '')}`;
}

/**
 * The name of the site that an address belongs to: two addresses are of one site when the names are equal. `www` and
 * the apex, http and https are the same site; other hosts and other ports are others.
 */
export function siteOf(url: URL): string {
  return url.port === '' ? hostOf(url) : `${hostOf(url)}:${url.port}`;
}

/**
 * The root domain by the public suffix list: `example.co.uk` for `shop.example.co.uk`. Hosts of one provider that
 * belong to different owners (`acme.github.io`) are domains of their own. An IP address, or a host that is a public
 * suffix itself, is its own domain.
 */
export function domainOf(url: URL): string {
  return getDomain(url.hostname, { allowPrivateDomains: true }) ?? hostOf(url);
}

/** The host without `www.`. */
function hostOf(url: URL): string {
  const host = url.hostname.endsWith('.') ? url.hostname.slice(0, -1) : url.hostname;
  return host.startsWith('www.') && host.length > 4 ? host.slice(4) : host;
}

/** The address of a link; null when it is not http or https, or too long. */
export function linkedUrl(href: string, base: URL): URL | null {
  const trimmed = href.trim();
  if (trimmed.length > maximumUrlLength || !URL.canParse(trimmed, base.href)) return null;
  const url = new URL(trimmed, base);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return isWeb && url.href.length <= maximumUrlLength ? url : null;
}

const assets = new Set(
  (
    'css js mjs cjs map json jsonld xml xsl rss atom txt csv ico png jpg jpeg gif webp avif svg bmp tif tiff heic ' +
    'woff woff2 ttf otf eot mp3 m4a ogg wav flac mp4 m4v mov avi mkv webm mpg mpeg pdf doc docx xls xlsx ppt pptx ' +
    'odt ods epub zip gz tgz bz2 xz 7z rar tar dmg pkg exe msi apk iso bin wasm webmanifest ics vcf eps ai psd swf'
  ).split(' '),
);

/** Paths that sites serve to programs, not to people. */
const machinery = /^\/(?:cdn-cgi|wp-json|wp-admin|wp-content|wp-includes|xmlrpc\.php)(?:\/|$)/i;

const indexFile = /\/(?:index\.(?:html?|xhtml|shtml|php|aspx?|jsp|cfm)|default\.aspx?)$/i;

/**
 * The path that identifies the page at an address: without query, fragment, session, trailing slash and index file, with one spelling
 * of percent-encoded characters. Null for addresses that are not pages (images, downloads, feeds).
 */
export function pagePath(url: URL): string | null {
  const path = url.pathname
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
    .replace(/%[0-9a-f]{2}/gi, sameEncoding)
    .replace(indexFile, '/');
  const page = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  const file = page.slice(page.lastIndexOf('/') + 1);
  const dot = file.lastIndexOf('.');
  if (dot >= 0 && assets.has(file.slice(dot + 1).toLowerCase())) return null;
  return machinery.test(page) ? null : page;
}

/** One spelling of a percent-encoded character: letters, digits and `-._~` are decoded, others are in capitals. */
function sameEncoding(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
}

/** The most pages of a site, and the most characters of their paths. Further pages are not counted, to bound memory. */
const maximumPages = 150_000;
const maximumCharacters = 8_000_000;

/** The pages of a site, each once, in the order in which they were found. */
export class SitePages {
  readonly #paths = new Set<string>();
  #characters = 0;

  constructor(readonly site: string) {}

  get size(): number {
    return this.#paths.size;
  }

  /** The path of an address that is a page of the site; otherwise null. */
  pathOf(url: URL): string | null {
    return siteOf(url) === this.site ? pagePath(url) : null;
  }

  /** Adds a page; addresses of other sites, and of files that are not pages, are ignored. */
  add(url: URL): void {
    const path = this.pathOf(url);
    if (path === null || this.#paths.has(path) || this.#paths.size >= maximumPages) return;
    if (this.#characters + path.length > maximumCharacters) return;
    this.#characters += path.length;
    this.#paths.add(path);
  }

  remove(url: URL): void {
    const path = this.pathOf(url);
    if (path !== null) this.#paths.delete(path);
  }

  /** The pages by depth, those nearest to the homepage first: they are the main pages of a site, also of one with a large archive. */
  nearestFirst(): string[] {
    const byDepth: string[][] = [];
    for (const path of this.#paths) {
      const depth = path === '/' ? 0 : path.split('/').length - 1;
      (byDepth[depth] ??= []).push(path);
    }
    return byDepth.flat();
  }
}
