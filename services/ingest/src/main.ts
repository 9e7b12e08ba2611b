// The ingest service: its processor of ingest.commands, and its query port.
import { createServiceProcessor } from '@lead-scoring/capability';
import { createEventLogComponent, createRecordWriter } from '@lead-scoring/event-log';
import { createReadModelComponent, ensureExpiry } from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  defineComponent,
  loadConfiguration,
  QueryPort,
  runService,
  serviceHealthChecks,
} from '@lead-scoring/service';
import { ingestConfiguration } from './configuration.js';
import { leadFileCollections } from './lead-imports/documents.js';
import { aliasShare } from './intake/allowance-model.js';
import { ingestQueries } from './queries.js';
import { ingestService } from './service.js';

const configuration = loadConfiguration(ingestConfiguration);
const logger = createLogger({ name: 'ingest', level: configuration.LOG_LEVEL });

const scoringPort = defineComponent('scoring', () => {
  const value = new QueryPort({
    url: configuration.SCORING_URL,
    internalSecret: configuration.INTERNAL_SECRET,
    timeoutMs: 10_000,
  });
  return Promise.resolve({ value, stop: () => value.close() });
});

runService({
  name: 'ingest',
  logger,
  shutdownDelayMs: configuration.SHUTDOWN_DELAY_MS,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const service = ingestService({
      aliasShare: aliasShare(configuration.ALIASES_PER_OU, configuration.PARTITIONS),
      jobs: {
        writer: { write: (sent) => writer.write(sent) },
        eventDeletion: { partitions: configuration.PARTITIONS, now: () => new Date() },
        eventTypeBackfill: { log: () => log, now: () => new Date() },
        leadImport: { log: () => log, now: () => new Date() },
        onStepError: (error, { job_id, step }) => {
          logger.error({ err: error, job_id, step }, 'a step of a job has thrown; the job has failed');
        },
      },
    });
    const readModel = await scope.start(
      createReadModelComponent(configuration, {
        service: 'ingest',
        collections: [...service.collections, ...leadFileCollections],
        logger,
      }),
    );
    await ensureExpiry(readModel, leadFileCollections);
    const log = await scope.start(createEventLogComponent(configuration, { service: 'ingest', logger }));
    const writer = await scope.start(createRecordWriter(log));
    const processor = await scope.start(
      createServiceProcessor(log, service, {
        readModel,
        logger,
        onFatal: (error) => {
          scope.fatal(error);
        },
      }),
    );
    const scoring = await scope.start(scoringPort);
    return scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.PORT,
        routes: ingestQueries(readModel, {
          partitions: configuration.PARTITIONS,
          positionTimeoutMs: 10_000,
          scoring,
        }),
        healthChecks: serviceHealthChecks(readModel, processor),
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
