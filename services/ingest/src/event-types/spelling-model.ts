// Which of the spellings of an event type is shown.

/** The spelling of a type to display: any other spelling is preferred to snake_case. */
export function preferredEventTypeName(a: string, b: string): string {
  const snake = /^[a-z0-9_]+$/;
  if (snake.test(a) !== snake.test(b)) return snake.test(a) ? b : a;
  return a <= b ? a : b;
}
