// Proposed rules: fragments that match the pages of a category and no other page.
import { describe, expect, test } from '@jest/globals';
import {
  attributeFilter,
  compileFilters,
  maximumFragments,
  proposedRule,
  siteCategory,
  type IntentCategory,
  type ProposedRule,
} from '@lead-scoring/contracts';
import fc from 'fast-check';
import { categorize } from './categories.js';
import { proposeRules } from './propose.js';

function found(category: IntentCategory, paths: string[], skipped: string[] = []) {
  const { categories, proposed_rules } = proposeRules(paths, skipped);
  const at = categories.findIndex((one) => one.category === category);
  const { pattern, urls } = categories[at] ?? {};
  return { pattern, urls, value: proposed_rules[at]?.attribute_filters[0]?.value };
}

/** The pattern and pages of a category for which one fragment suffices; the pattern is then also the rule's filter. */
function single(category: IntentCategory, paths: string[], skipped: string[] = []) {
  const { pattern, urls, value } = found(category, paths, skipped);
  expect(value).toBe(pattern);
  return [pattern, urls];
}

describe('a single fragment that matches exactly the pages of the category', () => {
  test('is the plain segment that all pages share', () => {
    const pages = ['/pricing', '/en/pricing', '/pricing/enterprise', '/de/Pricing.html'];
    expect(single('High Intent - Pricing', ['/', '/docs', ...pages])).toEqual(['/pricing', pages]);
  });

  test('is the common part of singular and plural', () => {
    const pages = ['/case-studies', '/case-study/acme'];
    expect(single('Mid-High Intent - Social Proof', pages)).toEqual(['/case-stud', pages]);
    expect(single('Mid Intent - Product', ['/product', '/products/x'])).toEqual([
      '/product',
      ['/product', '/products/x'],
    ]);
  });

  test('is a word within segments if all pages share the word', () => {
    const pages = ['/demo', '/book-demo', '/en/request-a-demo'];
    expect(single('Very High Intent - Demo/Book', pages)).toEqual(['demo', pages]);
    const policies = ['/privacy-policy', '/cookie-policy'];
    expect(single('Not a Buyer - Legal', policies)).toEqual(['-policy', policies]);
  });

  test('is `-vs-` for pages that compare two things', () => {
    const pages = ['/acme-vs-globex', '/globex-vs-initech'];
    expect(single('Mid Intent - Tools', pages)).toEqual(['-vs-', pages]);
  });

  test('includes the segment before if the segment alone matches other pages', () => {
    const pages = ['/pages/contact', '/de/pages/contact'];
    expect(single('High Intent - Contact', [...pages, '/collections/contact-lenses'])).toEqual([
      '/pages/contact',
      pages,
    ]);
  });

  test('is, of several, the one that matches no wrong page beyond the cap', () => {
    const analysed = ['/product/a', '/product/b'];
    expect(single('Mid Intent - Product', analysed, ['/blog/product-led'])).toEqual(['/product/', analysed]);
  });
});

describe('if no single fragment matches exactly the pages of the category, the rule has a list', () => {
  test('that matches a privacy page beside a longer section of terms', () => {
    const pages = ['/privacy', '/terms', '/terms/sale', '/terms/use'];
    expect(found('Not a Buyer - Legal', ['/', ...pages])).toEqual({
      pattern: '/terms',
      urls: pages,
      value: ['/terms', '/privacy'],
    });
  });

  test('of as few fragments as match all pages, the one that matches most first', () => {
    const pages = ['/docs/a', '/docs/b', '/help', '/support', '/support/x', '/docs/help', '/support/docs'];
    expect(found('Mid Intent - Documentation', [...pages, '/pricing'])).toEqual({
      pattern: '/docs',
      urls: pages,
      value: ['/docs', '/support', '/help'],
    });
  });

  test('that leaves pages of a higher intent to their category', () => {
    const pages = ['/docs/guides/a', '/docs/guides/b', '/docs/install'];
    expect(found('Mid Intent - Documentation', [...pages, '/docs/contact'])).toEqual({
      pattern: '/docs/guides',
      urls: pages,
      value: ['/docs/guides', '/docs/install'],
    });
  });

  test('without the best single fragment if that one matches other pages', () => {
    const sections = ['/docs/a', '/docs/b', '/docs/c', '/docs/d'];
    expect(found('Mid Intent - Documentation', [...sections, '/docs/pricing'])).toEqual({
      pattern: '/docs',
      urls: sections,
      value: ['/docs/a', '/docs/b', '/docs/c', '/docs/d'],
    });
  });
});

describe('a page whose whole path is contained in that of another page', () => {
  test.each<[IntentCategory, string, string[]]>([
    ['High Intent - Pricing', '/plan', ['/plan', '/planet']],
    ['High Intent - Pricing', '/pricing', ['/pricing', '/blog/pricing-tips']],
    ['High Intent - Pricing', '/plan', ['/plan', '/de/plan', '/plans', '/planet']],
    ['Mid Intent - Product', '/product', ['/product', '/product/a', '/blog/productivity']],
  ])('is listed with it in %s: every rule that matches %s matches the other', (category, pattern, pages) => {
    expect(single(category, ['/', ...pages])).toEqual([pattern, pages]);
  });

  test('may be in two categories', () => {
    const pages = ['/pricing', '/blog', '/blog/pricing-tips'];
    expect(single('Low Intent - Content', pages)).toEqual(['/blog', ['/blog', '/blog/pricing-tips']]);
    expect(single('High Intent - Pricing', pages)).toEqual(['/pricing', ['/pricing', '/blog/pricing-tips']]);
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

/** The pages that a proposed rule scores, by scoring's own filter. */
function scored(rule: ProposedRule | undefined, pages: readonly string[]): string[] {
  const attribute_filters = rule?.attribute_filters ?? [];
  expect(attribute_filters).toHaveLength(1);
  const matches = compileFilters(attribute_filters.map((filter) => attributeFilter.parse(filter)));
  return pages.filter((page) => matches({ path: page }));
}

test('on any site, each category has all its pages, and its rule scores exactly the listed ones', () => {
  fc.assert(
    fc.property(site, site, (analysed, skipped) => {
      const { categories, proposed_rules } = proposeRules(analysed, skipped);
      for (const [at, found] of categories.entries()) {
        siteCategory.parse(found);
        expect(scored(proposedRule.parse(proposed_rules[at]), analysed)).toEqual(found.urls);
        const own = analysed.filter((page) => categorize(page)?.category === found.category);
        expect(found.urls).toEqual(expect.arrayContaining(own));
        // Every other listed page contains a whole path of the category.
        const others = found.urls.filter((page) => !own.includes(page));
        for (const other of others)
          expect(own.some((page) => other.toLowerCase().includes(page.toLowerCase()))).toBe(true);
      }
      const named = new Set(analysed.flatMap((page) => categorize(page)?.category ?? []));
      expect(new Set(categories.map(({ category }) => category))).toEqual(named);
    }),
    { numRuns: 500 },
  );
});

test('for a category that needs more fragments than a filter may have, those that match most pages are proposed', () => {
  const spellings = ['a', 'the', 'our', 'your', 'my', 'us', 'free', 'online', 'all'];
  const pages = spellings.flatMap((one) => spellings.map((two) => `/${one}-${two}-tos`));
  // Every shorter fragment matches other pages as well.
  const others = pages.flatMap((page) => [`/x-${page.slice(1)}y`, `${page.slice(0, -3)}x`]);
  const { categories, proposed_rules } = proposeRules([...pages, ...others]);
  const at = categories.findIndex(({ category }) => category === 'Not a Buyer - Legal');
  expect(proposedRule.parse(proposed_rules[at]).attribute_filters[0]?.value).toHaveLength(maximumFragments);
  expect(scored(proposed_rules[at], [...pages, ...others])).toEqual(categories[at]?.urls);
});

test('addresses that are made to be expensive are categorized like others', () => {
  const words = ['demo', 'contact', 'pricing', 'signup', 'docs', 'blog', 'careers', 'legal'];
  const long = (page: number) =>
    Array.from({ length: 100 }, (_, at) => `/${words[page % words.length] ?? ''}/${page}-${at}`).join('');
  const analysed = Array.from({ length: 300 }, (_, page) => long(page));
  const skipped = Array.from({ length: 10_000 }, (_, page) => long(page + 300));
  expect(proposeRules(analysed, skipped).categories).toHaveLength(words.length);
});
