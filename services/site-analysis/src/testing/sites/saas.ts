// A SaaS product: robots.txt names a sitemap index with a sitemap for pages and a zipped one for the blog.
import { gzipSync } from 'node:zlib';
import { sitemapOf, type SiteFiles } from '../serve.js';

const posts = [
  'why-teams-plan',
  'planning-2026',
  'product-led-growth',
  'a-psychology-of-prices',
  'hello-world',
];

export const saas: SiteFiles = {
  '/robots.txt': (origin) => `User-agent: *\nDisallow: /app/\n\nSitemap: ${origin}/sitemap_index.xml\n`,
  '/sitemap_index.xml': (origin) =>
    `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <sitemap><loc>${origin}/sitemaps/pages.xml</loc><lastmod>2026-01-01</lastmod></sitemap>
      <sitemap><loc>${origin}/sitemaps/blog.xml.gz</loc></sitemap>
      <sitemap><loc>https://cdn.example.net/other-host.xml</loc></sitemap>
    </sitemapindex>`,
  '/sitemaps/pages.xml': (origin) =>
    sitemapOf(origin, [
      '/',
      '/product',
      '/product/automation',
      '/product/reporting',
      '/features/integrations',
      '/pricing',
      '/pricing/enterprise',
      '/book-demo',
      '/demo',
      '/contact-sales',
      '/contact',
      '/customers',
      '/customers/acme',
      '/customers/globex',
      '/solutions/for-agencies',
      '/solutions/retail',
      '/roi-calculator',
      '/docs',
      '/docs/install',
      '/docs/webhooks',
      '/free-trial',
      '/partners',
      '/templates/invoice',
      '/company/about',
      '/company/careers',
      '/company/careers/engineer',
      '/legal/privacy',
      '/legal/terms-of-service',
      '/planet',
      '/status',
    ]),
  '/sitemaps/blog.xml.gz': (origin) => ({
    headers: { 'content-type': 'application/octet-stream' },
    body: gzipSync(sitemapOf(origin, ['/blog', ...posts.map((post) => `/blog/${post}`)])),
  }),
  '/': '<!doctype html><title>Rowboat</title><nav><a href="/app/">App</a></nav>',
};
