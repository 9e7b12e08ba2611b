// kafkajs' broker with its own encoding of the two requests that carry records: kafkajs frames and sends the requests,
// selects their version, waits for the answer and converts its errors.
//
// kafkajs' own encoding makes objects and buffers of each field of each record. README.md, "Processor time".
import { asError } from '../errors.js';
import type { Broker } from './broker.js';
import { readBatches, sizeBatch, type FetchedBatch } from './record-batch.js';

/** The API keys, as in kafkajs' protocol/requests/apiKeys. */
const produceKey = 0;
const fetchKey = 1;
/** The first versions with message format 2, and the last ones that kafkajs and this file support. */
const produceVersions = { first: 3, last: 7 };
const fetchVersions = { first: 4, last: 11 };

/** kafkajs' representation of a request: the encoder of the request and the decoder of the answer. */
interface ProtocolRequest {
  request: { apiVersion: number; encode: () => Promise<unknown> };
  response: { decode: (bytes: Buffer) => Promise<unknown>; parse: (answer: unknown) => Promise<unknown> };
}

/** The method by which kafkajs' broker finds the best version of a request that both sides support. */
interface RequestLookup {
  lookupRequest(apiKey: number, definition: unknown): (options: unknown) => ProtocolRequest;
}

export type ProduceRequest = Parameters<Broker['produce']>[0];
export type FetchAnswer = Awaited<ReturnType<Broker['fetch']>>;

/** Wraps a broker so that this package encodes and decodes its records. */
export function directBroker(broker: Broker): Broker {
  const kafkajsBroker = broker as Broker & RequestLookup;
  // All other members, the connection among them, are inherited from kafkajs' broker.
  return Object.create(kafkajsBroker, {
    lookupRequest: {
      value: (apiKey: number, definition: unknown) => {
        const make = kafkajsBroker.lookupRequest(apiKey, definition);
        if (apiKey === produceKey)
          return (options: unknown) => directProduce(make, options as ProduceRequest);
        if (apiKey === fetchKey) return (options: unknown) => directFetch(make(options));
        return make;
      },
    },
  }) as Broker;
}

function directProduce(
  make: (options: unknown) => ProtocolRequest,
  options: ProduceRequest,
): ProtocolRequest {
  const made = make(options);
  assertVersion('Produce', made.request.apiVersion, produceVersions);
  return {
    ...made,
    request: { ...made.request, encode: () => Promise.resolve(asEncoder(produceBody(options))) },
  };
}

function directFetch(made: ProtocolRequest): ProtocolRequest {
  const version = made.request.apiVersion;
  assertVersion('Fetch', version, fetchVersions);
  // kafkajs' parser throws for one partition's error, and so drops the records of all others.
  const parse = (answer: unknown) => Promise.resolve(answer);
  return { ...made, response: { ...made.response, decode: (bytes) => decodeAnswer(bytes, version), parse } };
}

function assertVersion(name: string, version: number, known: { first: number; last: number }): void {
  if (version < known.first || version > known.last)
    throw new Error(
      `${name} version ${version} is not one of ${known.first} to ${known.last}: Kafka 0.11 or later and kafkajs 2.2 are needed`,
    );
}

/** The form of kafkajs' encoders. */
function asEncoder(bytes: Buffer): { buf: Buffer; buffer: Buffer } {
  return { buf: bytes, buffer: bytes };
}

/** The body of a produce request; versions 3 to 7 are equal. */
export function produceBody(request: ProduceRequest): Buffer {
  const { transactionalId, producerId, producerEpoch, acks, timeout } = request;
  let bytes = 2 + Buffer.byteLength(transactionalId ?? '') + 2 + 4 + 4;
  const topics = request.topicData.map(({ topic, partitions }) => {
    bytes += 2 + Buffer.byteLength(topic) + 4;
    return {
      topic,
      partitions: partitions.map(({ partition, firstSequence, messages }) => {
        const transactional = transactionalId !== undefined;
        const batch = sizeBatch(messages, { producerId, producerEpoch, firstSequence, transactional });
        bytes += 4 + 4 + batch.bytes;
        return { partition, batch };
      }),
    };
  });
  const body = Buffer.allocUnsafe(bytes);
  let at = 0;
  const int32 = (value: number) => (at = body.writeInt32BE(value, at));
  const text = (value: string | undefined) => {
    const written = value === undefined ? -1 : body.write(value, at + 2);
    body.writeInt16BE(written, at);
    at += 2 + Math.max(written, 0);
  };
  text(transactionalId);
  at = body.writeInt16BE(acks, at);
  int32(timeout);
  int32(topics.length);
  for (const { topic, partitions } of topics) {
    text(topic);
    int32(partitions.length);
    for (const { partition, batch } of partitions) {
      int32(partition);
      int32(batch.bytes);
      batch.writeTo(body, at);
      at += batch.bytes;
    }
  }
  return body;
}

/** A malformed answer rejects, as in kafkajs' own decoder. */
function decodeAnswer(
  bytes: Buffer,
  version: number,
): Promise<FetchAnswer & { clientSideThrottleTime: number }> {
  return new Promise((resolve) => {
    resolve(fetchAnswer(bytes, version));
  });
}

/** Decodes the answer to a fetch, versions 4 to 11. */
export function fetchAnswer(
  bytes: Buffer,
  version: number,
): FetchAnswer & { throttleTime: number; clientSideThrottleTime: number } {
  let at = 0;
  const int32 = () => bytes.readInt32BE((at += 4) - 4);
  const int16 = () => bytes.readInt16BE((at += 2) - 2);
  const int64 = () => bytes.readBigInt64BE((at += 8) - 8);
  const text = () => {
    const length = int16();
    return bytes.toString('utf8', at, (at += Math.max(length, 0)));
  };
  const list = <Item>(read: () => Item): Item[] => Array.from({ length: Math.max(int32(), 0) }, read);
  const batches = (): { batches: FetchedBatch[]; unreadable?: Error } => {
    const length = Math.max(int32(), 0);
    const sent = bytes.subarray(at, (at += length));
    try {
      return { batches: readBatches(sent) };
    } catch (error) {
      return { batches: [], unreadable: asError(error) };
    }
  };

  const throttleTime = int32();
  // The error code and the id of the fetch session, which is not used.
  if (version >= 7) at += 2 + 4;
  const responses = list(() => ({
    topicName: text(),
    partitions: list(() => {
      const partition = int32();
      const errorCode = int16();
      const highWatermark = int64();
      const lastStableOffset = int64();
      // The log start offset.
      if (version >= 5) at += 8;
      const abortedTransactions = list(() => ({ producerId: int64(), firstOffset: int64() }));
      // The preferred read replica.
      if (version >= 11) at += 4;
      return {
        partition,
        errorCode,
        highWatermark,
        lastStableOffset,
        abortedTransactions,
        ...batches(),
      };
    }),
  }));
  // Since version 8 the client waits, not the broker.
  return version >= 8
    ? { throttleTime: 0, clientSideThrottleTime: throttleTime, responses }
    : { throttleTime, clientSideThrottleTime: 0, responses };
}
