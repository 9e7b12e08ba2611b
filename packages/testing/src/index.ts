// The harness of the end-to-end tests and benchmarks.
export { referenceScores, type ReferenceEvent, type ReferenceRule } from './reference.js';
export { endpointsFromEnvironment } from './servers.js';
export {
  checkout,
  startTestSystem,
  type Answer,
  type RequestOptions,
  type TestSystem,
  type TestSystemOptions,
} from './test-system.js';
export { startKafkaSource, type KafkaSource } from './kafka-sources.js';
export { createLedTopic } from './led-topic.js';
export { isFullSize } from './full-size.js';
