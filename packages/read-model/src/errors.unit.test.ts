import { describe, expect, test } from '@jest/globals';
import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  type BulkWriteResult,
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

  test('so is what FerretDB says when its PostgreSQL is away, but no other internal error', () => {
    const internal = (message: string) =>
      new MongoServerError({ message, code: 1, codeName: 'InternalError' });
    for (const message of [
      'msg_find.go:43 (handler.(*Handler).msgFind): pool.go:90 (documentdb.(*Pool).Acquire): failed to connect to `user=postgres database=postgres`: 127.0.0.1:5432 (127.0.0.1): dial error: dial tcp 127.0.0.1:5432: connect: connection refused',
      'terminating connection due to unexpected postmaster exit',
      'terminating connection due to administrator command',
      'the database system is not yet accepting connections',
      'the database system is shutting down',
      'unexpected EOF',
    ]) {
      expect(isRetriable(internal(message))).toBe(true);
      const bulk = new MongoBulkWriteError({ message, code: 1, writeErrors: [] }, {
        insertedCount: 0,
      } as unknown as BulkWriteResult);
      expect(isRetriable(bulk)).toBe(true);
    }
    expect(isRetriable(internal('invalid byte sequence for encoding "UTF8": 0x00'))).toBe(false);
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
