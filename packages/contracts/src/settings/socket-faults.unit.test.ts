// Covers every error code of libuv and of Node.js' streams.
import { Writable, finished } from 'node:stream';
import { getSystemErrorMap } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { isSocketFault } from './socket-faults.js';

/**
 * libuv's codes that concern files, processes and arguments only. Add a code of a later Node.js here or to the source.
 */
const notOfSockets = new Set([
  'E2BIG',
  'ECHARSET',
  'EEXIST',
  'EFAULT',
  'EFBIG',
  'EFTYPE',
  'EILSEQ',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'EMLINK',
  'ENAMETOOLONG',
  'ENODATA',
  'ENODEV',
  'ENOENT',
  'ENOEXEC',
  'ENOSPC',
  'ENOSYS',
  'ENOTDIR',
  'ENOTEMPTY',
  'ENOTSUP',
  'ENOTTY',
  'ENXIO',
  'EOVERFLOW',
  'ERANGE',
  'EREMOTEIO',
  'EROFS',
  'ESPIPE',
  'ESRCH',
  'ETXTBSY',
  'EUNATCH',
  'EXDEV',
  'UNKNOWN',
]);
const codes = [...getSystemErrorMap().values()].map(([code]) => code);
const systemError = (code: string) => Object.assign(new Error(`write ${code}`), { code });

describe('a fault of a connection', () => {
  test.each(codes)('%s is one, or known not to be one', (code) => {
    expect(isSocketFault(systemError(code))).toBe(!notOfSockets.has(code));
  });

  test.each(['ERR_STREAM_DESTROYED', 'ERR_SOCKET_CLOSED', 'ERR_SSL_WRONG_VERSION_NUMBER', 'EAI_AGAIN'])(
    '%s is one',
    (code) => {
      expect(isSocketFault(systemError(code))).toBe(true);
    },
  );

  const stream = () => new Writable({ write: () => undefined });
  /** The error that a stream reports for a write by its user. */
  const saidBy = (broken: Writable) =>
    new Promise((resolve) => {
      broken.on('error', resolve);
      broken.write('x', resolve);
    });
  test.each<[string, () => Promise<unknown>]>([
    ['written to after its end', () => saidBy(stream().end())],
    ['written to after it was destroyed', () => saidBy(stream().destroy())],
    [
      'closed before its end',
      () =>
        new Promise((resolve) => {
          const closing = stream();
          finished(closing, resolve);
          closing.destroy();
        }),
    ],
  ])('Node.js says one of a stream %s', async (_title, say) => {
    expect(isSocketFault(await say())).toBe(true);
  });

  test('is not what a program did wrong', () => {
    const wrong = [
      new TypeError('x is not a function'),
      Object.assign(new RangeError('port'), { code: 'ERR_SOCKET_BAD_PORT' }),
      Object.assign(new TypeError('null'), { code: 'ERR_STREAM_NULL_VALUES' }),
      new Error('ECONNRESET'),
      'EPIPE',
      undefined,
    ];
    expect(wrong.filter(isSocketFault)).toEqual([]);
  });
});
