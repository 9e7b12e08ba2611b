// Keys are hashed as by every other Kafka client.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { murmur2, partitionOfKey } from './murmur2.js';

test('every key is in the partition of Kafka’s default partitioner', () => {
  const partitioner = kafkajs.Partitioners.DefaultPartitioner();
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary', minLength: 1 }), fc.uuid()),
      fc.integer({ min: 1, max: 64 }),
      (key, count) => {
        const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
          partitionId,
          partitionErrorCode: 0,
          leader: 0,
          replicas: [],
          isr: [],
        }));
        const theirs = partitioner({ topic: 'a', partitionMetadata, message: { key, value: '' } });
        expect(partitionOfKey(key, count)).toBe(theirs);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('the hash is that of Kafka’s own tests', () => {
  // org.apache.kafka.common.utils.UtilsTest.testMurmur2
  expect(murmur2('21')).toBe(-973932308);
  expect(murmur2('foobar')).toBe(-790332482);
  expect(murmur2('a-little-bit-long-string')).toBe(-985981536);
  expect(murmur2('a-little-bit-longer-string')).toBe(-1486304829);
  expect(murmur2('lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8')).toBe(-58897971);
  expect(murmur2('abc')).toBe(479470107);
});
