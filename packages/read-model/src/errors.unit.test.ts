import { describe, expect, test } from '@jest/globals';
import * as driver from 'mongodb';
import { MongoBulkWriteError, MongoNetworkError, MongoServerError, type BulkWriteResult } from 'mongodb';
import {
  asReadModelError,
  isRetriable,
  mayBeOfOneDocument,
  ReadModelError,
  withClassifiedErrors,
} from './errors.js';

const server = (code: number, message = `code ${String(code)}`) => new MongoServerError({ message, code });

/** A bulk write interrupted by a connection error. */
const brokenOff = (inner: Error) => new MongoBulkWriteError(inner, {} as unknown as BulkWriteResult);

const bulk = (
  broken: { message: string; code: number },
  writeErrors: { index: number; code: number; errmsg: string }[] = [],
  concern?: object,
) =>
  new MongoBulkWriteError(
    { ...broken, writeErrors } as never,
    {
      insertedCount: 0,
      getWriteConcernError: () => concern,
    } as unknown as BulkWriteResult,
  );

/** Errors of FerretDB 2.7 and MongoDB 8, by cause. */
const surroundings: [string, number, string][] = [
  ['no primary', 10_107, 'not primary'],
  ['shutdown', 91, 'shutdown in progress'],
  ['step-down', 189, 'primary stepped down'],
  ['write conflict', 112, 'write conflict'],
  ['out of disk, MongoDB', 14_031, "Can't take a write lock while out of disk space"],
  ['exceeded memory', 146, 'exceeded memory limit'],
  ['full disk', 1, 'could not extend file "base/5/16421": No space left on device'],
  ['full disk, log', 1, 'could not write to file "pg_wal/xlogtemp.99": No space left on device'],
  ['out of memory', 1, 'out of memory'],
  ['too many locks', 1, 'out of shared memory'],
  ['statement timeout', 50, 'canceling statement due to statement timeout'],
  ['lock timeout', 1, 'canceling statement due to lock timeout'],
  ['deadlock', 1, 'deadlock detected'],
  ['killed backend', 1, 'terminating connection due to administrator command'],
  ['killed PostgreSQL', 1, 'unexpected EOF'],
  ['starting', 1, 'the database system is not yet accepting connections'],
  ['closed connection', 1, 'failed to deallocate cached statement(s): use of closed network connection'],
  [
    'PostgreSQL away',
    1,
    'pool.go:90 (documentdb.(*Pool).Acquire): failed to connect to `user=postgres`: dial tcp 127.0.0.1:5432: connect: connection refused',
  ],
  ['read only', 1, 'cannot execute INSERT in a read-only transaction'],
  ['a damaged index', 2, 'invalid input BSON: Invalid single value document.'],
  ['rights taken away', 13, 'not authorized'],
  ['password changed', 18, 'Authentication failed'],
  ['a code that nobody knows', 987_654, 'new in the next release'],
];

const ofTheDocument: [string, number, string][] = [
  ['duplicate key', 11_000, 'Duplicate key violation'],
  ['bad value', 2, 'unknown top level operator: $foo'],
  ['bad update', 9, 'Unknown modifier: $foo'],
  ['too large', 10_334, 'BSONObj size is invalid'],
  ['bad regular expression', 51_091, 'missing closing parenthesis'],
  ['a NUL', 1, 'invalid byte sequence for encoding "UTF8": 0x00'],
  ['a key too long', 1, 'index row size 2712 exceeds btree version 4 maximum 2704 for index "x"'],
];

describe('errors of the database', () => {
  test.each(surroundings)('%s is retriable, whatever it interrupts', (_, code, message) => {
    expect(isRetriable(server(code, message))).toBe(true);
    expect(isRetriable(bulk({ code, message }))).toBe(true);
    expect(isRetriable(bulk({ code, message }, [{ index: 0, code, errmsg: message }]))).toBe(true);
  });

  test.each(ofTheDocument)('%s is a fault of the document', (_, code, message) => {
    expect(isRetriable(server(code, message))).toBe(false);
    expect(isRetriable(bulk({ code, message }, [{ index: 0, code, errmsg: message }]))).toBe(false);
  });

  test('every error class of the driver is retriable, except those for invalid arguments', () => {
    const refuse = new Set<unknown>([driver.MongoInvalidArgumentError, driver.MongoParseError]);
    const classes = Object.values(driver).filter(
      (exported): exported is typeof driver.MongoError =>
        typeof exported === 'function' && exported.prototype instanceof driver.MongoError,
    );
    expect(classes.length).toBeGreaterThan(30);
    for (const one of classes) {
      if (one.prototype instanceof MongoServerError || (one as unknown) === MongoServerError) continue;
      const error = Object.create(one.prototype) as Error;
      expect([one.name, isRetriable(error)]).toEqual([one.name, !refuse.has(one)]);
    }
  });

  test('a bulk write with some faulty documents is retriable, for the rest', () => {
    const [timeout, duplicate] = [
      { index: 0, code: 50, errmsg: 'canceling statement due to statement timeout' },
      { index: 1, code: 11_000, errmsg: 'duplicate' },
    ];
    expect(isRetriable(bulk({ code: 50, message: 'timeout' }, [timeout, duplicate]))).toBe(true);
    expect(isRetriable(bulk({ code: 11_000, message: 'duplicate' }, [duplicate], { code: 64 }))).toBe(true);
  });

  test('a programming error is not retriable', () => {
    for (const error of [new TypeError('x'), new Error('x'), 'x', undefined])
      expect(isRetriable(error)).toBe(false);
  });

  test('a socket error that the driver passes on means that the database is unavailable', async () => {
    const ended = Object.assign(new Error('This socket has been ended by the other party'), {
      code: 'EPIPE',
    });
    expect(isRetriable(ended)).toBe(true);
    await expect(withClassifiedErrors(() => Promise.reject(ended))).rejects.toMatchObject({
      code: 'database_unavailable',
      retriable: true,
      cause: ended,
    });
  });

  test('another error marked retriable is passed on unchanged', () => {
    const error = Object.assign(new Error('broker away'), { retriable: true });
    expect(isRetriable(error)).toBe(true);
    expect(asReadModelError(error)).toBe(error);
  });

  test('errors of the driver are classified; other errors and results pass unchanged', async () => {
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

  test('a server error or refused argument may be caused by one document; a broken connection is not', () => {
    for (const error of [
      server(2),
      server(987_654),
      bulk({ message: 'x', code: 1 }),
      new TypeError('bad key'),
    ])
      expect(mayBeOfOneDocument(error)).toBe(true);
    const reset = new MongoNetworkError('reset');
    const leaseEnded = Object.assign(new Error('the lease has ended'), { retriable: true });
    for (const error of [reset, leaseEnded, brokenOff(reset)]) expect(mayBeOfOneDocument(error)).toBe(false);
  });
});
