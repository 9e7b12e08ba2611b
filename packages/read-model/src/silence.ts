// Recognises request timeouts of the database. A refused connection is not a timeout.

const silent = new Set([
  'MongoNetworkTimeoutError',
  'MongoOperationTimeoutError',
  // All connections of the pool were waiting for answers.
  'MongoWaitQueueTimeoutError',
]);

/**
 * Whether an error, or one of its causes, is a request timeout of the database or the network before it. Such an error
 * is also `retriable`; but a process that gets nothing else should be restarted.
 */
export function isSilence(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; depth += 1) {
    if (silent.has(at.name)) return true;
    at = at.cause;
  }
  return false;
}
