// Record batches compared with kafkajs' own encoder and decoder.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRequire } from 'node:module';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { compressFrameSync as lz4Compress } from 'lz4-napi';
import { compressSync as snappyCompress } from 'snappy';
import { fetchAnswer, produceBody, type ProduceRequest } from './direct-broker.js';
import { readBatches, recordBytes, sizeBatch, type HeaderValue, type RecordToWrite } from './record-batch.js';

interface KafkajsRecord {
  offset: string;
  timestamp: string;
  key: Buffer | null;
  value: Buffer | null;
  headers: Record<string, Buffer | Buffer[]>;
  batchContext: {
    producerId: string;
    producerEpoch: number;
    firstSequence: number;
    inTransaction: boolean;
    lastOffsetDelta: number;
    maxTimestamp: string;
  };
}

// Not part of what kafkajs declares; it has no other way to its encoder than a request to a broker.
const require = createRequire(import.meta.url);
const kafkajs = (path: string): unknown => require(`kafkajs/src/protocol/${path}`);
const kafkajsCrc = kafkajs('recordBatch/crc32C') as (bytes: Buffer) => number;
const Decoder = kafkajs('decoder') as new (bytes: Buffer) => object;
const Encoder = kafkajs('encoder') as new () => {
  writeInt32(value: number): { writeBuffer(bytes: Buffer): { buffer: Buffer } };
};
const decodeMessages = kafkajs('requests/fetch/v4/decodeMessages') as (
  decoder: object,
) => Promise<KafkajsRecord[]>;
const kafkajsProduce = kafkajs('requests/produce/v7/request') as (request: unknown) => {
  encode(): Promise<{ buffer: Buffer }>;
};
const kafkajsFetch = (version: number) =>
  kafkajs(`requests/fetch/v${version}/response`) as { decode(bytes: Buffer): Promise<unknown> };

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ maxLength: 300 }),
  fc.constantFrom('', 'type', 'ü'.repeat(64), '\ud800', 'x'.repeat(2_000)),
);
const field = fc.oneof(text, bytes);
const headerName = fc.oneof(
  text.filter((name) => name === name.toWellFormed()),
  fc.constantFrom('__proto__', 'constructor', '1'),
);
const headers = fc
  .uniqueArray(fc.tuple(headerName, fc.oneof(field, fc.array(field, { minLength: 1, maxLength: 3 }))), {
    selector: ([name]) => name,
  })
  .map((entries) => Object.fromEntries(entries));
const time = fc.oneof(fc.constant(1_780_000_000_000), fc.integer({ min: 0, max: 4_102_444_800_000 }));
const record = fc.record({
  key: fc.option(field),
  value: fc.option(field),
  headers,
  timestamp: time,
});
type Sample = typeof record extends fc.Arbitrary<infer Value> ? Value : never;
const attributes = fc.record({
  producerId: fc.bigInt({ min: -1n, max: 2n ** 63n - 1n }),
  producerEpoch: fc.integer({ min: -1, max: 32_767 }),
  firstSequence: fc.nat({ max: 2 ** 31 - 1 }),
  transactional: fc.boolean(),
});

const toWrite = ({ key, value, headers, timestamp }: Sample): RecordToWrite => ({
  key,
  headers,
  timestamp,
  value,
});
const asBytes = (value: string | Buffer) => (typeof value === 'string' ? Buffer.from(value) : value);
const expectedValue = (value: Sample['value']) => (value === null ? null : asBytes(value));
/** Bytes as a text, which is quick to compare; what is none as it is. */
const plain = (value: Buffer | null | undefined) => value?.toString('latin1') ?? value;
/** In the form that both decoders answer: one value as it is, several as a list. */
const expectedHeaders = (sample: Sample) =>
  Object.entries(sample.headers).map(([name, value]): [string, Buffer | Buffer[] | undefined] => {
    const list = Array.isArray(value) ? value.map(asBytes) : [asBytes(value)];
    return [name, list.length === 1 ? list[0] : list];
  });
type Entries = [string, HeaderValue][];
const sorted = (entries: Entries) =>
  entries
    .map(([name, value]) => [name, Array.isArray(value) ? value.map(plain) : plain(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

function written(records: RecordToWrite[], options: Parameters<typeof sizeBatch>[1]): Buffer {
  const batch = sizeBatch(records, options);
  const buffer = Buffer.alloc(batch.bytes + 7, 0xee);
  batch.writeTo(buffer, 3);
  // Nothing outside of its place is touched.
  expect([...buffer.subarray(0, 3), ...buffer.subarray(batch.bytes + 3)]).toEqual(Array(7).fill(0xee));
  return buffer.subarray(3, batch.bytes + 3);
}

const withLength = (batch: Buffer) => new Encoder().writeInt32(batch.length).writeBuffer(batch).buffer;

describe('a batch that is written', () => {
  test('is decoded to the same records by kafkajs and by this package', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 100, size: 'small' }),
        attributes,
        async (samples, options) => {
          const batch = written(samples.map(toWrite), options);
          const theirs = await decodeMessages(new Decoder(withLength(batch)));
          const [ours] = readBatches(batch);
          expect(theirs).toHaveLength(samples.length);
          expect(ours?.records).toHaveLength(samples.length);
          expect(ours).toMatchObject({
            firstOffset: 0n,
            lastOffset: BigInt(samples.length - 1),
            producerId: options.producerId,
            inTransaction: options.transactional,
            isControl: false,
          });
          samples.forEach((sample, index) => {
            const own = ours?.records[index];
            const other = theirs[index];
            expect(own?.offset).toBe(BigInt(index));
            expect(other?.offset).toBe(String(index));
            expect(own?.timestamp).toBe(sample.timestamp);
            expect(other?.timestamp).toBe(String(sample.timestamp));
            for (const read of [own, other]) {
              expect(read?.key).toEqual(sample.key === null ? null : asBytes(sample.key));
              expect(read?.value).toEqual(expectedValue(sample.value));
              // kafkajs takes what every object inherits for an earlier header of the same name.
              if (read === other && Object.keys(sample.headers).some((name) => name in Object.prototype))
                continue;
              expect(sorted(Object.entries(read?.headers ?? {}))).toEqual(sorted(expectedHeaders(sample)));
            }
            expect(other?.batchContext).toMatchObject({
              producerId: String(options.producerId),
              producerEpoch: options.producerEpoch,
              firstSequence: options.firstSequence,
              inTransaction: options.transactional,
              lastOffsetDelta: samples.length - 1,
              maxTimestamp: String(Math.max(...samples.map(({ timestamp }) => timestamp))),
            });
          });
          expect(batch.readUInt32BE(17)).toBe(kafkajsCrc(batch.subarray(21)) >>> 0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('makes a produce request that equals kafkajs’ byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            topic: fc.string({ minLength: 1, maxLength: 30 }),
            partitions: fc.array(fc.array(record, { minLength: 1, maxLength: 20 }), {
              minLength: 1,
              maxLength: 3,
            }),
          }),
          { maxLength: 3 },
        ),
        fc.option(fc.string({ minLength: 1, maxLength: 40 }), { nil: undefined }),
        attributes,
        async (topics, transactionalId, { producerId, producerEpoch, firstSequence }) => {
          const request = <Message>(message: (sample: Sample) => Message) => ({
            ...(transactionalId === undefined ? {} : { transactionalId }),
            producerId: producerId.toString(),
            producerEpoch,
            acks: -1,
            timeout: 5_000,
            topicData: topics.map(({ topic, partitions }) => ({
              topic,
              partitions: partitions.map((samples, partition) => ({
                partition,
                firstSequence,
                messages: samples.map(message),
              })),
            })),
          });
          const theirs = await kafkajsProduce(
            request((sample) => ({
              ...sample,
              value: expectedValue(sample.value),
              timestamp: String(sample.timestamp).padStart(13, '0'),
            })),
          ).encode();
          expect(produceBody(request(toWrite) as ProduceRequest).equals(theirs.buffer)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('is never larger than the sum of recordBytes', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 20 }), attributes, (samples, options) => {
        const records = samples.map(toWrite);
        expect(sizeBatch(records, options).bytes).toBeLessThanOrEqual(
          records.reduce((sum, one) => sum + recordBytes(one), 61),
        );
      }),
    );
  });

  test('gets the current time when its records have no timestamp, and clamps timestamps outside the range of Date', () => {
    const options = { producerId: 1, producerEpoch: 0, firstSequence: 0, transactional: false };
    const before = Date.now();
    const [now] = readBatches(written([{ value: 'a' }], options));
    expect(now?.records[0]?.timestamp).toBeGreaterThanOrEqual(before);
    const [far] = readBatches(
      written(
        [
          { value: 'a', timestamp: Number(2n ** 63n) },
          { value: 'b', timestamp: 8.64e15 - 1 },
        ],
        options,
      ),
    );
    expect(far?.records.map(({ timestamp }) => timestamp)).toEqual([8.64e15, 8.64e15 - 1]);
  });
});

describe('a fetched batch', () => {
  const options = { producerId: 1, producerEpoch: 0, firstSequence: 0, transactional: false };

  test('is decoded as by kafkajs, and a truncated batch is left for the next fetch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(record, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        async (parts, cut) => {
          const all = Buffer.concat(parts.map((samples) => written(samples.map(toWrite), options)));
          const part = all.subarray(0, cut % (all.length + 1));
          const theirs = part.length >= 17 ? await decodeMessages(new Decoder(withLength(part))) : [];
          const ours = readBatches(part).flatMap(({ records }) => records);
          expect(ours.map(({ key, value }) => [plain(key), plain(value)])).toEqual(
            theirs.map(({ key, value }) => [plain(key), plain(value)]),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each([4, 5, 6, 7, 8, 9, 10, 11])(
    'in an answer of version %i is found where kafkajs finds it',
    async (version) => {
      const batch = written([{ key: 'k', value: 'v', timestamp: 5 }], options);
      const int = (bytes: number, value: number) => {
        const buffer = Buffer.alloc(bytes);
        buffer.writeIntBE(value, Math.max(bytes - 6, 0), Math.min(bytes, 6));
        return buffer;
      };
      const answerWith = (first: Buffer) =>
        Buffer.concat([
          int(4, 9), // throttle time
          ...(version >= 7 ? [int(2, 0), int(4, 77)] : []),
          int(4, 1), // topics
          int(2, 5),
          Buffer.from('topic'),
          int(4, 2), // partitions
          ...[first, Buffer.alloc(0)].flatMap((records, partition) => [
            int(4, partition),
            int(2, partition * 6),
            int(8, 100),
            int(8, 90),
            ...(version >= 5 ? [int(8, 3)] : []),
            int(4, 1),
            int(8, 44),
            int(8, 55),
            ...(version >= 11 ? [Buffer.from([255, 255, 255, 255])] : []),
            int(4, records.length),
            records,
          ]),
        ]);
      const answer = answerWith(batch);
      const ours = fetchAnswer(answer, version);
      const theirs = (await kafkajsFetch(version).decode(answer)) as {
        throttleTime: number;
        clientSideThrottleTime?: number;
        responses: { topicName: string; partitions: { errorCode: number }[] }[];
      };
      expect([ours.throttleTime, ours.clientSideThrottleTime]).toEqual([
        theirs.throttleTime,
        theirs.clientSideThrottleTime ?? 0,
      ]);
      expect(theirs.responses).toMatchObject([
        {
          topicName: 'topic',
          partitions: [
            {
              partition: 0,
              errorCode: 0,
              highWatermark: '100',
              lastStableOffset: '90',
              abortedTransactions: [{ producerId: '44', firstOffset: '55' }],
              messages: [{ value: Buffer.from('v') }],
            },
            { partition: 1, errorCode: 6 },
          ],
        },
      ]);
      expect(ours.responses).toMatchObject([
        {
          topicName: 'topic',
          partitions: [
            {
              partition: 0,
              errorCode: 0,
              highWatermark: 100n,
              lastStableOffset: 90n,
              abortedTransactions: [{ producerId: 44n, firstOffset: 55n }],
              batches: [{ records: [{ value: Buffer.from('v'), timestamp: 5 }] }],
            },
            { partition: 1, errorCode: 6, batches: [] },
          ],
        },
      ]);
      // Undecodable records do not affect the other partitions.
      batch.writeInt16BE(4, 21);
      expect(fetchAnswer(answerWith(batch), version).responses).toMatchObject([
        {
          partitions: [
            { batches: [], unreadable: expect.any(Error) },
            { partition: 1, errorCode: 6 },
          ],
        },
      ]);
    },
  );

  describe('compressed', () => {
    const compressedWith = (codec: number, compress: (bytes: Buffer) => Buffer) => {
      const batch = written([{ value: 'v'.repeat(200) }, { value: 'w' }], options);
      const compressed = Buffer.concat([batch.subarray(0, 61), compress(batch.subarray(61))]);
      compressed.writeInt32BE(compressed.length - 12, 8);
      compressed.writeInt16BE(codec, 21);
      return compressed;
    };
    /** As snappy-java frames it: two blocks, each with its length. */
    const framed = (bytes: Buffer) => {
      const block = (part: Buffer) => {
        const packed = Buffer.from(snappyCompress(part));
        const length = Buffer.alloc(4);
        length.writeInt32BE(packed.length);
        return [length, packed];
      };
      const head = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
      return Buffer.concat([head, ...block(bytes.subarray(0, 50)), ...block(bytes.subarray(50))]);
    };

    test.each<[string, number, (bytes: Buffer) => Buffer]>([
      ['gzip', 1, gzipSync],
      ['snappy in the frame of Java clients', 2, framed],
      ['snappy without a frame', 2, (bytes) => Buffer.from(snappyCompress(bytes))],
      ['lz4', 3, lz4Compress],
      ['zstd', 4, zstdCompressSync],
    ])('is decoded: %s', (_name, codec, compress) => {
      const [batch] = readBatches(compressedWith(codec, compress));
      expect(batch?.records.map(({ value }) => value?.toString())).toEqual(['v'.repeat(200), 'w']);
    });

    test('is reported where the compression or the format is unknown, or the bytes are another codec’s', () => {
      expect(() => readBatches(compressedWith(5, (bytes) => bytes))).toThrow(/compression 5/);
      for (const codec of [1, 2, 3, 4])
        expect(() => readBatches(compressedWith(codec, (bytes) => bytes))).toThrow();
      const other = compressedWith(1, gzipSync);
      other[16] = 1;
      expect(() => readBatches(other)).toThrow(/format 1/);
    });
  });

  test('uses the broker’s append time for all its records, and keeps a header without a value', () => {
    const batch = written(
      [
        { value: 'a', timestamp: 5, headers: { none: null } },
        { value: null, timestamp: 9 },
      ],
      options,
    );
    batch.writeInt16BE(8, 21);
    batch.writeBigInt64BE(77n, 35);
    expect(readBatches(batch)[0]?.records).toMatchObject([
      { timestamp: 77, headers: { none: null } },
      { timestamp: 77, value: null },
    ]);
  });

  test('bytes that are no batch yield an error or nothing, never an endless loop', () => {
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        fc.nat({ max: 255 }),
        (samples, place, byte) => {
          const batch = written(samples.map(toWrite), options);
          batch[61 + (place % (batch.length - 61))] = byte;
          try {
            readBatches(batch);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        },
      ),
    );
  });
});
