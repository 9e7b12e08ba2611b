// kafkajs' cluster object, obtained through a consumer's custom partition assigner.
import type { Kafka } from 'kafkajs';
import type { Broker, PartitionOffset } from './broker.js';

/** The first or last offset, or the first one at a time in milliseconds since 1970. */
export type OffsetChoice = { fromBeginning: boolean } | { fromTimestamp: number };

/** The methods of kafkajs' cluster that this package calls. */
export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[];
  findBroker(node: { nodeId: number }): Promise<Broker>;
  getNodeIds(): (number | string)[];
  findGroupCoordinator(group: { groupId: string; coordinatorType: number }): Promise<Broker>;
  fetchTopicsOffset(
    topics: ({ topic: string; partitions: { partition: number }[] } & OffsetChoice)[],
  ): Promise<{ topic: string; partitions: PartitionOffset[] }[]>;
}

/** Creates a new cluster object, not connected yet. */
export function clusterOf(kafka: Kafka): Cluster {
  let captured: Cluster | undefined;
  // This consumer never connects or runs: kafkajs passes the cluster to its assigner when it is created.
  kafka.consumer({
    groupId: 'none',
    allowAutoTopicCreation: false,
    partitionAssigners: [
      ({ cluster }) => {
        captured = cluster as unknown as Cluster;
        return {
          name: 'none',
          version: 0,
          assign: () => Promise.resolve([]),
          protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  if (!captured) throw new Error('kafkajs passed no cluster to its assigner: this package needs kafkajs 2.2');
  return captured;
}
