// Event type names: Title Case and snake_case spellings of one type are one type everywhere (SPEC.md, API.md).
import { distance } from 'fastest-levenshtein';

/** By spelling: of few types there are very many events, and all that remember a key have one text in common. */
const keys = new Map<string, string>();
const maximumSpellings = 10_000;

/** The key under which all spellings of a type are one: `Page View`, `page_view` and `page-view` give `page_view`. */
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

/**
 * The type that has come in and that may be meant by one that has not: one letter away, of longer names two; undefined when
 * the type itself has come in, or when none is so near.
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

/** Of two spellings of one type, the one to show: anything is preferred to snake_case. */
export function preferredEventTypeName(a: string, b: string): string {
  const snake = /^[a-z0-9_]+$/;
  if (snake.test(a) !== snake.test(b)) return snake.test(a) ? b : a;
  return a <= b ? a : b;
}
