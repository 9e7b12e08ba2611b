// Paths that hold a secret, as they may be logged and traced.
import { routes } from '@lead-scoring/contracts';

/** What stands before a parameter named `token`: its value opens something to whoever has it. */
const beforeSecrets = [
  ...new Set(
    Object.values(routes).flatMap(({ path }) => {
      const [before, after] = path.split('{token}');
      return after === undefined || before === undefined ? [] : [before];
    }),
  ),
];

/**
 * The path with `{token}` in place of a token; any other path as it is.
 * @param path with or without a query
 */
export function loggedPath(path: string): string {
  const before = beforeSecrets.find((start) => path.startsWith(start));
  return before === undefined
    ? path
    : path.replace(/^([^?#]*)/, (whole: string) => {
        const [, ...rest] = whole.slice(before.length).split('/');
        return [`${before}{token}`, ...rest].join('/');
      });
}
