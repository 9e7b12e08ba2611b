// Errors of the database: a short list of faults of the document itself; every other error passes by itself.
import { isSocketFault } from '@lead-scoring/contracts';
import {
  MongoBulkWriteError,
  MongoError,
  MongoInvalidArgumentError,
  MongoParseError,
  MongoServerError,
} from 'mongodb';

/** Stable codes of what can go wrong with a read model. */
export type ReadModelErrorCode =
  | 'database_unavailable'
  | 'database_refused'
  | 'write_not_settled'
  | 'checkpoint_superseded'
  | 'checkpoint_lost'
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

/**
 * Codes by which the server refuses a document or a request for what is in it: sent again it is refused again.
 * https://www.mongodb.com/docs/manual/reference/error-codes/. A code that is not here is taken for a fault of the
 * surroundings (disk, memory, network, failover, rights), which an operator mends while the same request is tried again.
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

/** FerretDB answers with this code whatever its PostgreSQL fails by. */
const internalError = 1;
/** PostgreSQL's words for a value that it can never hold. */
const valueIsRefused =
  /invalid byte sequence for encoding|unsupported Unicode escape sequence|index row (?:size|requires)|row is too big|invalid memory alloc request size|stack depth limit exceeded/;

/** The driver sends no invalid BSON: so FerretDB 2.7 speaks of a damaged index, which is to be built anew. */
const isConfused = /invalid input BSON/;

function isFault({ code, message }: { code?: unknown; message: string }): boolean {
  if (typeof code !== 'number' || isConfused.test(message)) return false;
  return faultCodes.has(code) || (code === internalError && valueIsRefused.test(message));
}

/** Whether trying the same again may help. A programming error (a document that BSON cannot hold) never is. */
export function isRetriable(error: unknown): boolean {
  if (error instanceof ReadModelError) return error.retriable;
  if (!(error instanceof MongoError)) return hasRetriableFlag(error) || isSocketFault(error);
  // Refused by the driver for what the caller passed; nothing was sent.
  if (error instanceof MongoInvalidArgumentError || error instanceof MongoParseError) return false;
  if (error instanceof MongoBulkWriteError) {
    if (error.result.getWriteConcernError() !== undefined) return true;
    const writeErrors = writeErrorsOf(error);
    // Where only some are refused for what they hold, the next try shows those alone.
    if (writeErrors.length > 0)
      return !writeErrors.every(({ code, errmsg = '' }) => isFault({ code, message: errmsg }));
    const inner = whatBrokeOff(error);
    if (inner) return isRetriable(inner);
  }
  return !isFault(error);
}

/**
 * Whether an error of a call with many documents may be of one of them alone, also where trying it again may help: the server
 * has answered with it, or the driver refuses what it was given. A connection that broke says nothing about any document.
 */
export function mayBeOfOneDocument(error: unknown): boolean {
  const inner = error instanceof MongoBulkWriteError ? (whatBrokeOff(error) ?? error) : error;
  return inner instanceof MongoServerError || !isRetriable(inner);
}

/** A bulk write that broke off carries what broke it here, not as its cause. */
function whatBrokeOff(error: MongoBulkWriteError): Error | undefined {
  const inner: unknown = error.errorResponse;
  return inner instanceof Error && inner !== error ? inner : undefined;
}

function hasRetriableFlag(error: unknown): boolean {
  return error instanceof Error && 'retriable' in error && error.retriable === true;
}

/** The error as a ReadModelError; errors that are not the database's are returned as they are. */
export function asReadModelError(error: unknown): unknown {
  if (error instanceof MongoBulkWriteError) {
    const inner = whatBrokeOff(error);
    if (inner) return asReadModelError(inner);
  }
  // The driver passes on some errors of its sockets as they are.
  if (!(error instanceof MongoError || isSocketFault(error))) return error;
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

/** A document of an unordered bulk insert that was refused, for its id that is taken or for another fault of its own. */
export interface RefusedInsert {
  index: number;
  isTaken: boolean;
}

/**
 * The documents that were refused, where nothing else went wrong: the others are inserted.
 * @returns null when the error says anything else
 */
export function refusedInserts(error: unknown): RefusedInsert[] | null {
  if (!(error instanceof MongoBulkWriteError) || isRetriable(error)) return null;
  const refused = writeErrorsOf(error).map(({ index, code }) => ({ index, isTaken: code === duplicateKey }));
  return refused.length > 0 && refused.every(({ index }) => Number.isInteger(index)) ? refused : null;
}

/** Whether one write was refused because its id (or another unique key) is taken. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoError && error.code === duplicateKey;
}
