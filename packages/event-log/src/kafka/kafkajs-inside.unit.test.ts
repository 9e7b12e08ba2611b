// This folder's assumptions about kafkajs' internals, which are undocumented: check them before changing the version.
import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';

const require = createRequire(import.meta.url);
const inside = (path: string) => (require(`kafkajs/src/${path}`) as { prototype: object }).prototype;
const methodsOf = (prototype: object) => Object.getOwnPropertyNames(prototype);

test('the installed version is the one that was checked', () => {
  expect((require('kafkajs/package.json') as { version: string }).version).toBe('2.2.4');
});

test('a consumer passes its cluster to a custom assigner when it is created, without connecting', () => {
  let cluster: object | undefined;
  new kafkajs.Kafka({ brokers: ['127.0.0.1:1'], logLevel: kafkajs.logLevel.NOTHING }).consumer({
    groupId: 'none',
    partitionAssigners: [
      (handed) => {
        ({ cluster } = handed as unknown as { cluster: object });
        return {
          name: 'none',
          version: 0,
          assign: () => Promise.resolve([]),
          protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  expect(methodsOf(Object.getPrototypeOf(cluster) as object)).toEqual(
    expect.arrayContaining([
      'connect',
      'disconnect',
      'addMultipleTargetTopics',
      'refreshMetadata',
      'refreshMetadataIfNecessary',
      'findTopicPartitionMetadata',
      'findBroker',
      'getNodeIds',
      'findGroupCoordinator',
      'fetchTopicsOffset',
    ]),
  );
});

test('a broker has the requests that are sent, and a request queue has the polling loop that is stopped', () => {
  expect(methodsOf(inside('broker'))).toEqual(
    expect.arrayContaining([
      'produce',
      'fetch',
      'deleteRecords',
      'initProducerId',
      'addPartitionsToTxn',
      'addOffsetsToTxn',
      'txnOffsetCommit',
      'endTxn',
      'offsetFetch',
      'offsetCommit',
      'describeGroups',
      'leaveGroup',
    ]),
  );
  expect(methodsOf(inside('network/requestQueue'))).toContain('scheduleCheckPendingRequests');
});

test('a consumer has the instrumentation events that membership listens to', () => {
  const consumer = new kafkajs.Kafka({ brokers: ['127.0.0.1:1'] }).consumer({ groupId: 'none' });
  expect(Object.values(consumer.events)).toEqual(
    expect.arrayContaining([
      'consumer.network.request',
      'consumer.heartbeat',
      'consumer.group_join',
      'consumer.crash',
    ]),
  );
});
