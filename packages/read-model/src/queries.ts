// Queries: filters from users' values, pages by number and by cursor.
import { Binary, type Collection, type Document, type Filter } from 'mongodb';
import { withClassifiedErrors } from './errors.js';
import { bytesOf } from './ordered-keys.js';
import { binaryToUuid, uuidToBinary } from './values.js';

/** A value that may be compared with a stored field: never an object, so users cannot pass in operators. */
export type Scalar = string | number | boolean | Date | Binary | null;

/**
 * A filter for equality with a user's value: `{ ou: equals(ou) }`.
 * @throws TypeError for anything other than a scalar, such as `{ $ne: null }`
 */
export function equals<Value extends Scalar>(value: Value): { $eq: Value } {
  return { $eq: scalar(value) };
}

/** Bounds of a range; absent ones are left out. */
export interface Bounds<Value extends string | number | Date> {
  from?: Value | undefined;
  /** Exclusive. */
  before?: Value | undefined;
  /** Inclusive. */
  to?: Value | undefined;
}

/** A range filter of the database. */
export interface Range<Value> {
  $gte?: Value;
  $lt?: Value;
  $lte?: Value;
}

/** A range filter, or undefined when no bound is given. */
export function within<Value extends string | number | Date>(
  bounds: Bounds<Value>,
): Range<Value> | undefined {
  const filter: Range<Value> = {};
  if (bounds.from !== undefined) filter.$gte = scalar(bounds.from);
  if (bounds.before !== undefined) filter.$lt = scalar(bounds.before);
  if (bounds.to !== undefined) filter.$lte = scalar(bounds.to);
  return Object.keys(filter).length > 0 ? filter : undefined;
}

/** A filter for texts that contain the user's text literally, ignoring case. */
export function containsText(text: string): { $regex: string; $options: 'i' } {
  return { $regex: escapeForRegex(text), $options: 'i' };
}

/** Escapes every character with a meaning in regular expressions. */
export function escapeForRegex(text: string): string {
  if (typeof text !== 'string') throw new TypeError('the search text must be a string');
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00');
}

function scalar<Value extends Scalar>(value: Value): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
  if (value instanceof Binary) return value;
  throw new TypeError('a compared value must be a text, number, time, id, true, false or null');
}

/** The field and direction of a sort. All documents must have the field, with values of one type. */
export interface SortOrder<Stored> {
  field: keyof Stored & string;
  direction: 'ascending' | 'descending';
}

export interface PageRequest {
  /** From 1. */
  page: number;
  limit: number;
  /** Instead of `page`: the `next_cursor` of an earlier answer. */
  cursor?: string | undefined;
}

export interface Page<Item> {
  data: Item[];
  total: number;
  page: number;
  limit: number;
  next_cursor?: string;
}

/** A malformed cursor, or one of another list. The HTTP layer answers 400. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
  readonly code = 'invalid_cursor';
  constructor() {
    super('cursor must be the next_cursor of an answer to the same query with the same sort');
  }
}

export interface PageQuery<Stored extends Document, Item> {
  filter: Filter<Stored>;
  sort: SortOrder<Stored>;
  request: PageRequest;
  /** The total when it is known (from a histogram or a counter). Default: counted. */
  total?: number;
  /** The fields to read; the sort field and the id are always read. */
  projection?: Document;
  toItem: (stored: Stored) => Item;
}

/**
 * One page of a list, by number or by cursor. Documents with equal sort values are ordered by id, so that pages do not
 * overlap and omit nothing.
 * @throws InvalidCursor
 */
export async function findPage<Stored extends Document, Item>(
  collection: Collection<Stored>,
  query: PageQuery<Stored, Item>,
): Promise<Page<Item>> {
  const { filter, sort, request } = query;
  const after = request.cursor === undefined ? null : decodeCursor(request.cursor, sort);
  const step = sort.direction === 'ascending' ? 1 : -1;
  return withClassifiedErrors(async () => {
    const documents = collection
      .find<Stored>(after ? ({ $and: [filter, afterCursor(after, sort)] } as Filter<Stored>) : filter)
      .sort(sort.field === '_id' ? { _id: step } : { [sort.field]: step, _id: step })
      .skip(after ? 0 : (request.page - 1) * request.limit)
      // One more than the limit shows whether there is a next page.
      .limit(request.limit + 1);
    if (query.projection) documents.project({ ...query.projection, [sort.field]: 1 });
    const [found, total] = await Promise.all([
      documents.toArray(),
      query.total ?? collection.countDocuments(filter),
    ]);
    const shown = found.slice(0, request.limit);
    const last = shown.at(-1);
    return {
      data: shown.map(query.toItem),
      total,
      page: request.page,
      limit: request.limit,
      ...(last && found.length > request.limit && { next_cursor: encodeCursor(cursorOf(last, sort), sort) }),
    };
  });
}

/** The position in a list after which the next page starts. */
export interface Cursor {
  value: Scalar;
  id: Scalar;
}

/** The cursor of a document in a list of this order. */
export function cursorOf<Stored extends Document>(stored: Stored, sort: SortOrder<Stored>): Cursor {
  return { value: scalar(stored[sort.field] as Scalar), id: scalar(stored._id as Scalar) };
}

/** The documents after the cursor. */
export function afterCursor<Stored>({ value, id }: Cursor, sort: SortOrder<Stored>): Document {
  const beyond = sort.direction === 'ascending' ? '$gt' : '$lt';
  if (sort.field === '_id') return { _id: { [beyond]: id } };
  return {
    $or: [{ [sort.field]: { [beyond]: value } }, { [sort.field]: { $eq: value }, _id: { [beyond]: id } }],
  };
}

/** Encodes sort order and position as opaque base64url text. */
export function encodeCursor<Stored>({ value, id }: Cursor, sort: SortOrder<Stored>): string {
  const order = `${sort.direction === 'ascending' ? '+' : '-'}${sort.field}`;
  return Buffer.from(JSON.stringify([order, toText(value), toText(id)])).toString('base64url');
}

/** @throws InvalidCursor for a text that `encodeCursor` did not make for this sort */
export function decodeCursor<Stored>(cursor: string, sort: SortOrder<Stored>): Cursor {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(parsed) || parsed.length !== 3) throw new InvalidCursor();
    const [order, value, id] = parsed as unknown[];
    if (order !== `${sort.direction === 'ascending' ? '+' : '-'}${sort.field}`) throw new InvalidCursor();
    return { value: fromText(value), id: fromText(id) };
  } catch {
    throw new InvalidCursor();
  }
}

function toText(value: Scalar): string {
  if (value === null) return 'z';
  if (value instanceof Date) return `d${value.toISOString()}`;
  if (value instanceof Binary)
    return value.sub_type === Binary.SUBTYPE_UUID
      ? `u${binaryToUuid(value)}`
      : `b${bytesOf(value).toString('base64url')}`;
  switch (typeof value) {
    case 'string':
      return `s${value}`;
    case 'number':
      return `n${String(value)}`;
    default:
      return value ? 't' : 'f';
  }
}

function fromText(text: unknown): Scalar {
  if (typeof text !== 'string') throw new InvalidCursor();
  const rest = text.slice(1);
  switch (text[0]) {
    case 'z':
      return null;
    case 'd':
      return scalar(new Date(rest));
    case 'u':
      return uuidToBinary(rest);
    case 'b':
      return new Binary(Buffer.from(rest, 'base64url'), 0);
    case 's':
      return rest;
    case 'n':
      return scalar(rest === '' ? Number.NaN : Number(rest));
    case 't':
      return true;
    case 'f':
      return false;
    default:
      throw new InvalidCursor();
  }
}
