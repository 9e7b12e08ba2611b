// Proposed rules: the fragment that most pages of a category share, and that no other page has.
import { describe, expect, test } from '@jest/globals';
import { attributeFilter, compileFilters, siteCategory, type IntentCategory } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { categorize } from './categories.js';
import { proposeRules } from './propose.js';

function patternOf(category: IntentCategory, paths: string[], skipped: string[] = []) {
  const found = proposeRules(paths, skipped).categories.find((one) => one.category === category);
  return found && [found.pattern, found.urls];
}

describe('the pattern', () => {
  test('is the plain segment where all pages share it', () => {
    const pages = ['/pricing', '/en/pricing', '/pricing/enterprise', '/de/Pricing.html'];
    expect(patternOf('High Intent - Pricing', ['/', '/docs', ...pages])).toEqual(['/pricing', pages]);
  });

  test('is what singular and plural share', () => {
    const pages = ['/case-studies', '/case-study/acme'];
    expect(patternOf('Mid-High Intent - Social Proof', pages)).toEqual(['/case-stud', pages]);
    expect(patternOf('Mid Intent - Product', ['/product', '/products/x'])).toEqual([
      '/product',
      ['/product', '/products/x'],
    ]);
  });

  test('is a word within segments where that reaches more pages', () => {
    const pages = ['/demo', '/book-demo', '/en/request-a-demo'];
    expect(patternOf('Very High Intent - Demo/Book', [...pages, '/schedule'])).toEqual(['demo', pages]);
    expect(patternOf('Not a Buyer - Legal', ['/privacy-policy', '/cookie-policy', '/terms'])).toEqual([
      '-policy',
      ['/privacy-policy', '/cookie-policy'],
    ]);
  });

  test('never hits a page that only starts alike: /plans is not /planset, /product not /productivity', () => {
    expect(patternOf('High Intent - Pricing', ['/plans', '/pricing', '/planset'])).toEqual([
      '/pricing',
      ['/pricing'],
    ]);
    expect(
      patternOf('Mid Intent - Product', ['/product', '/product/a', '/product/b', '/blog/productivity']),
    ).toEqual(['/product/', ['/product/a', '/product/b']]);
  });

  test('reaches further up the path where the segment alone is elsewhere too', () => {
    const pages = ['/pages/contact', '/de/pages/contact'];
    expect(patternOf('High Intent - Contact', [...pages, '/collections/contact-lenses'])).toEqual([
      '/pages/contact',
      pages,
    ]);
  });

  test('leaves pages of a higher intent to their category', () => {
    const guides = ['/docs/guides/a', '/docs/guides/b'];
    expect(patternOf('Mid Intent - Documentation', [...guides, '/docs/install', '/docs/contact'])).toEqual([
      '/docs/guides',
      guides,
    ]);
  });

  test('prefers, of fragments that are exact, the one that hits no wrong page beyond the cap', () => {
    const analysed = ['/product/a', '/product/b'];
    expect(patternOf('Mid Intent - Product', analysed, ['/blog/product-led'])).toEqual([
      '/product/',
      analysed,
    ]);
  });

  test('where no fragment is exact, is the plain one, and what else it matches is listed with it', () => {
    expect(patternOf('High Intent - Pricing', ['/', '/plan', '/planet'])).toEqual([
      '/plan',
      ['/plan', '/planet'],
    ]);
    expect(patternOf('High Intent - Pricing', ['/pricing', '/blog', '/blog/pricing-tips'])).toEqual([
      '/pricing',
      ['/pricing', '/blog/pricing-tips'],
    ]);
  });

  test('a page that two filters match is listed in both categories', () => {
    const pages = ['/pricing', '/blog', '/blog/pricing-tips'];
    expect(patternOf('Low Intent - Content', pages)).toEqual(['/blog', ['/blog', '/blog/pricing-tips']]);
  });

  test('where no fragment is exact, finds most of the category and least of anything else', () => {
    const plans = ['/plan', '/de/plan', '/plans'];
    expect(patternOf('High Intent - Pricing', [...plans, '/planet'])).toEqual([
      '/plan',
      [...plans, '/planet'],
    ]);
    const pages = ['/demo', '/democracy', '/democrats', '/demolition'];
    expect(patternOf('Very High Intent - Demo/Book', ['/en/demo', '/de/demo', '/fr/demo', ...pages])).toEqual(
      ['/demo', ['/en/demo', '/de/demo', '/fr/demo', ...pages]],
    );
  });

  test('an exact fragment for few of the pages does not stand in for one that finds nearly all', () => {
    const pages = ['/pricing', '/de/pricing', '/fr/pricing'];
    expect(patternOf('High Intent - Pricing', [...pages, '/blog/pricing-tips'])).toEqual([
      '/pricing',
      [...pages, '/blog/pricing-tips'],
    ]);
  });
});

test('one rule for each category found, highest intent first, with its name, weight and icon', () => {
  const { categories, proposed_rules } = proposeRules(['/', '/careers', '/demo', '/nothing']);
  expect(categories).toEqual([
    {
      category: 'Very High Intent - Demo/Book',
      pattern: '/demo',
      urls: ['/demo'],
      suggested_weight: 15,
      icon: 'calendar-check',
    },
    {
      category: 'Not a Buyer - Careers',
      pattern: '/careers',
      urls: ['/careers'],
      suggested_weight: -5,
      icon: 'briefcase',
    },
  ]);
  expect(proposed_rules).toEqual([
    {
      event_type: 'Page View',
      weight: 15,
      label: 'Very High Intent - Demo/Book',
      icon: 'calendar-check',
      attribute_filters: [{ field: 'path', operator: 'contains', value: '/demo' }],
    },
    {
      event_type: 'Page View',
      weight: -5,
      label: 'Not a Buyer - Careers',
      icon: 'briefcase',
      attribute_filters: [{ field: 'path', operator: 'contains', value: '/careers' }],
    },
  ]);
});

test('a homepage is in no category, nor are those of other languages', () => {
  expect(proposeRules(['/', '/en', '/de-at']).categories).toEqual([]);
});

const segment = fc.constantFrom(
  ...[
    'pricing',
    'plans',
    'planet',
    'plan',
    'demo',
    'book-demo',
    'democracy',
    'docs',
    'docs.html',
    'en',
    'de',
  ],
  ...[
    'blog',
    'pricing-tips',
    'product',
    'products',
    'productivity',
    'contact',
    'contact-us',
    'company',
    'careers',
  ],
  ...['privacy-policy', 'policy', 'about_us', 'a', 'PRICING', '%C3%BCber-uns', 'case-study', 'case-studies'],
);
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
const site = fc.uniqueArray(path, { maxLength: 40 });

test('every category found is proposed, and its filter matches exactly the pages listed, on any site', () => {
  fc.assert(
    fc.property(site, site, (analysed, skipped) => {
      const { categories, proposed_rules } = proposeRules(analysed, skipped);
      for (const [at, found] of categories.entries()) {
        siteCategory.parse(found);
        const filters =
          proposed_rules[at]?.attribute_filters.map((filter) => attributeFilter.parse(filter)) ?? [];
        expect(filters).toHaveLength(1);
        expect(analysed.filter((page) => compileFilters(filters)({ path: page }))).toEqual(found.urls);
        expect(found.urls.map((url) => categorize(url)?.category)).toContain(found.category);
      }
      const named = new Set(analysed.flatMap((page) => categorize(page)?.category ?? []));
      expect(new Set(categories.map(({ category }) => category))).toEqual(named);
    }),
    { numRuns: 500 },
  );
});

test('addresses made to be expensive are sorted like others', () => {
  const words = ['demo', 'contact', 'pricing', 'signup', 'docs', 'blog', 'careers', 'legal'];
  const long = (page: number) =>
    Array.from({ length: 100 }, (_, at) => `/${words[page % words.length] ?? ''}/${page}-${at}`).join('');
  const analysed = Array.from({ length: 300 }, (_, page) => long(page));
  const skipped = Array.from({ length: 10_000 }, (_, page) => long(page + 300));
  expect(proposeRules(analysed, skipped).categories).toHaveLength(words.length);
});
