// Event type names: Title Case and snake_case spellings of one type are one type everywhere (SPEC.md, API.md).

/** The key under which all spellings of a type are one: `Page View`, `page_view` and `page-view` give `page_view`. */
export function eventTypeKey(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_');
}

/** Of two spellings of one type, the one to show: anything is preferred to snake_case. */
export function preferredEventTypeName(a: string, b: string): string {
  const snake = /^[a-z0-9_]+$/;
  if (snake.test(a) !== snake.test(b)) return snake.test(a) ? b : a;
  return a <= b ? a : b;
}
