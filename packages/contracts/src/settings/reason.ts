// The reason of an error in one line, for logs and for people: the cause that says more than the error itself.

const longest = 500;

/**
 * One line without a stack: the message; of a failed request of `fetch`, its cause, which names the address; of an error that
 * stands for several, such as "All promises were rejected", their different reasons.
 */
export function reasonOf(error: unknown, depth = 0): string {
  const reason = reasonIn(error, depth).replaceAll(/\s+/g, ' ').trim();
  return reason.length > longest ? `${reason.slice(0, longest)}…` : reason;
}

function reasonIn(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return String(error);
  if (depth < 4) {
    const several: unknown = 'errors' in error ? error.errors : undefined;
    if (Array.isArray(several) && several.length > 0)
      return [...new Set(several.map((one) => reasonOf(one, depth + 1)))].join('; ');
    if (error.message === 'fetch failed' && error.cause !== undefined)
      return reasonOf(error.cause, depth + 1);
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error.message || code || error.name;
}
