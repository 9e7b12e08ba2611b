import { describe, expect, test } from '@jest/globals';
import {
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';
import { asReadModelError, isRetriable, ReadModelError, withClassifiedErrors } from './errors.js';

const server = (code: number) => new MongoServerError({ message: `code ${String(code)}`, code });

describe('errors of the database', () => {
  test('what passes by itself is retriable: network, no primary, shutdown, write conflicts', () => {
    for (const error of [
      new MongoNetworkError('reset'),
      new MongoTopologyClosedError(),
      Object.create(MongoServerSelectionError.prototype) as Error,
      ...[10_107, 91, 189, 11_600, 112, 6, 9_001].map(server),
    ])
      expect(isRetriable(error)).toBe(true);
  });

  test('what will fail again is not: bad commands, duplicate keys, errors of the program', () => {
    for (const error of [
      server(11_000),
      server(9),
      server(2),
      new TypeError('x'),
      new Error('x'),
      'x',
      undefined,
    ])
      expect(isRetriable(error)).toBe(false);
  });

  test('an error of elsewhere that says retriable stays so and is passed on as it is', () => {
    const error = Object.assign(new Error('broker away'), { retriable: true });
    expect(isRetriable(error)).toBe(true);
    expect(asReadModelError(error)).toBe(error);
  });

  test('what an operation fails with is classified, what is of elsewhere and what succeeds passes', async () => {
    const reset = withClassifiedErrors(() => Promise.reject(new MongoNetworkError('reset')));
    await expect(reset).rejects.toBeInstanceOf(ReadModelError);
    await expect(reset).rejects.toMatchObject({ code: 'database_unavailable', retriable: true });
    await expect(withClassifiedErrors(() => Promise.reject(new RangeError('bad')))).rejects.toBeInstanceOf(
      RangeError,
    );
    expect(await withClassifiedErrors(() => Promise.resolve(7))).toBe(7);
    await expect(withClassifiedErrors(() => Promise.reject(server(2)))).rejects.toMatchObject({
      code: 'database_refused',
      retriable: false,
    });
  });
});
