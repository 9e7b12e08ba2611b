// A pause that a signal ends early.

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}
