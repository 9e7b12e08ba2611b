// Malformed records for topics, each made from a well-formed record.
import { inWireFormat, type RawMessage } from './raw-records.js';

/** A good record of a topic. */
export interface GoodRecord {
  type: string;
  schemaId: number;
  /** The schema of another record type. */
  otherSchemaId: number;
  payload: Readonly<Record<string, unknown>>;
}

type Wrong = Pick<RawMessage, 'value'> & Partial<Pick<RawMessage, 'headers' | 'key'>>;

/** The record with its key and headers stays below the topic's limit of 8 MiB. */
const largest = 7_800_000;
const deepest = 50_000;

/** The payload as JSON, with an additional member that JSON.stringify could not write. */
function withMember({ payload }: GoodRecord, member: string): string {
  return `{${member},${JSON.stringify(payload).slice(1)}`;
}

const nested = (open: string, close: string) => open.repeat(deepest) + close.repeat(deepest);

/** By title. Every one of them has to be parked. */
export const badRecords: Readonly<Record<string, (good: GoodRecord) => Wrong>> = {
  'truncated JSON': ({ schemaId, payload }) => ({
    value: inWireFormat(schemaId, JSON.stringify(payload).slice(0, -1)),
  }),
  'JSON without the prefix of the wire format': ({ payload }) => ({ value: JSON.stringify(payload) }),
  'a prefix that begins with 1': ({ schemaId, payload }) => {
    const value = inWireFormat(schemaId, JSON.stringify(payload));
    value[0] = 1;
    return { value };
  },
  'a prefix without a payload': ({ schemaId }) => ({ value: inWireFormat(schemaId, '') }),
  'an empty value': () => ({ value: Buffer.alloc(0) }),
  'no value (a tombstone)': () => ({ value: null }),
  'the schema of another type': ({ otherSchemaId, payload }) => ({
    value: inWireFormat(otherSchemaId, JSON.stringify(payload)),
  }),
  'a schema that is not registered': ({ payload }) => ({
    value: inWireFormat(2_147_483_646, JSON.stringify(payload)),
  }),
  'a negative schema id': ({ payload }) => ({ value: inWireFormat(-1, JSON.stringify(payload)) }),
  'a type that is not declared': ({ schemaId, payload }) => ({
    value: inWireFormat(schemaId, JSON.stringify(payload)),
    headers: { type: 'DoNothing' },
  }),
  'the type __proto__': ({ schemaId, payload }) => ({
    value: inWireFormat(schemaId, JSON.stringify(payload)),
    headers: { type: '__proto__' },
  }),
  'no headers': ({ schemaId, payload }) => ({
    value: inWireFormat(schemaId, JSON.stringify(payload)),
    headers: {},
  }),
  'a type of 300,000 characters': ({ schemaId, payload }) => ({
    value: inWireFormat(schemaId, JSON.stringify(payload)),
    headers: { type: 'T'.repeat(300_000) },
  }),
  'a header of 2 MB, and truncated JSON': ({ schemaId, type }) => ({
    value: inWireFormat(schemaId, '{'),
    headers: { type, surplus: 'h'.repeat(2_000_000) },
  }),
  'a key of 500,000 bytes, and an empty object': ({ schemaId }) => ({
    key: 'k'.repeat(500_000),
    value: inWireFormat(schemaId, '{}'),
  }),
  'null in place of the payload': ({ schemaId }) => ({ value: inWireFormat(schemaId, 'null') }),
  'a list in place of the payload': ({ schemaId, payload }) => ({
    value: inWireFormat(schemaId, JSON.stringify([payload])),
  }),
  'bytes that are not UTF-8': ({ schemaId }) => ({
    value: inWireFormat(schemaId, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  }),
  'a byte order mark before the JSON': ({ schemaId, payload }) => ({
    value: inWireFormat(schemaId, `\ufeff${JSON.stringify(payload)}`),
  }),
  'a member _bsontype': (good) => ({
    value: inWireFormat(good.schemaId, withMember(good, '"_bsontype":"ObjectId"')),
  }),
  'a member named NUL': (good) => ({ value: inWireFormat(good.schemaId, withMember(good, '"\\u0000":1')) }),
  'a member __proto__': (good) => ({
    value: inWireFormat(good.schemaId, withMember(good, '"__proto__":{"polluted":true}')),
  }),
  'lists nested 50,000 deep': (good) => ({
    value: inWireFormat(good.schemaId, withMember(good, `"deep":${nested('[', ']')}`)),
  }),
  'objects nested 50,000 deep in place of the payload': ({ schemaId }) => ({
    value: inWireFormat(schemaId, nested('{"a":', '}').replace(':}', ':{}}')),
  }),
  'a member of 7.8 MB': (good) => ({
    value: inWireFormat(good.schemaId, withMember(good, `"long":"${'x'.repeat(largest)}"`)),
  }),
};
