// Describes in words why a request failed after its connection was open.
import { OutboundFailed, OutboundRefused, type OutboundFailedReason } from './errors.js';

/**
 * Failures by the error codes of undici, node:zlib and the system; the first match applies. undici's parser errors have
 * no code and are matched by name.
 */
const kinds: readonly { code: RegExp; reason: OutboundFailedReason; sentence: string }[] = [
  { code: /^UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT$/, reason: 'timeout', sentence: 'did not answer in time' },
  {
    code: /^UND_ERR_HEADERS_OVERFLOW$/,
    reason: 'malformed',
    sentence: 'answered with more headers than are accepted',
  },
  {
    code: /^(HTTPParserError|HPE_\w+|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    reason: 'malformed',
    sentence: 'answered with something that is not HTTP',
  },
  {
    code: /^(Z_|ERR__)\w+$/,
    reason: 'malformed',
    sentence: 'answered with compressed data that cannot be decoded',
  },
  { code: /^ERR_(SSL|TLS)_\w+$/, reason: 'tls', sentence: 'broke off the secure connection' },
  {
    code: /^(UND_ERR_(SOCKET|ABORTED)|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/,
    reason: 'unreachable',
    sentence: 'closed the connection before the answer was complete',
  },
  {
    code: /^UND_ERR_(DESTROYED|CLOSED)$/,
    reason: 'unreachable',
    sentence: 'was not asked to the end: requests are being stopped',
  },
];

/**
 * The error that callers of `request` get for a thrown error. `OutboundRefused` and `OutboundFailed` stay as they are,
 * and the end of the caller's signal becomes `timeout`. A fault of the caller, such as a header with a line break,
 * stays as it is.
 */
export function toFailure(error: unknown, url: URL, signal: AbortSignal): unknown {
  if (error instanceof OutboundRefused || error instanceof OutboundFailed) return error;
  if (signal.aborted)
    return new OutboundFailed('timeout', `${url.host} did not answer in time.`, { cause: error });
  const { code, name } = error as NodeJS.ErrnoException;
  const known = kinds.find((kind) => kind.code.test(code ?? name));
  if (known === undefined) return error;
  return new OutboundFailed(known.reason, `${url.host} ${known.sentence}.`, { cause: error });
}

/** Whether the connection broke before the answer began, as a kept connection does when the server has closed it. */
export function isBrokenConnection(error: unknown): boolean {
  return /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test((error as NodeJS.ErrnoException).code ?? '');
}
