// The categories: the published ones with their weights, the path variants of each, and paths of no category.
import { describe, expect, test } from '@jest/globals';
import { intentCategory, type IntentCategory } from '@lead-scoring/contracts';
import { categories, categorize } from './categories.js';

/** The published categories with their weights and example patterns. */
const published: [IntentCategory, number, string[]][] = [
  ['Very High Intent - Demo/Book', 15, ['/demo', '/book-demo', '/schedule']],
  ['High Intent - Contact', 12, ['/contact', '/talk-to-sales']],
  ['High Intent - Pricing', 10, ['/pricing', '/plans', '/buy']],
  ['High Intent - Signup', 10, ['/signup', '/trial', '/free-trial']],
  ['Mid-High Intent - Social Proof', 8, ['/case-studies', '/customers', '/testimonials']],
  ['Mid Intent - Product', 6, ['/product', '/features', '/platform']],
  ['Mid Intent - Solutions', 6, ['/solutions', '/use-cases', '/for-enterprise']],
  ['Mid Intent - Tools', 6, ['/calculator', '/estimate', '/compare']],
  ['Mid Intent - Location Pages', 5, ['/locations', '/cities']],
  ['Mid Intent - Documentation', 5, ['/docs', '/help', '/support']],
  ['Mid Intent - Research', 4, ['/research', '/reports', '/insights']],
  ['Low Intent - Partners', 3, ['/partners', '/affiliates']],
  ['Low Intent - Resources', 3, ['/resources', '/templates']],
  ['Low Intent - Content', 2, ['/blog', '/webinars', '/podcast']],
  ['Neutral - Company Info', 1, ['/about', '/team', '/mission']],
  ['Not a Buyer - Careers', -5, ['/careers', '/jobs']],
  ['Not a Buyer - Legal', -3, ['/privacy', '/terms', '/gdpr']],
];

/** The singular or plural of each example's last word, where it has one. */
const otherNumber: Record<string, string> = {
  '/demo': '/demos',
  '/book-demo': '/book-demos',
  '/contact': '/contacts',
  '/plans': '/plan',
  '/trial': '/trials',
  '/free-trial': '/free-trials',
  '/case-studies': '/case-study',
  '/customers': '/customer',
  '/testimonials': '/testimonial',
  '/product': '/products',
  '/features': '/feature',
  '/platform': '/platforms',
  '/solutions': '/solution',
  '/use-cases': '/use-case',
  '/for-enterprise': '/for-enterprises',
  '/calculator': '/calculators',
  '/estimate': '/estimates',
  '/locations': '/location',
  '/cities': '/city',
  '/docs': '/doc',
  '/reports': '/report',
  '/insights': '/insight',
  '/partners': '/partner',
  '/affiliates': '/affiliate',
  '/resources': '/resource',
  '/templates': '/template',
  '/blog': '/blogs',
  '/webinars': '/webinar',
  '/podcast': '/podcasts',
  '/team': '/teams',
  '/careers': '/career',
  '/jobs': '/job',
  '/terms': '/term',
};

test('the categories are the published ones, in their order and with their weights', () => {
  expect([...categories].map(([name, { weight }]) => [name, weight])).toEqual(
    published.map(([name, weight]) => [name, weight]),
  );
  expect(intentCategory.options).toHaveLength(17);
});

test('every category has an icon of its own, spelled as in the icon set', () => {
  const icons = [...categories.values()].map(({ icon }) => icon);
  expect(new Set(icons).size).toBe(17);
  for (const icon of icons) expect(icon).toMatch(/^[a-z]+(?:-[a-z0-9]+)*$/);
});

describe.each(published)('%s', (category, _, examples) => {
  const base = [...examples, ...examples.flatMap((example) => otherNumber[example] ?? [])];
  const variants = base.flatMap((path) => [
    path,
    path.replaceAll('-', '_'),
    path.replaceAll('-', ''),
    path.toUpperCase(),
    `/en${path}`,
    `/en-us${path}`,
    `/de${path}`,
    `/pt_BR${path}`,
    `/company${path}`,
    `/fr/company${path}`,
    `${path}.html`,
    `${path}.php`,
    `${path}.aspx`,
    `${path}/something-below/it`,
  ]);
  test.each(variants)('%s', (path) => {
    expect(categorize(path)?.category).toBe(category);
  });
});

test.each<[string, IntentCategory]>([
  ['/book-a-demo', 'Very High Intent - Demo/Book'],
  ['/request-a-demo', 'Very High Intent - Demo/Book'],
  ['/get-demo', 'Very High Intent - Demo/Book'],
  ['/live-demo', 'Very High Intent - Demo/Book'],
  ['/schedule-a-call', 'Very High Intent - Demo/Book'],
  ['/contact-us', 'High Intent - Contact'],
  ['/ContactUs.aspx', 'High Intent - Contact'],
  ['/get-in-touch', 'High Intent - Contact'],
  ['/de/kontakt', 'High Intent - Contact'],
  ['/plans-and-pricing', 'High Intent - Pricing'],
  ['/request-a-quote', 'High Intent - Pricing'],
  ['/de/preise', 'High Intent - Pricing'],
  ['/sign-up', 'High Intent - Signup'],
  ['/register', 'High Intent - Signup'],
  ['/our-customers', 'Mid-High Intent - Social Proof'],
  ['/success-stories/acme', 'Mid-High Intent - Social Proof'],
  ['/how-it-works', 'Mid Intent - Product'],
  ['/solutions/retail', 'Mid Intent - Solutions'],
  ['/industries/energy', 'Mid Intent - Solutions'],
  ['/roi-calculator', 'Mid Intent - Tools'],
  ['/acme-vs-globex', 'Mid Intent - Tools'],
  ['/store-locator', 'Mid Intent - Location Pages'],
  ['/help-center', 'Mid Intent - Documentation'],
  ['/annual-report', 'Mid Intent - Research'],
  ['/about-us', 'Neutral - Company Info'],
  ['/company', 'Neutral - Company Info'],
  ['/%C3%BCber-uns', 'Neutral - Company Info'],
  ['/meet-the-team', 'Neutral - Company Info'],
  ['/company/careers', 'Not a Buyer - Careers'],
  ['/join-our-team', 'Not a Buyer - Careers'],
  ['/privacy-policy', 'Not a Buyer - Legal'],
  ['/terms-of-service.html', 'Not a Buyer - Legal'],
  ['/legal/cookie-policy', 'Not a Buyer - Legal'],
  ['/impressum', 'Not a Buyer - Legal'],
])('%s is in %s', (path, category) => {
  expect(categorize(path)?.category).toBe(category);
});

test.each<[string, IntentCategory]>([
  ['/product/pricing', 'High Intent - Pricing'],
  ['/pricing/contact', 'High Intent - Contact'],
  ['/docs/contact/demo', 'Very High Intent - Demo/Book'],
  ['/resources/case-studies', 'Mid-High Intent - Social Proof'],
  ['/about/careers', 'Neutral - Company Info'],
  ['/careers/privacy', 'Not a Buyer - Careers'],
])('where two match, the highest intent wins: %s is in %s', (path, category) => {
  expect(categorize(path)?.category).toBe(category);
});

test.each([
  '/',
  '/en',
  '/en-us',
  '/zh-hans',
  '/planet',
  '/planetarium/plants',
  '/democracy',
  '/contactless',
  '/productivity',
  '/blogger',
  '/termites',
  '/helpful',
  '/teamwork',
  '/cityscape',
  '/aboutness',
  '/pricing-psychology',
  '/why-our-customers-stay-with-us-for-years',
  '/company/anything',
  '/%E0%A4%A',
  '/-/_/',
  '/constructor/__proto__/toString',
])('%s is in no category', (path) => {
  expect(categorize(path)).toBeNull();
});
