// The ingest service: its processor of ingest.commands, and the query port over what it has folded.
import { createEventLog, createProcessor } from '@lead-scoring/event-log';
import { connectReadModel, databaseName, ensureCollections } from '@lead-scoring/read-model';
import {
  commonConfiguration,
  createLogger,
  createQueryServer,
  defineComponent,
  loadConfiguration,
  NotReady,
  runService,
} from '@lead-scoring/service';
import { ingestCollections, openPartition } from './partition-state.js';
import { ingestQueries } from './queries.js';

const configuration = loadConfiguration(commonConfiguration);
const logger = createLogger({ name: 'ingest', level: configuration.LOG_LEVEL });

runService({
  name: 'ingest',
  logger,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const readModel = await scope.start(
      defineComponent('read model', async () => {
        const value = await connectReadModel(
          { uri: configuration.MONGODB_URI, database: databaseName(configuration.NAMESPACE, 'ingest') },
          { logger },
        );
        await ensureCollections(value, ingestCollections);
        return { value, stop: () => value.close() };
      }),
    );
    const log = await scope.start(
      defineComponent('event log', async () => {
        const value = createEventLog(
          {
            brokers: configuration.KAFKA_BROKERS,
            schemaRegistryUrl: configuration.SCHEMA_REGISTRY_URL,
            namespace: configuration.NAMESPACE,
            clientId: 'ingest',
            partitions: configuration.PARTITIONS,
            replicationFactor: configuration.REPLICATION_FACTOR,
          },
          { logger },
        );
        await value.prepare();
        return { value, stop: () => value.close() };
      }),
    );
    const processor = await scope.start(
      createProcessor(log, {
        name: 'ingest',
        inputs: ['ingest.commands'],
        output: 'ingest.events',
        open: (partition) => openPartition(readModel, partition),
        // What a lead sent while the batch before was under way becomes one record: large batches cost least an event.
        maxBytesPerBatch: 8 * 1024 * 1024,
        logger,
        onFatal: (error) => {
          scope.fatal(error);
        },
      }),
    );
    return scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.PORT,
        routes: ingestQueries(readModel, { partitions: configuration.PARTITIONS, positionTimeoutMs: 10_000 }),
        healthChecks: {
          'read model': () => readModel.ping(),
          partitions: () =>
            processor.ready()
              ? Promise.resolve()
              : Promise.reject(new NotReady('not every partition is caught up yet')),
        },
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
