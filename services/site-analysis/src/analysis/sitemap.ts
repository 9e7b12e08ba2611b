// Reads sitemaps: XML, indexes, gzip and plain text, also broken ones. It streams, without DTDs and entities, so that memory is bounded
// by the addresses that are found.
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { TextDecoder } from 'node:util';
import { constants, createGunzip } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { decoderFor } from './charset.js';

export interface SitemapSource {
  body: Uint8Array;
  contentType: string | undefined;
  signal: AbortSignal;
}

export interface SitemapFindings {
  /** The address of a page, as written. */
  page(location: string): void;
  /** The address of a further sitemap, as written. */
  sitemap(location: string): void;
}

/** The most unpacked bytes that are read. A sitemap may have 50 MB, and its main pages come first. */
const maximumUnpackedBytes = 16 * 1_024 * 1_024;

/** The bytes that are read before the event loop gets control again. */
const pieceBytes = 64 * 1_024;

/** Limits that a well-meant sitemap does not exceed. Beyond them, reading stops, and the addresses found so far count. */
const maximumDepth = 50;
const maximumAttributes = 100;
const maximumErrors = 10_000;
const maximumLocationLength = 4_096;

/**
 * Calls `findings` for the addresses in a sitemap, until it ends or breaks or the signal aborts. Never throws. Resolves with false when
 * it stopped at a limit, so that reading more of the document would change nothing.
 */
export async function readSitemap(source: SitemapSource, findings: SitemapFindings): Promise<boolean> {
  const { body, contentType, signal } = source;
  let reader: TextReader | undefined;
  let decoder: TextDecoder | undefined;
  let unpackedBytes = 0;
  let isEnough = false;
  try {
    for await (const piece of isGzip(body) ? unpacked(body) : pieces(body)) {
      unpackedBytes += piece.length;
      isEnough = signal.aborted || unpackedBytes > maximumUnpackedBytes;
      if (isEnough) break;
      decoder ??= decoderFor(piece, contentType);
      const text = decoder.decode(piece, { stream: true });
      reader ??= /^\uFEFF?\s*</.test(text) ? xmlReader(findings) : lineReader(findings);
      isEnough = !reader.read(text);
      if (isEnough) break;
      await setImmediate();
    }
  } catch {
    // A gzip that ends too early: the addresses before its end count.
  }
  reader?.end();
  return !isEnough;
}

/** Reads a document piece by piece; `read` returns false when a limit is reached. */
interface TextReader {
  read(text: string): boolean;
  end(): void;
}

function isGzip(body: Uint8Array): boolean {
  return body[0] === 0x1f && body[1] === 0x8b;
}

function* pieces(body: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

function unpacked(body: Uint8Array): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: pieceBytes });
  return Readable.from(pieces(body))
    .on('error', (error) => gunzip.destroy(error))
    .pipe(gunzip);
}

/** Text sitemaps: an address per line. */
function lineReader(findings: SitemapFindings): TextReader {
  let rest = '';
  const take = (line: string) => {
    const location = line.trim();
    if (/^https?:\/\//i.test(location)) findings.page(location);
  };
  return {
    read: (text) => {
      const lines = (rest + text).split(/\r\n|\r|\n/);
      rest = (lines.pop() ?? '').slice(0, maximumLocationLength);
      lines.forEach(take);
      return true;
    },
    end: () => take(rest),
  };
}

/** The elements that contain the address of a page or of a sitemap, in any namespace; an `image:loc` is in an `image:image`. */
const holders = { url: 'page', sitemap: 'sitemap' } as const;

/** Thrown by a handler to stop the parser. */
const limitReached = new Error('the limits of a sitemap are reached');

function xmlReader(findings: SitemapFindings): TextReader {
  const parser = new SaxesParser({ position: false, xmlns: false });
  const open: string[] = [];
  let attributes = 0;
  let errors = 0;
  let location: string | null = null;

  const holder = () => {
    const name = open.at(-1) === 'loc' ? open.at(-2) : undefined;
    return name === 'url' || name === 'sitemap' ? holders[name] : undefined;
  };
  const collect = (text: string) => {
    if (location !== null && location.length < maximumLocationLength) location += text;
  };
  // Parser errors are ignored up to a limit: half of a sitemap is better than none.
  parser.on('error', () => {
    errors += 1;
    if (errors > maximumErrors) throw limitReached;
  });
  parser.on('opentagstart', () => {
    attributes = 0;
    if (open.length >= maximumDepth) throw limitReached;
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > maximumAttributes) throw limitReached;
  });
  parser.on('opentag', ({ name, attributes: { rel, href } }) => {
    open.push(localName(name));
    if (holder()) location = '';
    // The same page in other languages.
    if (open.at(-1) === 'link' && open.at(-2) === 'url' && rel === 'alternate' && href) findings.page(href);
  });
  parser.on('text', collect);
  parser.on('cdata', collect);
  parser.on('closetag', () => {
    const kind = holder();
    const found = location?.trim() ?? '';
    if (kind && found !== '' && found.length <= maximumLocationLength) findings[kind](found);
    location = null;
    open.pop();
  });
  let rest = '';
  return {
    read: (text) => {
      const all = rest + text;
      const last = all.lastIndexOf('&');
      const whole = last >= 0 && last > all.length - maximumEntityLength ? last : all.length;
      rest = all.slice(whole);
      try {
        parser.write(all.slice(0, whole).replace(bareAmpersand, '&amp;'));
        return true;
      } catch {
        return false;
      }
    },
    end: () => undefined,
  };
}

/** An ampersand that is not an entity. It is common in sitemaps, and the parser would take the following text for a name. */
const bareAmpersand = /&(?!#?\w{1,10};)/g;
const maximumEntityLength = 13;

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase();
}
