// Errors of the database, sorted into those that pass by themselves and those that do not.
import {
  MongoBulkWriteError,
  MongoError,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';

/** Stable codes of what can go wrong with a read model. */
export type ReadModelErrorCode =
  | 'database_unavailable'
  | 'database_refused'
  | 'write_not_settled'
  | 'checkpoint_superseded'
  | 'offset_out_of_range';

/**
 * A failure of a read model. `retriable` means that the same operation may succeed later without any change:
 * back off and try again, never dead-letter the record for it.
 */
export class ReadModelError extends Error {
  override readonly name = 'ReadModelError';
  constructor(
    readonly code: ReadModelErrorCode,
    message: string,
    readonly retriable: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const duplicateKey = 11_000;

// https://www.mongodb.com/docs/manual/reference/error-codes/: the server is going away, is not the primary, ran out
// of time, or two writers met. 26555 and 40001-like PostgreSQL serialization failures arrive as 112 (WriteConflict).
const retriableCodes = new Set<number>([
  6, 7, 43, 50, 63, 89, 91, 112, 133, 134, 150, 189, 202, 234, 262, 317, 358, 384, 9001, 10058, 10107, 11600,
  11602, 13388, 13435, 13436, 24,
]);

/**
 * FerretDB answers so with whatever its PostgreSQL, or the way to it, fails by. Alone it does not say whether trying again may
 * help: a document that cannot be stored comes as the same.
 */
const internalError = 1;
const storageIsAway =
  /failed to connect to|connection (?:refused|reset)|unexpected EOF|broken pipe|conn closed|terminating connection|the database system is|too many clients|remaining connection slots/;

function passes({ code, message }: { code?: unknown; message: string }): boolean {
  return (
    typeof code === 'number' &&
    (retriableCodes.has(code) || (code === internalError && storageIsAway.test(message)))
  );
}

const retriableLabels = [
  'RetryableWriteError',
  'RetryableError',
  'TransientTransactionError',
  'SystemOverloadedError',
];

/** Whether trying the same again may help. A programming error (a document that BSON cannot hold) never is. */
export function isRetriable(error: unknown): boolean {
  if (error instanceof ReadModelError) return error.retriable;
  if (!(error instanceof MongoError)) return hasRetriableFlag(error);
  if (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoOperationTimeoutError ||
    error.name === 'MongoWaitQueueTimeoutError' ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoExpiredSessionError
  )
    return true;
  if (retriableLabels.some((label) => error.hasErrorLabel(label))) return true;
  if (error instanceof MongoBulkWriteError) {
    const writeErrors = writeErrorsOf(error);
    if (writeErrors.length > 0)
      return writeErrors.every(({ code, errmsg = '' }) => passes({ code, message: errmsg }));
    // A bulk write that broke off carries what broke it here, not as its cause.
    const inner: unknown = error.errorResponse;
    if (inner instanceof MongoError && inner !== error) return isRetriable(inner);
  }
  return passes(error);
}

function hasRetriableFlag(error: unknown): boolean {
  return error instanceof Error && 'retriable' in error && error.retriable === true;
}

/** The error as a ReadModelError; errors that are not the database's are returned as they are. */
export function asReadModelError(error: unknown): unknown {
  if (!(error instanceof MongoError)) return error;
  return isRetriable(error)
    ? new ReadModelError('database_unavailable', `MongoDB is not available: ${error.message}`, true, {
        cause: error,
      })
    : new ReadModelError('database_refused', `MongoDB refused the operation: ${error.message}`, false, {
        cause: error,
      });
}

/** Runs an operation; what the driver throws comes out as a ReadModelError that says whether to try again. */
export async function withClassifiedErrors<Result>(operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    throw asReadModelError(error);
  }
}

interface WriteErrorAt {
  index: number;
  code: number;
  errmsg?: string;
}

function writeErrorsOf(error: MongoBulkWriteError): readonly WriteErrorAt[] {
  return Array.isArray(error.writeErrors)
    ? (error.writeErrors as readonly WriteErrorAt[])
    : [error.writeErrors as WriteErrorAt];
}

/**
 * The positions at which an unordered bulk insert found the id taken, when nothing else went wrong.
 * @returns null when the error says anything else too
 */
export function duplicatesOf(error: unknown): number[] | null {
  if (error instanceof MongoBulkWriteError) {
    const writeErrors = writeErrorsOf(error);
    const concern: unknown = error.result.getWriteConcernError();
    if (writeErrors.length === 0 || concern !== undefined) return null;
    return writeErrors.every(({ code }) => code === duplicateKey)
      ? writeErrors.map(({ index }) => index)
      : null;
  }
  return null;
}

/** Whether one write was refused because its id (or another unique key) is taken. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoError && error.code === duplicateKey;
}
