// Whether a database has said nothing: not that it is away, which it says at once by refusing a connection.

const silent = new Set([
  'MongoNetworkTimeoutError',
  'MongoOperationTimeoutError',
  // Every connection was waiting for an answer.
  'MongoWaitQueueTimeoutError',
]);

/**
 * Whether the database, or what leads to it, took what it was sent and did not answer in time, wherever in the chain of causes
 * that is. Such an error may pass, so it is `retriable` too; but a process that gets nothing else should be started anew.
 */
export function isSilence(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; depth += 1) {
    if (silent.has(at.name)) return true;
    at = at.cause;
  }
  return false;
}
