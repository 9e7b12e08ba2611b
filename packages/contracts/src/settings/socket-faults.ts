// Recognises Node.js errors of a failed connection. Drivers pass some of them on unchanged: MongoDB's driver does when
// a server has closed the connection that is being written to ("This socket has been ended by the other party", EPIPE).

/** libuv's codes for connections, and for the descriptors, memory and names that they need. */
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

/** Codes of failed name resolution, and Node.js' own codes for sockets, streams and TLS. */
const familiesOfCodes = /^(EAI_|ERR_(SOCKET|STREAM|SSL|TLS)_)/;

/**
 * Whether the error is a failed connection, which is never the fault of the data sent over it. Only the error itself is
 * examined, not its causes. TypeError and RangeError are excluded: with them Node.js reports wrong arguments
 * (ERR_SOCKET_BAD_PORT, ERR_STREAM_NULL_VALUES).
 */
export function isSocketFault(error: unknown): error is Error {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  const { code, name } = error as { code: unknown; name?: unknown };
  if (typeof code !== 'string' || name === 'TypeError' || name === 'RangeError') return false;
  return systemCodes.has(code) || familiesOfCodes.test(code);
}
