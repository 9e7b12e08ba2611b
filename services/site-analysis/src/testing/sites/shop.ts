// A shop: a text sitemap in one of the usual places, products in collections, pages below /pages, German beside English.
import type { SiteFiles } from '../serve.js';

const paths = [
  '/',
  '/index.html',
  '/collections/lamps',
  '/collections/contact-lenses',
  '/products/desk-lamp',
  '/products/desk-lamp?variant=2',
  '/products/floor-lamp',
  '/de/products/desk-lamp',
  '/pages/contact',
  '/de/pages/contact',
  '/pages/store-locator',
  '/pages/reviews',
  '/pages/about-us',
  '/pages/shipping-policy',
  '/policies/refund-policy',
  '/blogs/news/autumn',
  '/gift-finder',
];

export const shop: SiteFiles = {
  '/robots.txt': { status: 404 },
  '/sitemap.txt': (origin) => `${paths.map((path) => origin + path).join('\r\n')}\r\nnot an address\r\n`,
  '/': '<html><body><header><a href="/collections/lamps">Lamps</a></header></body></html>',
};
