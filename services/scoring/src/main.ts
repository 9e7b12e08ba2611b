// The scoring service: its processor of events and of rule commands, and the query port over what it has folded.
import { createEventLogComponent, createProcessor } from '@lead-scoring/event-log';
import { createReadModelComponent, isRetriable, isSilence, underLease } from '@lead-scoring/read-model';
import {
  commonConfiguration,
  createLogger,
  createQueryServer,
  loadConfiguration,
  runService,
  serviceHealthChecks,
  setting,
} from '@lead-scoring/service';
import { createConfigurationReader } from './configuration/store.js';
import { scoringInputs } from './inputs.js';
import { openPartition, scoringCollections } from './partition-state.js';
import { scoringQueries } from './queries.js';

const configuration = loadConfiguration(
  commonConfiguration.extend({
    /** Leads that each partition keeps in memory; about 1 KB each. */
    CACHED_LEADS: setting.whole(100, 10_000_000).default(50_000),
  }),
);
const logger = createLogger({ name: 'scoring', level: configuration.LOG_LEVEL });

runService({
  name: 'scoring',
  logger,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const readModel = await scope.start(
      createReadModelComponent(configuration, {
        service: 'scoring',
        collections: scoringCollections,
        logger,
      }),
    );
    const log = await scope.start(createEventLogComponent(configuration, { service: 'scoring', logger }));
    const configurations = createConfigurationReader(readModel);
    const processor = await scope.start(
      createProcessor(log, {
        name: 'scoring',
        inputs: scoringInputs,
        output: 'scoring.events',
        open: (partition, _touch, lease) =>
          Promise.resolve(
            openPartition(underLease(readModel, lease), partition, {
              configurations,
              cachedLeads: configuration.CACHED_LEADS,
            }),
          ),
        isSilence,
        logger,
        isRetriable,
        onFatal: (error) => {
          scope.fatal(error);
        },
        // A record holds the few events of one lead: large batches are what makes folding cheap.
        maxRecordsPerBatch: 16_000,
        maxBytesPerBatch: 8 * 1024 * 1024,
      }),
    );
    return scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.PORT,
        routes: scoringQueries(readModel, configurations, { positionTimeoutMs: 10_000 }),
        healthChecks: serviceHealthChecks(readModel, processor),
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
