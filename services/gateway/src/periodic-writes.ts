// Writes what was noted meanwhile, every few seconds, without delaying requests.

/**
 * Calls `write` every so many milliseconds, one call after the other.
 * @param write must not throw: nobody waits for it
 * @returns stops the calls, and resolves after a last one
 */
export function startPeriodicWrites(write: () => Promise<void>, everyMs: number): () => Promise<void> {
  let writing = Promise.resolve();
  const timer = setInterval(() => {
    writing = writing.then(write);
  }, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await writing.then(write);
  };
}
