// Processes many items in calls of a bounded size.

const parallelCalls = 2;

/**
 * Runs the work for each chunk, two chunks at a time.
 * @returns the results of all chunks, in no particular order
 */
export async function inChunks<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (chunk: readonly Item[]) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const from = next;
      next += size;
      results.push(await work(items.slice(from, from + size)));
    }
  };
  const workers = Array.from({ length: Math.min(parallelCalls, Math.ceil(items.length / size)) }, worker);
  // All workers are awaited, also after a failure: no write may be running when the caller gets the error.
  const outcomes = await Promise.allSettled(workers);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}
