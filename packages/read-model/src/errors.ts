// Classifies errors of the database: a short list of faults of the document itself; every other error is retriable.
import { isSocketFault } from '@lead-scoring/contracts';
import {
  MongoBulkWriteError,
  MongoError,
  MongoInvalidArgumentError,
  MongoParseError,
  MongoServerError,
} from 'mongodb';

/** The stable error codes of a read model. */
export type ReadModelErrorCode =
  | 'database_unavailable'
  | 'database_refused'
  | 'write_not_settled'
  | 'checkpoint_superseded'
  | 'checkpoint_lost'
  | 'offset_out_of_range';

/**
 * A failure of a read model. `retriable`: the same operation may succeed later unchanged; back off and try again, and
 * never dead-letter the record for it.
 */
export class ReadModelError extends Error {
  override readonly name = 'ReadModelError';
  /**
   * The server answered and refused the credentials of this process. A running process retries, because an operator may
   * restore the access; a process that starts ends, because its settings are wrong and waiting does not change them.
   */
  readonly isAccessRefused: boolean;

  constructor(
    readonly code: ReadModelErrorCode,
    message: string,
    readonly retriable: boolean,
    { isAccessRefused = false, ...options }: ErrorOptions & { isAccessRefused?: boolean } = {},
  ) {
    super(message, options);
    this.isAccessRefused = isAccessRefused;
  }
}

const duplicateKey = 11_000;

/**
 * Codes by which the server refuses a document or request for its contents: a repetition is refused again.
 * https://www.mongodb.com/docs/manual/reference/error-codes/. Any other code counts as a fault of the environment
 * (disk, memory, network, failover, rights), which an operator fixes while the request is repeated.
 */
const faultCodes = new Set<number>([
  2, // BadValue
  9, // FailedToParse
  10, // CannotMutateObject
  14, // TypeMismatch
  15, // Overflow
  16, // InvalidLength
  20, // IllegalOperation
  28, // PathNotViable
  40, // ConflictingUpdateOperators
  52, // DollarPrefixedFieldName
  53, // InvalidIdField
  54, // NotSingleValueField
  56, // EmptyFieldName
  57, // DottedFieldName
  66, // ImmutableField
  121, // DocumentValidationFailure
  10334, // BSONObjectTooLarge
  duplicateKey,
  17280, // KeyTooLong
  17419, // an update would make the document larger than 16 MB
  17420,
  51091, // a regular expression that does not compile
]);

/** FerretDB's code for every error of its PostgreSQL. */
const internalError = 1;
/** PostgreSQL's messages for a value that it can never store. */
const refusedValue =
  /invalid byte sequence for encoding|unsupported Unicode escape sequence|index row (?:size|requires)|row is too big|invalid memory alloc request size|stack depth limit exceeded/;

/** FerretDB 2.7's message for a damaged index, which must be rebuilt; the driver never sends invalid BSON. */
const reportsDamagedIndex = /invalid input BSON/;

function isFault({ code, message }: { code?: unknown; message: string }): boolean {
  if (typeof code !== 'number' || reportsDamagedIndex.test(message)) return false;
  return faultCodes.has(code) || (code === internalError && refusedValue.test(message));
}

/** Whether a repetition may succeed. Never for a programming error, such as a document that BSON cannot hold. */
export function isRetriable(error: unknown): boolean {
  if (error instanceof ReadModelError) return error.retriable;
  if (!(error instanceof MongoError)) return isMarkedRetriable(error) || isSocketFault(error);
  // The driver refused the arguments; nothing was sent.
  if (error instanceof MongoInvalidArgumentError || error instanceof MongoParseError) return false;
  if (error instanceof MongoBulkWriteError) {
    if (error.result.getWriteConcernError() !== undefined) return true;
    const writeErrors = writeErrorsOf(error);
    // When only some are faults of their documents, the next attempt fails with those alone.
    if (writeErrors.length > 0)
      return !writeErrors.every(({ code, errmsg = '' }) => isFault({ code, message: errmsg }));
    const inner = interruptingError(error);
    if (inner) return isRetriable(inner);
  }
  return !isFault(error);
}

/**
 * Whether an error of a call with many documents may be caused by one of them, also when a repetition may succeed: the
 * server answered with the error, or the driver refused the arguments. A broken connection is never caused by a
 * document.
 */
export function mayBeOfOneDocument(error: unknown): boolean {
  const inner = error instanceof MongoBulkWriteError ? (interruptingError(error) ?? error) : error;
  return inner instanceof MongoServerError || !isRetriable(inner);
}

/** The error that interrupted a bulk write, which the driver does not set as its cause. */
function interruptingError(error: MongoBulkWriteError): Error | undefined {
  const inner: unknown = error.errorResponse;
  return inner instanceof Error && inner !== error ? inner : undefined;
}

function isMarkedRetriable(error: unknown): boolean {
  return error instanceof Error && 'retriable' in error && error.retriable === true;
}

/** Converts an error to a ReadModelError; returns errors that are not the database's unchanged. */
export function asReadModelError(error: unknown): unknown {
  if (error instanceof MongoBulkWriteError) {
    const inner = interruptingError(error);
    if (inner) return asReadModelError(inner);
  }
  // The driver passes on some socket errors unchanged.
  if (!(error instanceof MongoError || isSocketFault(error))) return error;
  return isRetriable(error)
    ? new ReadModelError('database_unavailable', `MongoDB is not available: ${error.message}`, true, {
        cause: error,
      })
    : new ReadModelError('database_refused', `MongoDB refused the operation: ${error.message}`, false, {
        cause: error,
      });
}

/** Runs an operation; errors of the driver are thrown as ReadModelErrors that say whether to try again. */
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

/** A refused document of an unordered bulk insert: its id is taken, or it has another fault. */
export interface RefusedInsert {
  index: number;
  isTaken: boolean;
}

/**
 * The refused documents, when nothing else failed: the others are inserted.
 * @returns null for any other error
 */
export function refusedInserts(error: unknown): RefusedInsert[] | null {
  if (!(error instanceof MongoBulkWriteError) || isRetriable(error)) return null;
  const refused = writeErrorsOf(error).map(({ index, code }) => ({ index, isTaken: code === duplicateKey }));
  return refused.length > 0 && refused.every(({ index }) => Number.isInteger(index)) ? refused : null;
}

/** Whether a write was refused because its id (or another unique key) is taken. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoError && error.code === duplicateKey;
}
