// Finds fragments of paths that the pages of a category may share, the likeliest first.
import { categoryOfSegment, segmentsOf, stemOf } from './categories.js';

/** A page with its category. `lower` is its path as the filter `contains` compares it. */
export interface CategorizedPage {
  path: string;
  lower: string;
  category: string | null;
  /** The indexes, from 0, of the segments that name the category. */
  segments: number[];
}

/** The most fragments of a category that are compared with every page: those of most pages. */
const maximumFragments = 60;

/** The most segments in a fragment. */
const maximumSpan = 3;

const maximumFragmentLength = 200;

/** Ranks fragments: the lowest are those that a person would write, whole segments with their slash, and as few as possible. */
export function untidiness(fragment: string): number {
  if (!fragment.startsWith('/')) return 10;
  const segments = fragment.split('/').filter(Boolean).length;
  return segments - 1 + (fragment.endsWith('/') ? 0.5 : /[_-]$/.test(fragment) ? 5 : 0);
}

/** Fragments that pages of a category may share: those of most pages first, then the tidiest. */
export function fragmentsOf(category: string, pages: readonly CategorizedPage[]): string[] {
  const fragments = new Map<string, number>();
  const stems = new Set<string>();
  const add = (long: string) => {
    const fragment = long.slice(0, maximumFragmentLength);
    if (fragment.length > 2) fragments.set(fragment, (fragments.get(fragment) ?? 0) + 1);
  };
  for (const { lower, segments: matched } of pages) {
    const segments = segmentsOf(lower);
    for (const at of matched) {
      const stem = stemOf(segments[at] ?? '');
      stems.add(stem);
      add(`/${stem}`);
      for (const span of spansOf(segments, at)) add(span);
      for (const part of partsOf(stem, category)) add(part);
    }
  }
  const starts = sharedStarts([...stems]).map((start) => `/${start}`);
  const likely = [...fragments]
    .sort(([a, ofA], [b, ofB]) => ofB - ofA || untidiness(a) - untidiness(b))
    .map(([fragment]) => fragment);
  // Shared starts of stems are not among the fragments of single pages, so they have a quota of their own.
  return [...new Set([...starts.slice(0, maximumFragments / 4), ...likely])].slice(0, maximumFragments);
}

/** Runs of whole segments that include one segment, with and without the slash after them where more segments follow. */
function* spansOf(segments: readonly string[], at: number): Generator<string> {
  for (let from = Math.max(0, at - maximumSpan + 1); from <= at; from += 1)
    for (let to = at; to < Math.min(segments.length, from + maximumSpan); to += 1) {
      const span = `/${segments.slice(from, to + 1).join('/')}`;
      yield span;
      if (to + 1 < segments.length) yield `${span}/`;
    }
}

/**
 * Parts of a segment, as `demo` and `-demo` of `book-demo`: the first and the last word with their hyphen, words that name the category
 * by themselves, and `-vs-` of a comparison.
 */
function partsOf(stem: string, category: string): string[] {
  const words = stem.split(/[-_]/);
  const [first = '', last = ''] = [words[0], words.at(-1)];
  if (words.length < 2 || first === '' || last === '') return words.length === 1 ? [stem] : [];
  return [
    ...words.filter((word) => categoryOfSegment(word) === category),
    `/${stem.slice(0, first.length + 1)}`,
    stem.slice(-last.length - 1),
    ...(words.includes('vs') ? ['-vs-'] : []),
  ];
}

/** The starts that neighbouring stems share: `product` of `product` and `products`, `case-stud` of `case-study` and `case-studies`. */
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
