// Event type names: the Title Case and snake_case spellings of a type mean the same type (SPEC.md, API.md).
import { distance } from 'fastest-levenshtein';

/**
 * Keys by spelling. Few types have very many events: the cache saves the computation, and all users of a key share one
 * string.
 */
const keys = new Map<string, string>();
const maximumSpellings = 10_000;

/** The key that all spellings of a type share: `Page View`, `page_view` and `page-view` give `page_view`. */
export function eventTypeKey(name: string): string {
  const known = keys.get(name);
  if (known !== undefined) return known;
  const key = name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_');
  if (keys.size >= maximumSpellings) keys.clear();
  keys.set(name, key);
  return key;
}

/** The spelling of a type to display: any other spelling is preferred to snake_case. */
export function preferredEventTypeName(a: string, b: string): string {
  const snake = /^[a-z0-9_]+$/;
  if (snake.test(a) !== snake.test(b)) return snake.test(a) ? b : a;
  return a <= b ? a : b;
}

/**
 * The known event type that a name probably misspells: one edit away, or two for names of six characters and more.
 * Undefined when the name itself is known, or when no known type is that near.
 */
export function misspeltEventType(name: string, seen: readonly string[]): string | undefined {
  const key = eventTypeKey(name);
  let least = key.length < 6 ? 2 : 3;
  let nearest: string | undefined;
  for (const one of seen) {
    const other = eventTypeKey(one);
    if (other === key) return undefined;
    if (key.length < 3 || Math.abs(other.length - key.length) >= least) continue;
    const away = distance(key, other);
    if (away >= least) continue;
    least = away;
    nearest = one;
  }
  return nearest;
}
