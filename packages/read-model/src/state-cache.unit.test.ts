import { describe, expect, test } from '@jest/globals';
import { createStateCache } from './state-cache.js';

interface State {
  n: number;
}

describe('state cache', () => {
  test('loads each key once, caches absent ones, and returns all keys beyond its size', async () => {
    const cache = createStateCache<State>({ maximumEntries: 2 });
    const asked: string[][] = [];
    const fetch = (missing: string[]) => {
      asked.push(missing);
      return Promise.resolve([['a', { n: 1 }] as const]);
    };
    expect(await cache.load(['a', 'b', 'a'], fetch)).toEqual(
      new Map([
        ['a', { n: 1 }],
        ['b', null],
      ]),
    );
    expect(await cache.load(['a', 'b'], fetch)).toEqual(
      new Map([
        ['a', { n: 1 }],
        ['b', null],
      ]),
    );
    expect(asked).toEqual([['a', 'b']]);
    expect(
      (await cache.load(['a', 'b', 'c', 'd'], () => Promise.resolve([['d', { n: 4 }] as const]))).size,
    ).toBe(4);
    expect(cache.size).toBe(2);
  });

  test('a state that was put is returned without loading', async () => {
    const cache = createStateCache<State>({ maximumEntries: 10 });
    cache.put('a', { n: 1 });
    cache.put('gone', null);
    const states = await cache.load(['a', 'gone'], () => Promise.reject(new Error('must not be asked')));
    expect(states).toEqual(
      new Map([
        ['a', { n: 1 }],
        ['gone', null],
      ]),
    );
  });

  test('a state put during a load is newer than the loaded one', async () => {
    const cache = createStateCache<State>({ maximumEntries: 10 });
    const fetch = () => {
      cache.put('a', { n: 2 });
      return Promise.resolve([['a', { n: 1 }] as const]);
    };
    expect(await cache.load(['a'], fetch)).toEqual(new Map([['a', { n: 2 }]]));
    expect(cache.get('a')).toEqual({ n: 2 });
  });

  test('a failed load caches nothing', async () => {
    const cache = createStateCache<State>({ maximumEntries: 10 });
    await expect(cache.load(['a'], () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await cache.load(['a'], () => Promise.resolve([['a', { n: 1 }] as const]))).toEqual(
      new Map([['a', { n: 1 }]]),
    );
  });
});
