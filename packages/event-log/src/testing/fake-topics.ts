// For this package's tests: in-memory partitions whose brokers answer fetches as Kafka does, and fail on demand.
import kafkajs from 'kafkajs';
import type { Broker, FetchedPartition } from '../kafka/broker.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { protocolError } from '../kafka/kafka-errors.js';
import { pause } from '../timing.js';

type FetchRequest = Parameters<Broker['fetch']>[0];

/** Kafka's error codes of a partition in an answer. */
export const codes = {
  offsetOutOfRange: 1,
  notLeader: 6,
  /** A permanent error. */
  topicAuthorizationFailed: 29,
} as const;

interface FakePartition {
  leader: number | undefined;
  earliest: number;
  values: string[];
  /** The error code answered instead of records, while set. */
  code: number | undefined;
  /** Set when the records cannot be decoded: the error. */
  unreadable?: Error;
}

export interface FakeTopics {
  connection: KafkaConnection;
  partition(topic: string, partition: number): FakePartition;
  append(topic: string, partition: number, value: string): void;
  /** The next fetches of this broker fail with this error; default: a closed connection. */
  failNext(broker: number, error?: Error, times?: number): void;
  /** Milliseconds between reading the records for an answer and sending it. */
  delayMs: number;
  fetches: FetchRequest[];
  isClosed(): boolean;
}

const bytesOf = (value: string) => Buffer.from(value);

/** The answer to a fetch from this offset, one record per batch, up to `maxBytes`. */
function answerOf(of: FakePartition, partition: number, offset: number, maxBytes: number): FetchedPartition {
  const end = of.earliest + of.values.length;
  const isOutside = offset < of.earliest || offset > end;
  const errorCode = of.code ?? (isOutside ? codes.offsetOutOfRange : 0);
  const batches: FetchedPartition['batches'] = [];
  let bytes = 0;
  for (let at = offset; errorCode === 0 && at < end && (batches.length === 0 || bytes < maxBytes); at++) {
    const value = bytesOf(of.values[at - of.earliest] ?? '');
    bytes += value.length;
    const record = { offset: BigInt(at), timestamp: 0, key: null, value, headers: {} };
    const from = { producerId: -1n, producerEpoch: -1, inTransaction: false, isControl: false };
    batches.push({ ...from, firstOffset: BigInt(at), lastOffset: BigInt(at), records: [record] });
  }
  const ends = { highWatermark: BigInt(end), lastStableOffset: BigInt(end) };
  const answer = { partition, errorCode, ...ends, abortedTransactions: [] };
  return of.unreadable && batches.length > 0
    ? { ...answer, batches: [], unreadable: of.unreadable }
    : { ...answer, batches };
}

export function fakeTopics(brokers = 1): FakeTopics {
  const partitions = new Map<string, FakePartition>();
  const failures = new Map<number, Error[]>();
  let seen = new Map<string, number | undefined>();
  let isClosed = false;
  let arrived = new AbortController();
  const partitionOf = (topic: string, partition: number) => {
    const name = `${topic}/${partition}`;
    let found = partitions.get(name);
    if (!found) {
      found = { leader: partition % brokers, earliest: 0, values: [], code: undefined };
      partitions.set(name, found);
      seen.set(name, found.leader);
    }
    return found;
  };
  const read = (nodeId: number, { topics }: FetchRequest) =>
    topics.map(({ topic, partitions: asked }) => ({
      topicName: topic,
      partitions: asked.map(({ partition, fetchOffset, maxBytes }) => {
        const of = partitionOf(topic, partition);
        const led = of.leader === nodeId ? of : { ...of, code: codes.notLeader };
        return answerOf(led, partition, Number(fetchOffset), maxBytes);
      }),
    }));
  const brokerOf = (nodeId: number) =>
    ({
      nodeId,
      async fetch(request: FetchRequest) {
        topics.fetches.push(request);
        const failure = failures.get(nodeId)?.shift();
        if (failure) throw failure;
        const isEmpty = (responses: ReturnType<typeof read>) =>
          responses.every((one) =>
            one.partitions.every((of) => of.errorCode === 0 && of.batches.length === 0),
          );
        let responses = read(nodeId, request);
        if (isEmpty(responses)) {
          await pause(request.maxWaitTime, arrived.signal);
          responses = read(nodeId, request);
        }
        if (topics.delayMs > 0) await pause(topics.delayMs);
        if (isClosed) throw new kafkajs.KafkaJSConnectionError('Closed connection');
        return { responses };
      },
    }) as unknown as Broker;
  const notInThisFake = () => Promise.reject(new Error('not in this fake'));
  const topics: FakeTopics = {
    partition: partitionOf,
    append(topic, partition, value) {
      partitionOf(topic, partition).values.push(value);
      arrived.abort();
      arrived = new AbortController();
    },
    failNext(broker, error = new kafkajs.KafkaJSConnectionError('Closed connection'), times = 1) {
      failures.set(broker, [...(failures.get(broker) ?? []), ...Array.from({ length: times }, () => error)]);
    },
    delayMs: 0,
    fetches: [],
    isClosed: () => isClosed,
    connection: {
      open: () => Promise.resolve(),
      leaderId: (topic, partition) => {
        partitionOf(topic, partition);
        return seen.get(`${topic}/${partition}`);
      },
      partitionCount: (topic) => [...partitions.keys()].filter((name) => name.startsWith(`${topic}/`)).length,
      broker: (nodeId) => Promise.resolve(brokerOf(nodeId)),
      leader: notInThisFake,
      anyBroker: notInThisFake,
      groupCoordinator: notInThisFake,
      transactionCoordinator: notInThisFake,
      forgetCoordinators: () => undefined,
      refresh: () => {
        seen = new Map([...partitions].map(([name, { leader }]) => [name, leader]));
        return Promise.resolve();
      },
      offset: (topic, partition, which) => {
        const { leader, earliest, values } = partitionOf(topic, partition);
        if (leader === undefined) return Promise.reject(protocolError('LEADER_NOT_AVAILABLE', 'no leader'));
        return Promise.resolve(BigInt(which === 'earliest' ? earliest : earliest + values.length));
      },
      close: () => {
        isClosed = true;
      },
    },
  };
  return topics;
}
