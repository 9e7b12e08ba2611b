// Event type names: Title Case and snake_case spellings of one type are one type everywhere (SPEC.md, API.md).

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

/** Of two spellings of one type, the one to show: anything is preferred to snake_case. */
export function preferredEventTypeName(a: string, b: string): string {
  const snake = /^[a-z0-9_]+$/;
  if (snake.test(a) !== snake.test(b)) return snake.test(a) ? b : a;
  return a <= b ? a : b;
}
