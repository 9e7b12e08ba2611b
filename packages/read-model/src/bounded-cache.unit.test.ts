import { expect, test } from '@jest/globals';
import { createBoundedCache } from './bounded-cache.js';

test('the least recently used entry makes room, and only what is evicted is reported', () => {
  const evicted: number[] = [];
  const cache = createBoundedCache<number>({
    maximumEntries: 3,
    onEvicted: (value) => {
      evicted.push(value);
    },
  });
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ] as const)
    cache.set(key, value);
  cache.get('a');
  cache.set('b', 20);
  cache.delete('c');
  cache.set('d', 4);
  expect(evicted).toEqual([]);
  cache.set('e', 5);
  expect(evicted).toEqual([1]);
  expect([...cache.keys()].sort()).toEqual(['b', 'd', 'e']);
});

test('an entry is dropped once it was not used for the given time', async () => {
  const cache = createBoundedCache<number>({ maximumEntries: 3, keptMs: 20 });
  cache.set('a', 1);
  while (cache.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(cache.get('a')).toBeUndefined();
});

test('an empty cache takes no memory for the entries that it may hold', () => {
  const before = process.memoryUsage().rss;
  const caches = Array.from({ length: 200 }, () => createBoundedCache<true>({ maximumEntries: 100_000 }));
  // Arrays of their full length would take 400 MB.
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  expect(caches.every((cache) => cache.size === 0)).toBe(true);
});
