// Work on many items in calls of a bounded size.

const parallelCalls = 2;

/**
 * Does the work chunk by chunk, two at a time.
 * @returns what came of each chunk, in no particular order
 */
export async function inChunks<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (chunk: readonly Item[]) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const from = next;
      next += size;
      results.push(await work(items.slice(from, from + size)));
    }
  };
  const lanes = Array.from({ length: Math.min(parallelCalls, Math.ceil(items.length / size)) }, lane);
  // All lanes are awaited, also when one fails: nothing may still be writing when the caller hears of the failure.
  const outcomes = await Promise.allSettled(lanes);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}
