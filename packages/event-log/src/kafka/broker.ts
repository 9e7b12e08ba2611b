// The requests of Kafka's protocol that this package sends, and their answers.
import type { FetchedBatch, RecordToWrite } from './record-batch.js';

export interface ProducePartition {
  partition: number;
  firstSequence: number;
  messages: RecordToWrite[];
}

export interface FetchedPartition {
  partition: number;
  /** 0 for success. The other partitions of the answer are used in any case. */
  errorCode: number;
  highWatermark: bigint;
  lastStableOffset: bigint;
  abortedTransactions: { producerId: bigint; firstOffset: bigint }[];
  batches: FetchedBatch[];
  /** Set when the partition's bytes cannot be decoded; `batches` is empty then. */
  unreadable?: Error;
}

export interface PartitionOffset {
  partition: number;
  offset: string;
  /** The metadata committed with a group offset. */
  metadata?: string | null;
}

/**
 * The requests as kafkajs' Broker offers them (its type declarations name only some); direct-broker.ts encodes the
 * records of `produce` and decodes those of `fetch`.
 */
export interface Broker {
  nodeId: number;
  produce(request: {
    transactionalId?: string;
    producerId: number | string;
    producerEpoch: number;
    acks: number;
    timeout: number;
    topicData: { topic: string; partitions: ProducePartition[] }[];
  }): Promise<{
    topics: {
      topicName: string;
      partitions: { partition: number; errorCode: number; baseOffset: string }[];
    }[];
  }>;
  fetch(request: {
    isolationLevel: number;
    maxWaitTime: number;
    minBytes: number;
    maxBytes: number;
    topics: { topic: string; partitions: { partition: number; fetchOffset: string; maxBytes: number }[] }[];
  }): Promise<{ responses: { topicName: string; partitions: FetchedPartition[] }[] }>;
  /** Deletes the records of a partition that this broker leads before an offset. */
  deleteRecords(request: {
    topics: { topic: string; partitions: { partition: number; offset: string }[] }[];
  }): Promise<unknown>;
  initProducerId(request: { transactionalId?: string; transactionTimeout: number }): Promise<{
    producerId: number | string;
    producerEpoch: number;
  }>;
  addPartitionsToTxn(request: {
    transactionalId: string;
    producerId: number | string;
    producerEpoch: number;
    topics: { topic: string; partitions: number[] }[];
  }): Promise<unknown>;
  addOffsetsToTxn(request: {
    transactionalId: string;
    producerId: number | string;
    producerEpoch: number;
    groupId: string;
  }): Promise<unknown>;
  txnOffsetCommit(request: {
    transactionalId: string;
    groupId: string;
    producerId: number | string;
    producerEpoch: number;
    topics: { topic: string; partitions: PartitionOffset[] }[];
  }): Promise<unknown>;
  endTxn(request: {
    transactionalId: string;
    producerId: number | string;
    producerEpoch: number;
    transactionResult: boolean;
  }): Promise<unknown>;
  offsetFetch(request: {
    groupId: string;
    topics: { topic: string; partitions: { partition: number }[] }[];
  }): Promise<{
    responses: { topic: string; partitions: PartitionOffset[] }[];
  }>;
  /** The members of consumer groups; none for a group that does not exist. */
  describeGroups(request: { groupIds: string[] }): Promise<{
    groups: { members: { memberId: string; clientId: string }[] }[];
  }>;
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
  offsetCommit(request: {
    groupId: string;
    groupGenerationId: number;
    memberId: string;
    topics: { topic: string; partitions: PartitionOffset[] }[];
  }): Promise<unknown>;
}
