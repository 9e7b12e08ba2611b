// Response headers of the HTML pages: they forbid scripts, loading, caching, indexing and referrers.
import { createHash } from 'node:crypto';
import { style } from './style.js';

const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * The headers of every page in this package. Only the page's own style sheet and its icon in a data address are
 * allowed.
 */
export const pageHeaders: Record<string, string> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cache-Control': 'private, no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The headers of a page with a form, which may send it to where the page came from. */
export const formPageHeaders: Record<string, string> = {
  ...pageHeaders,
  'Content-Security-Policy': (pageHeaders['Content-Security-Policy'] ?? '').replace(
    "form-action 'none'",
    "form-action 'self'",
  ),
};
