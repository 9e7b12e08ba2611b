// The scoring service: the processor of events and of rule commands, and the query port.
import { createServiceProcessor } from '@lead-scoring/capability';
import { createPicturePainter } from '@lead-scoring/charts/painting';
import { createEventLogComponent, createRecordWriter } from '@lead-scoring/event-log';
import { createReadModelComponent } from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  defineComponent,
  loadConfiguration,
  QueryPort,
  runService,
  serviceHealthChecks,
} from '@lead-scoring/service';
import { scoringConfiguration } from './settings.js';
import { createPublishedConfigurations } from './configuration/published.js';
import { createReplayThreads } from './jobs/replay-threads.js';
import { scoringQueries } from './queries.js';
import { scoringService } from './service.js';

const configuration = loadConfiguration(scoringConfiguration);
const logger = createLogger({ name: 'scoring', level: configuration.LOG_LEVEL });

const ingestPort = defineComponent('ingest', () => {
  const value = new QueryPort({
    url: configuration.INGEST_URL,
    internalSecret: configuration.INTERNAL_SECRET,
    timeoutMs: 10_000,
  });
  return Promise.resolve({ value, stop: () => value.close() });
});

const picturePainter = defineComponent('picture painter', () => {
  const value = createPicturePainter();
  return Promise.resolve({ value, stop: () => value.stop() });
});

runService({
  name: 'scoring',
  logger,
  shutdownDelayMs: configuration.SHUTDOWN_DELAY_MS,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const tasks = await scope.start(createReplayThreads());
    const service = scoringService({
      cachedLeads: configuration.CACHED_LEADS,
      configurations: () => configurations,
      partitions: configuration.PARTITIONS,
      decay: {
        writer: { write: (sent) => writer.write(sent) },
        now: () => new Date(),
        onError: (error) => {
          logger.warn({ err: error }, 'a look for leads whose points fade has failed; it is repeated');
        },
      },
      jobs: {
        log: () => log,
        writer: { write: (sent) => writer.write(sent) },
        tasks,
        onStepError: (error, { job_id, step }) => {
          logger.error({ err: error, job_id, step }, 'a step of a job has thrown; the job has failed');
        },
      },
      challengers: {
        onError: (error) => {
          logger.error({ err: error }, 'the figures of a challenger could not be computed; it is repeated');
        },
      },
    });
    const { collections } = service;
    const readModel = await scope.start(
      createReadModelComponent(configuration, { service: 'scoring', collections, logger }),
    );
    const configurations = createPublishedConfigurations(readModel);
    const log = await scope.start(createEventLogComponent(configuration, { service: 'scoring', logger }));
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
    const ingest = await scope.start(ingestPort);
    const painter = await scope.start(picturePainter);
    return scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.PORT,
        routes: scoringQueries(readModel, configurations, {
          positionTimeoutMs: 10_000,
          ingest,
          paintPicture: (svg) => painter.paint(svg),
        }),
        healthChecks: serviceHealthChecks(readModel, processor),
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
