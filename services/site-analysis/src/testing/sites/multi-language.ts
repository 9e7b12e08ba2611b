// A company in three languages: the homepage redirects to a language, the sitemap names alternates, www links to the apex.
import type { SiteFiles } from '../serve.js';

const languages = ['en', 'de', 'fr-fr'];
const pages = [
  '',
  '/pricing',
  '/products/pumps',
  '/products/valves',
  '/contact',
  '/company/careers',
  '/newsroom',
];

export const multiLanguage: SiteFiles = {
  '/robots.txt': (origin) => `SITEMAP: ${origin}/en/sitemap.xml\nSitemap: /de/sitemap.xml # relative\n`,
  '/': { status: 302, headers: { location: '/en/' } },
  '/en/': '<html lang="en"><body><nav><a href="/en/pricing/">Pricing</a></nav></body></html>',
  '/en/sitemap.xml': (origin) =>
    `<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"
       xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">${pages
         .map(
           (page) => `<sm:url><sm:loc>${origin}/en${page}/</sm:loc>
             <image:image><image:loc>${origin}/images/${page}.jpg</image:loc></image:image>
             ${languages.map((language) => `<xhtml:link rel="alternate" hreflang="${language}" href="${origin}/${language}${page}/"/>`).join('')}</sm:url>`,
         )
         .join('')}</sm:urlset>`,
  '/de/sitemap.xml': (origin) =>
    `<urlset><url><loc><![CDATA[ ${origin}/de/preise ]]></loc></url><url><loc>/de/%C3%BCber-uns/</loc></url></urlset>`,
};
