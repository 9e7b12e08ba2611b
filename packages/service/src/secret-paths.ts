// Removes secrets from paths before they are logged or traced.
import { routes } from '@lead-scoring/contracts';

/** The path prefixes before a parameter named `token`, whose value is a secret. */
const beforeSecrets = [
  ...new Set(
    Object.values(routes).flatMap(({ path }) => {
      const [before, after] = path.split('{token}');
      return after === undefined || before === undefined ? [] : [before];
    }),
  ),
];

/**
 * The path with `{token}` in place of a token; other paths unchanged.
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
