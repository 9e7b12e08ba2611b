// Sorts pages into categories and proposes a rule for each. A rule can only ask whether a path contains a fragment, so
// the fragment is chosen for being exact: it is in paths of its category and in no other path that was analysed. Pages
// that such a fragment does not reach are not listed, and a category that none tells apart (`/plan` beside `/planet`)
// is left out: a rule that scores the wrong pages is worse than none.
import { intentCategory, type SiteAnalysis } from '@lead-scoring/contracts';
import { categories, categorize, categoryOfSegment, segmentsOf, stemOf } from './categories.js';

/** Of pages beyond the cap, this many are looked at for fragments that would hit the wrong ones. */
const maximumSkippedConsidered = 10_000;

/** Fragments that are compared by what they would do to pages beyond the cap. */
const shortlistLength = 20;

/** Segments that a fragment spans at most. */
const maximumSpan = 3;

const maximumFragmentLength = 200;

interface SortedPage {
  path: string;
  /** As the filter `contains` compares. */
  lower: string;
  category: string | null;
  segments: number[];
}

/**
 * @param analysed paths of pages, the ones that matter most first
 * @param skipped paths beyond the cap: they are in no category, but a fragment that hits wrong ones among them is avoided
 */
export function proposeRules(
  analysed: readonly string[],
  skipped: readonly string[] = [],
): Pick<SiteAnalysis, 'categories' | 'proposed_rules'> {
  const pages = analysed.map(sorted);
  const beyond = skipped.slice(0, maximumSkippedConsidered).map(sorted);
  const found = intentCategory.options.flatMap((category) => {
    const details = categories.get(category);
    const pattern = patternOf(category, pages, beyond);
    if (details === undefined || pattern === null) return [];
    const urls = pages.filter(({ lower }) => lower.includes(pattern)).map(({ path }) => path);
    return { category, pattern, urls, suggested_weight: details.weight, icon: details.icon };
  });
  return {
    categories: found,
    proposed_rules: found.map(({ category, pattern, suggested_weight, icon }) => ({
      event_type: 'Page View',
      weight: suggested_weight,
      label: category,
      icon,
      attribute_filters: [{ field: 'path', operator: 'contains', value: pattern }],
    })),
  };
}

function sorted(path: string): SortedPage {
  const { category, segments } = categorize(path) ?? { category: null, segments: [] };
  return { path, lower: path.toLowerCase(), category, segments };
}

/** The fragment that most pages of the category share and no other page has; null when there is none. */
function patternOf(
  category: string,
  pages: readonly SortedPage[],
  beyond: readonly SortedPage[],
): string | null {
  const own = pages.filter((page) => page.category === category);
  const others = pages.filter((page) => page.category !== category);
  const reach = (fragment: string) => own.filter(({ lower }) => lower.includes(fragment)).length;
  const shortlist = [...fragmentsOf(category, own)]
    .filter((fragment) => !others.some(({ lower }) => lower.includes(fragment)))
    .map((fragment, at) => ({ fragment, at, reach: reach(fragment) }))
    .sort((a, b) => b.reach - a.reach || untidiness(a.fragment) - untidiness(b.fragment) || a.at - b.at)
    .slice(0, shortlistLength);
  let best: { fragment: string; worth: number } | null = null;
  for (const { fragment, reach } of shortlist) {
    let worth = reach;
    for (const page of beyond)
      if (page.lower.includes(fragment)) worth += page.category === category ? 1 : -1;
    if (best === null || worth > best.worth) best = { fragment, worth };
  }
  return best?.fragment ?? null;
}

/** What a person would write comes first: whole segments from their slash on, as few as possible. */
function untidiness(fragment: string): number {
  if (!fragment.startsWith('/')) return 10;
  const segments = fragment.split('/').filter(Boolean).length;
  return segments - 1 + (fragment.endsWith('/') ? 0.5 : /[_-]$/.test(fragment) ? 5 : 0);
}

/** What pages of a category might share, the plainest first. */
function fragmentsOf(category: string, pages: readonly SortedPage[]): Set<string> {
  const fragments = new Set<string>();
  const stems = new Set<string>();
  const add = (fragment: string) => {
    if (fragment.length > 2 && fragment.length <= maximumFragmentLength) fragments.add(fragment);
  };
  for (const { lower, segments: matched } of pages) {
    const segments = segmentsOf(lower);
    for (const at of matched) {
      const segment = segments[at] ?? '';
      const stem = stemOf(segment);
      stems.add(stem);
      add(`/${stem}`);
      for (let from = Math.max(0, at - maximumSpan + 1); from <= at; from += 1)
        for (let to = at; to < Math.min(segments.length, from + maximumSpan); to += 1) {
          const span = `/${segments.slice(from, to + 1).join('/')}`;
          add(span);
          if (to + 1 < segments.length) add(`${span}/`);
        }
      for (const part of partsOf(stem, category)) add(part);
    }
  }
  for (const start of sharedStarts([...stems])) add(`/${start}`);
  return fragments;
}

/** `demo` and `-demo` of `book-demo`: the first and the last word with their hyphen, and words that say it all alone. */
function partsOf(stem: string, category: string): string[] {
  const words = stem.split(/[-_]/);
  const [first = '', last = ''] = [words[0], words.at(-1)];
  if (words.length < 2 || first === '' || last === '') return words.length === 1 ? [stem] : [];
  return [
    ...words.filter((word) => categoryOfSegment(word) === category),
    `/${stem.slice(0, first.length + 1)}`,
    stem.slice(-last.length - 1),
  ];
}

/** `product` of `product` and `products`, `case-stud` of `case-study` and `case-studies`. */
function sharedStarts(stems: string[]): string[] {
  const ordered = stems.sort();
  return ordered.flatMap((stem, at) => {
    const next = ordered[at + 1] ?? '';
    let length = 0;
    while (length < stem.length && stem[length] === next[length]) length += 1;
    const shorter = Math.min(stem.length, next.length);
    return length >= 4 && length >= 0.75 * shorter ? [stem.slice(0, length)] : [];
  });
}
