// Sorts pages into categories and proposes a rule for each. A rule asks whether a path contains a fragment, or any of a
// list. A fragment that is in a page's path is also in every path that contains this whole path (`/pricing` in
// `/blog/pricing-tips`), so a rule for all pages of a category cannot but match those too: they are listed with them, and
// what is listed and what the rule matches always agree.
import { compileFilters, intentCategory, maximumFragments, type SiteAnalysis } from '@lead-scoring/contracts';
import { categories, categorize } from './categories.js';
import { fragmentsOf, untidiness, type SortedPage } from './fragments.js';

/** Of pages beyond the cap, this many are looked at for fragments that would hit the wrong ones, and as many characters. */
const maximumSkippedConsidered = 10_000;
const maximumSkippedCharacters = 1_000_000;

/** Fragments, of those that are alike good on the analysed pages, that are held against the pages beyond the cap. */
const shortlistLength = 10;

/** Fragments of a single page that are tried before its whole path is taken. */
const maximumTried = 8;

/**
 * @param analysed paths of pages, the ones that matter most first
 * @param skipped paths beyond the cap: they are in no category, but a fragment that hits wrong ones among them is avoided
 */
export function proposeRules(
  analysed: readonly string[],
  skipped: readonly string[] = [],
): Pick<SiteAnalysis, 'categories' | 'proposed_rules'> {
  const site: Site = { pages: analysed.map(sorted), beyond: considered(skipped).map(sorted) };
  const found = intentCategory.options.flatMap((category) => {
    const details = categories.get(category);
    const own = site.pages.filter((page) => page.category === category);
    if (details === undefined || own.length === 0) return [];
    const { pattern, fragments } = choiceFor(category, own, site);
    const urls = site.pages.filter(matching(fragments)).map(({ path }) => path);
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
  pages: readonly SortedPage[];
  /** Pages beyond the cap. */
  beyond: readonly SortedPage[];
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

/** Whether a rule with these fragments scores views of a page; in time linear in the path, whatever the fragments. */
function matching(fragments: readonly string[]): (page: SortedPage) => boolean {
  const matches = compileFilters([{ field: 'path', operator: 'contains', value: [...fragments] }]);
  return ({ lower }) => matches({ path: lower });
}

interface Candidate {
  fragment: string;
  /** Pages of the category that have it. */
  reached: ReadonlySet<SortedPage>;
  /** Pages of none or of others that have it. */
  astray: number;
  /** Whether it matches no page but those that the rule cannot but match. */
  isExact: boolean;
}

/** The best single fragment, and the fragments, this one alone where that suffices, that together match all pages. */
function choiceFor(
  category: string,
  own: readonly SortedPage[],
  site: Site,
): { pattern: string; fragments: string[] } {
  const wanted = new Set(own.flatMap((page) => pagesWithin(site, page)));
  const candidateOf = (fragment: string): Candidate => {
    const found = site.pages.filter(matching([fragment]));
    const reached = new Set(found.filter((page) => page.category === category));
    const isExact = found.every((page) => wanted.has(page));
    return { fragment, reached, astray: found.length - reached.size, isExact };
  };
  const candidates = fragmentsOf(category, own).map(candidateOf);
  const worthBeyond = remembered((fragment) => worthAmong(site.beyond, category, fragment));
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

/** Every page whose path holds the whole path of this page, itself among them. */
function pagesWithin(site: Site, { lower }: SortedPage): SortedPage[] {
  const matches = matching([lower]);
  return site.pages.filter((page) => page.lower.length >= lower.length && matches(page));
}

/**
 * Exact fragments that together reach all pages, the one that reaches most of those left first. A page that no
 * fragment of several reaches is matched by one of its own, at worst by its whole path.
 */
function coverOf(
  category: string,
  own: readonly SortedPage[],
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
  return withoutNeedless(chosen)
    .slice(0, maximumFragments)
    .map(({ fragment }) => fragment);
}

/** Drops what the others reach as well, the latest first. */
function withoutNeedless(chosen: readonly Candidate[]): Candidate[] {
  let kept = [...chosen];
  for (const candidate of [...chosen].reverse()) {
    const others = kept.filter((one) => one !== candidate);
    if ([...candidate.reached].every((page) => others.some(({ reached }) => reached.has(page))))
      kept = others;
  }
  return kept;
}

type Worth = (fragment: string) => number;

/** The one that finds the most pages of the category after those that it should not find are taken off. */
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

function worthAmong(pages: readonly SortedPage[], category: string, fragment: string): number {
  let worth = 0;
  for (const page of pages) if (page.lower.includes(fragment)) worth += page.category === category ? 1 : -1;
  return worth;
}

function remembered(worthOf: Worth): Worth {
  const known = new Map<string, number>();
  return (fragment) => {
    const worth = known.get(fragment) ?? worthOf(fragment);
    known.set(fragment, worth);
    return worth;
  };
}
