// Sorts pages into categories and proposes a rule for each. A rule matches a path that contains a fragment, or any of a list. A
// fragment of a page's path is also in every path that contains this whole path (`/pricing` in `/blog/pricing-tips`), so that a rule for
// all pages of a category inevitably matches those paths too. They are listed with the category: the list is always what the rule
// matches.
import { compileFilters, intentCategory, maximumFragments, type SiteAnalysis } from '@lead-scoring/contracts';
import { categories, categorize } from './categories.js';
import { fragmentsOf, untidiness, type CategorizedPage } from './fragments.js';

/** The most pages beyond the cap, and their most characters, that are checked for fragments that match the wrong ones. */
const maximumSkippedConsidered = 10_000;
const maximumSkippedCharacters = 1_000_000;

/** The number of best fragments, by the analysed pages, that are compared with the pages beyond the cap. */
const shortlistLength = 10;

/** The number of fragments of a single page that are tried before its whole path is used. */
const maximumTried = 8;

/**
 * @param analysed paths of pages, the ones that matter most first
 * @param skipped paths beyond the cap: they are in no category, but fragments that match the wrong ones among them are avoided
 */
export function proposeRules(
  analysed: readonly string[],
  skipped: readonly string[] = [],
): Pick<SiteAnalysis, 'categories' | 'proposed_rules'> {
  const site: Site = { pages: analysed.map(categorizedPage), beyond: firstOf(skipped).map(categorizedPage) };
  const found = intentCategory.options.flatMap((category) => {
    const details = categories.get(category);
    const own = site.pages.filter((page) => page.category === category);
    if (details === undefined || own.length === 0) return [];
    const { pattern, fragments } = choiceFor(category, own, site);
    const urls = site.pages.filter(matcherOf(fragments)).map(({ path }) => path);
    const entry = { category, pattern, urls, suggested_weight: details.weight, icon: details.icon };
    return { fragments, entry };
  });
  return {
    categories: found.map(({ entry }) => entry),
    proposed_rules: found.map(({ fragments, entry: { category, suggested_weight, icon } }) => ({
      event_type: 'Page View',
      weight: suggested_weight,
      label: category,
      icon,
      attribute_filters: [
        {
          field: 'path',
          operator: 'contains',
          value: fragments.length === 1 ? (fragments[0] ?? '') : fragments,
        },
      ],
    })),
  };
}

interface Site {
  pages: readonly CategorizedPage[];
  /** Pages beyond the cap. */
  beyond: readonly CategorizedPage[];
}

function categorizedPage(path: string): CategorizedPage {
  const { category, segments } = categorize(path) ?? { category: null, segments: [] };
  return { path, lower: path.toLowerCase(), category, segments };
}

/** The first of the skipped paths, up to the limits. */
function firstOf(skipped: readonly string[]): string[] {
  let characters = 0;
  return skipped.slice(0, maximumSkippedConsidered).filter((path) => {
    characters += path.length;
    return characters <= maximumSkippedCharacters;
  });
}

/** A function that tells whether a rule with these fragments matches a page, in time linear in the path for any fragments. */
function matcherOf(fragments: readonly string[]): (page: CategorizedPage) => boolean {
  const matches = compileFilters([{ field: 'path', operator: 'contains', value: [...fragments] }]);
  return ({ lower }) => matches({ path: lower });
}

interface Candidate {
  fragment: string;
  /** The pages of the category that it matches. */
  reached: ReadonlySet<CategorizedPage>;
  /** The number of other pages that it matches. */
  astray: number;
  /** Whether it matches only pages that every rule for the category must match. */
  isExact: boolean;
}

/** Chooses the best single fragment, and the fragments that together match all pages: if one suffices, only this one. */
function choiceFor(
  category: string,
  own: readonly CategorizedPage[],
  site: Site,
): { pattern: string; fragments: string[] } {
  const wanted = new Set(own.flatMap((page) => pagesWithin(site, page)));
  const candidateOf = (fragment: string): Candidate => {
    const found = site.pages.filter(matcherOf([fragment]));
    const reached = new Set(found.filter((page) => page.category === category));
    const isExact = found.every((page) => wanted.has(page));
    return { fragment, reached, astray: found.length - reached.size, isExact };
  };
  const candidates = fragmentsOf(category, own).map(candidateOf);
  const worthBeyond = memoized((fragment) => worthAmong(site.beyond, category, fragment));
  const whole = candidates.filter(({ isExact, reached }) => isExact && reached.size === own.length);
  if (whole.length > 0) {
    const { fragment } = bestOf(whole, worthBeyond);
    return { pattern: fragment, fragments: [fragment] };
  }
  const exact = candidates.filter(({ reached, astray }) => astray === 0 && 2 * reached.size >= own.length);
  const fragments = coverOf(category, own, candidates, { candidateOf, worthBeyond });
  const [only] = fragments;
  if (only !== undefined && fragments.length === 1) return { pattern: only, fragments };
  return { pattern: bestOf(exact.length > 0 ? exact : candidates, worthBeyond).fragment, fragments };
}

/** All pages whose path contains the whole path of this page, including itself. */
function pagesWithin(site: Site, { lower }: CategorizedPage): CategorizedPage[] {
  const matches = matcherOf([lower]);
  return site.pages.filter((page) => page.lower.length >= lower.length && matches(page));
}

/**
 * Exact fragments that together match all pages: repeatedly the one that matches most of the pages left. A page that no shared
 * fragment matches gets one of its own, at worst its whole path.
 */
function coverOf(
  category: string,
  own: readonly CategorizedPage[],
  candidates: readonly Candidate[],
  { candidateOf, worthBeyond }: { candidateOf: (fragment: string) => Candidate; worthBeyond: Worth },
): string[] {
  const chosen: Candidate[] = [];
  let left = own;
  const take = (candidate: Candidate) => {
    chosen.push(candidate);
    left = left.filter((page) => !candidate.reached.has(page));
  };
  for (let useful = candidates.filter(({ isExact }) => isExact); ;) {
    useful = useful
      .map((candidate) => ({
        ...candidate,
        reached: new Set(left.filter((page) => candidate.reached.has(page))),
      }))
      .filter(({ reached }) => reached.size > 0);
    if (useful.length === 0) break;
    take(candidateOf(bestOf(useful, worthBeyond).fragment));
  }
  for (let page = left[0]; page !== undefined; page = left[0]) {
    const tried = fragmentsOf(category, [page]).slice(0, maximumTried).map(candidateOf);
    take(tried.find(({ isExact }) => isExact) ?? candidateOf(page.lower));
  }
  return withoutRedundant(chosen)
    .slice(0, maximumFragments)
    .map(({ fragment }) => fragment);
}

/** Drops candidates whose pages the others match as well, the latest first. */
function withoutRedundant(chosen: readonly Candidate[]): Candidate[] {
  let kept = [...chosen];
  for (const candidate of [...chosen].reverse()) {
    const others = kept.filter((one) => one !== candidate);
    if ([...candidate.reached].every((page) => others.some(({ reached }) => reached.has(page))))
      kept = others;
  }
  return kept;
}

type Worth = (fragment: string) => number;

/** The candidate with the most matched pages of the category, less the other pages that it matches. */
function bestOf(candidates: readonly Candidate[], worthBeyond: Worth): Candidate {
  const shortlist = [...candidates]
    .sort(
      (a, b) =>
        b.reached.size - b.astray - (a.reached.size - a.astray) ||
        b.reached.size - a.reached.size ||
        untidiness(a.fragment) - untidiness(b.fragment),
    )
    .slice(0, shortlistLength)
    .map((candidate) => ({
      candidate,
      worth: candidate.reached.size - candidate.astray + worthBeyond(candidate.fragment),
    }));
  return shortlist.reduce((best, one) => (one.worth > best.worth ? one : best)).candidate;
}

function worthAmong(pages: readonly CategorizedPage[], category: string, fragment: string): number {
  let worth = 0;
  for (const page of pages) if (page.lower.includes(fragment)) worth += page.category === category ? 1 : -1;
  return worth;
}

function memoized(worthOf: Worth): Worth {
  const known = new Map<string, number>();
  return (fragment) => {
    const worth = known.get(fragment) ?? worthOf(fragment);
    known.set(fragment, worth);
    return worth;
  };
}
