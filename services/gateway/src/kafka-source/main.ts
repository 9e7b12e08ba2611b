// A Kafka topic as a source of events: docs/sources.md. Run it as `node --import @lead-scoring/service/telemetry dist/kafka-source/main.js`.
import { createLogger, loadConfiguration, runService } from '@lead-scoring/service';
import { kafkaSourceConfiguration } from './configuration.js';
import { openKafkaSource } from './kafka-source.js';

const configuration = loadConfiguration(kafkaSourceConfiguration);
const logger = createLogger({
  name: `kafka-source ${configuration.SOURCE_FILE.name}`,
  level: configuration.LOG_LEVEL,
});

runService({
  name: 'kafka-source',
  logger,
  shutdownDelayMs: configuration.SHUTDOWN_DELAY_MS,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: (scope) =>
    openKafkaSource(configuration, scope, {
      logger,
      onFatal: (error) => {
        scope.fatal(error);
      },
    }),
});
