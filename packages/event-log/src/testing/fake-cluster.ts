// For this package's tests: in-memory brokers that follow Kafka's rules for leaders, sequence numbers and epochs, and
// fail on demand.
import kafkajs from 'kafkajs';
import type { Broker } from '../kafka/broker.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { protocolError } from '../kafka/kafka-errors.js';
import type { RecordToWrite } from '../kafka/record-batch.js';

type Request =
  'produce' | 'addOffsetsToTxn' | 'addPartitionsToTxn' | 'txnOffsetCommit' | 'endTxn' | 'initProducerId';

export interface FakeCluster {
  connect(): KafkaConnection;
  /** The values of a partition, in order. */
  log(topic: string, partition: number): string[];
  /** The names of the requests, in order. */
  requests: string[];
  moveLeader(topic: string, partition: number, broker: number | undefined): void;
  /** The next requests of this kind are not executed and fail with this protocol error. */
  failNext(request: Request, type: string, times?: number): void;
  /** The next request of this kind is executed, but the connection breaks before its answer. */
  cutNext(request: Request): void;
  /** Runs before the next request of this kind that this broker gets. */
  beforeNext(request: Request, broker: number, run: () => void): void;
  /** The next answer to a produce request omits this partition. */
  omitNext(topic: string, partition: number): void;
  /** No request is answered until the returned function is called. */
  hang(): () => void;
  connections: number;
}

function textOf(value: RecordToWrite['value']): string {
  return value === null ? 'null' : value.toString();
}

export function fakeCluster({ brokers = 1 }: { brokers?: number } = {}): FakeCluster {
  const logs = new Map<string, string[]>();
  const leaders = new Map<string, number | undefined>();
  const sequences = new Map<string, { first: number; count: number; offset: number }[]>();
  const epochs = new Map<string, number>();
  const transactionalIds = new Map<string, number>();
  const failures = new Map<Request, string[]>();
  const cuts = new Map<Request, number>();
  const before: { request: Request; broker: number; run: () => void }[] = [];
  const omitted = new Set<string>();
  let producerIds = 0;
  let hanging: Promise<void> | undefined;
  const requests: string[] = [];

  const leaderOf = (key: string, partition: number) =>
    leaders.has(key) ? leaders.get(key) : partition % brokers;
  const connectionError = () => new kafkajs.KafkaJSConnectionError('Closed connection');

  async function served<Answer>(request: Request, broker: number, run: () => Answer): Promise<Answer> {
    requests.push(request);
    await hanging;
    const at = before.findIndex((one) => one.request === request && one.broker === broker);
    if (at >= 0) before.splice(at, 1)[0]?.run();
    const failure = failures.get(request)?.shift();
    if (failure) throw protocolError(failure, 'as the test wants it');
    const answer = run();
    const cut = cuts.get(request) ?? 0;
    if (cut > 0) {
      cuts.set(request, cut - 1);
      throw connectionError();
    }
    return answer;
  }

  function checkEpoch(id: string | undefined, epoch: number): void {
    if (id !== undefined && epochs.get(id) !== epoch)
      throw protocolError('INVALID_PRODUCER_EPOCH', 'as the test wants it');
  }

  function broker(nodeId: number): Broker {
    return {
      nodeId,
      produce: (request) =>
        served('produce', nodeId, () => {
          checkEpoch(request.transactionalId, request.producerEpoch);
          const answers = request.topicData.map(({ topic, partitions }) => ({
            topicName: topic,
            partitions: partitions.map(({ partition, firstSequence, messages }) => {
              const key = `${topic}/${partition}`;
              if (leaderOf(key, partition) !== nodeId)
                throw protocolError('NOT_LEADER_FOR_PARTITION', 'as the test wants it');
              const producer = `${request.producerId}:${request.producerEpoch}:${key}`;
              const written = sequences.get(producer) ?? [];
              const same = written.find(
                ({ first, count }) => first === firstSequence && count === messages.length,
              );
              if (same) return { partition, errorCode: 0, baseOffset: String(same.offset) };
              const last = written.at(-1);
              if (firstSequence !== (last ? last.first + last.count : 0))
                throw protocolError('OUT_OF_ORDER_SEQUENCE_NUMBER', 'as the test wants it');
              const log = logs.get(key) ?? [];
              logs.set(key, log);
              const offset = log.length;
              log.push(...messages.map(({ value }) => textOf(value)));
              sequences.set(producer, [...written, { first: firstSequence, count: messages.length, offset }]);
              return { partition, errorCode: 0, baseOffset: String(offset) };
            }),
          }));
          return {
            topics: answers.map(({ topicName, partitions }) => ({
              topicName,
              partitions: partitions.filter(({ partition }) => !omitted.delete(`${topicName}/${partition}`)),
            })),
          };
        }),
      initProducerId: ({ transactionalId }) =>
        served('initProducerId', nodeId, () => {
          if (transactionalId === undefined) return { producerId: ++producerIds, producerEpoch: 0 };
          const epoch = (epochs.get(transactionalId) ?? -1) + 1;
          epochs.set(transactionalId, epoch);
          const producerId = transactionalIds.get(transactionalId) ?? ++producerIds;
          transactionalIds.set(transactionalId, producerId);
          return { producerId, producerEpoch: epoch };
        }),
      addPartitionsToTxn: (request) =>
        served('addPartitionsToTxn', nodeId, () => {
          checkEpoch(request.transactionalId, request.producerEpoch);
        }),
      addOffsetsToTxn: (request) =>
        served('addOffsetsToTxn', nodeId, () => {
          checkEpoch(request.transactionalId, request.producerEpoch);
        }),
      txnOffsetCommit: (request) =>
        served('txnOffsetCommit', nodeId, () => {
          checkEpoch(request.transactionalId, request.producerEpoch);
        }),
      endTxn: (request) =>
        served('endTxn', nodeId, () => {
          checkEpoch(request.transactionalId, request.producerEpoch);
        }),
      fetch: () => Promise.reject(new Error('not in this fake')),
      deleteRecords: () => Promise.reject(new Error('not in this fake')),
      offsetFetch: () => Promise.reject(new Error('not in this fake')),
      describeGroups: () => Promise.reject(new Error('not in this fake')),
      leaveGroup: () => Promise.reject(new Error('not in this fake')),
      offsetCommit: () => Promise.reject(new Error('not in this fake')),
    };
  }

  const cluster: FakeCluster = {
    requests,
    connections: 0,
    log: (topic, partition) => logs.get(`${topic}/${partition}`) ?? [],
    moveLeader: (topic, partition, to) => leaders.set(`${topic}/${partition}`, to),
    failNext: (request, type, times = 1) => {
      failures.set(request, [...(failures.get(request) ?? []), ...Array.from({ length: times }, () => type)]);
    },
    cutNext: (request) => cuts.set(request, (cuts.get(request) ?? 0) + 1),
    beforeNext: (request, at, run) => before.push({ request, broker: at, run }),
    omitNext: (topic, partition) => omitted.add(`${topic}/${partition}`),
    hang() {
      let release: () => void = () => undefined;
      hanging = new Promise((resolve) => (release = resolve));
      return () => {
        hanging = undefined;
        release();
      };
    },
    connect(): KafkaConnection {
      cluster.connections++;
      // A client knows the leaders as of its last refresh.
      let seen = new Map(leaders);
      return {
        open: () => Promise.resolve(),
        leaderId: (topic, partition) => {
          const key = `${topic}/${partition}`;
          return seen.has(key) ? seen.get(key) : partition % brokers;
        },
        partitionCount: () => {
          throw new Error('not in this fake');
        },
        broker: (nodeId) => Promise.resolve(broker(nodeId)),
        leader: () => Promise.reject(new Error('not in this fake')),
        anyBroker: () => Promise.resolve(broker(0)),
        groupCoordinator: () => Promise.resolve(broker(0)),
        transactionCoordinator: () => Promise.resolve(broker(0)),
        forgetCoordinators: () => undefined,
        refresh: () => {
          seen = new Map(leaders);
          return Promise.resolve();
        },
        offset: () => Promise.resolve(0n),
        close: () => undefined,
      };
    },
  };
  return cluster;
}
