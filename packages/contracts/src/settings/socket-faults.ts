// Errors that Node.js gives for a connection. Drivers let some of them through as they are: MongoDB's does where a server has closed
// the connection that is being written to ("This socket has been ended by the other party", EPIPE).

/** What libuv says of connections, and of the descriptors, memory and names that they need. */
const systemCodes = new Set([
  'EACCES',
  'EADDRINUSE',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EAGAIN',
  'EALREADY',
  'EBADF',
  'EBUSY',
  'ECANCELED',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EDESTADDRREQ',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EINTR',
  'EIO',
  'EISCONN',
  'EMFILE',
  'EMSGSIZE',
  'ENETDOWN',
  'ENETUNREACH',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'ENONET',
  'ENOPROTOOPT',
  'ENOTCONN',
  'ENOTFOUND',
  'ENOTSOCK',
  'EOF',
  'EPERM',
  'EPIPE',
  'EPROTO',
  'EPROTONOSUPPORT',
  'EPROTOTYPE',
  'ESHUTDOWN',
  'ESOCKTNOSUPPORT',
  'ETIMEDOUT',
]);

/** Names that cannot be resolved, and what Node.js itself says of sockets, of the streams that they are, and of TLS. */
const familiesOfCodes = /^(EAI_|ERR_(SOCKET|STREAM|SSL|TLS)_)/;

/**
 * Whether a connection failed: never the fault of what was sent over it. The error itself is looked at, not its causes. Node.js gives
 * wrong arguments (ERR_SOCKET_BAD_PORT, ERR_STREAM_NULL_VALUES) as TypeError and RangeError; they are not meant.
 */
export function isSocketFault(error: unknown): error is Error {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  const { code, name } = error as { code: unknown; name?: unknown };
  if (typeof code !== 'string' || name === 'TypeError' || name === 'RangeError') return false;
  return systemCodes.has(code) || familiesOfCodes.test(code);
}
