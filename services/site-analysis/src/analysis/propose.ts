// Sorts pages into categories and proposes a rule for each. A rule can only ask whether a path contains a fragment, so
// the best fragment is exact: it is in paths of its category and in no other path that was analysed. Where none is, the
// one that finds most of its category and least of anything else is taken, and whatever it finds is listed: what the
// filter matches and what is shown always agree.
import { intentCategory, type SiteAnalysis } from '@lead-scoring/contracts';
import { categories, categorize, categoryOfSegment, segmentsOf, stemOf } from './categories.js';

/** Of pages beyond the cap, this many are looked at for fragments that would hit the wrong ones, and as many characters. */
const maximumSkippedConsidered = 10_000;
const maximumSkippedCharacters = 1_000_000;

/** Fragments of a category that are held against every page, those that came from most pages first. */
const maximumFragments = 60;

/** Of these, as many are held against the pages beyond the cap. */
const shortlistLength = 10;

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
  const beyond = considered(skipped).map(sorted);
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

function considered(skipped: readonly string[]): string[] {
  let characters = 0;
  return skipped.slice(0, maximumSkippedConsidered).filter((path) => {
    characters += path.length;
    return characters <= maximumSkippedCharacters;
  });
}

interface Candidate {
  fragment: string;
  /** Pages of the category that have it. */
  reach: number;
  /** Pages of none or of others that have it. */
  astray: number;
}

/**
 * The fragment for a category; null only when it has no pages. One that most of its pages share and that no other page
 * has, else the one that finds the most of its pages after those that it should not find are taken off.
 */
function patternOf(
  category: string,
  pages: readonly SortedPage[],
  beyond: readonly SortedPage[],
): string | null {
  const own = pages.filter((page) => page.category === category);
  const candidates = fragmentsOf(category, own).map((fragment): Candidate => {
    const found = pages.filter(({ lower }) => lower.includes(fragment));
    const reach = found.filter((page) => page.category === category).length;
    return { fragment, reach, astray: found.length - reach };
  });
  const exact = candidates.filter(({ reach, astray }) => astray === 0 && 2 * reach >= own.length);
  const shortlist = (exact.length > 0 ? exact : candidates)
    .sort(
      (a, b) =>
        b.reach - b.astray - (a.reach - a.astray) ||
        b.reach - a.reach ||
        untidiness(a.fragment) - untidiness(b.fragment),
    )
    .slice(0, shortlistLength);
  let best: { fragment: string; worth: number } | null = null;
  for (const { fragment, reach, astray } of shortlist) {
    let worth = reach - astray;
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

/** What pages of a category might share: what came from most of them first, then the plainest. */
function fragmentsOf(category: string, pages: readonly SortedPage[]): string[] {
  const fragments = new Map<string, number>();
  const stems = new Set<string>();
  const add = (long: string) => {
    const fragment = long.slice(0, maximumFragmentLength);
    if (fragment.length > 2) fragments.set(fragment, (fragments.get(fragment) ?? 0) + 1);
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
  const starts = sharedStarts([...stems]).map((start) => `/${start}`);
  const likely = [...fragments]
    .sort(([a, ofA], [b, ofB]) => ofB - ofA || untidiness(a) - untidiness(b))
    .map(([fragment]) => fragment);
  // What stems share comes from none of them alone.
  return [...new Set([...starts.slice(0, maximumFragments / 4), ...likely])].slice(0, maximumFragments);
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
