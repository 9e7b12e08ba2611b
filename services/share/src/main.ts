// The share service: links that show why a lead has its score, and what they show. Run it as
// `node --import @lead-scoring/service/telemetry dist/main.js`.
import { createServiceProcessor } from '@lead-scoring/capability';
import { createEventLogComponent, createProjector } from '@lead-scoring/event-log';
import {
  createExplanationReader,
  explanationInputs,
  openExplanationPartition,
} from '@lead-scoring/explanations';
import { createReadModelComponent, isRetriable, isSilence, underLease } from '@lead-scoring/read-model';
import {
  commonConfiguration,
  createLogger,
  createQueryServer,
  defineComponent,
  loadConfiguration,
  runService,
  serviceHealthChecks,
  setting,
} from '@lead-scoring/service';
import { createPreviewPainter } from '@lead-scoring/share-page/preview';
import { createCatchingUp } from './catching-up.js';
import { shareCollections } from './collections.js';
import { createFindLeads, projectorName } from './explanation/find-leads.js';
import { shareQueries } from './queries.js';
import { beginRebuild, createEndOf } from './rebuilds.js';
import { shareService } from './service.js';

const configuration = loadConfiguration(
  commonConfiguration.extend({
    /** Where browsers open share links: the gateway, as its callers see it. */
    APP_URL: setting.baseUrl,
    /** Leads that each partition keeps in memory; about 0.5 KB each. */
    CACHED_LEADS: setting.whole(100, 10_000_000).default(50_000),
  }),
);
const logger = createLogger({ name: 'share', level: configuration.LOG_LEVEL });

runService({
  name: 'share',
  logger,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const readModel = await scope.start(
      createReadModelComponent(configuration, { service: 'share', collections: shareCollections, logger }),
    );
    const log = await scope.start(createEventLogComponent(configuration, { service: 'share', logger }));
    const endOf = createEndOf(log);
    const onFatal = (error: Error) => {
      scope.fatal(error);
    };
    const explanations = await scope.start(
      createProjector(log, {
        name: projectorName,
        inputs: explanationInputs,
        rebuildsWith: 'share',
        open: (partition, _touch, lease) =>
          Promise.resolve(
            openExplanationPartition(underLease(readModel, lease), partition, {
              projectorName,
              cachedLeads: configuration.CACHED_LEADS,
              beforeReset: () =>
                beginRebuild(readModel, { name: projectorName, partition, topic: 'scoring.events' }, endOf),
            }),
          ),
        isSilence,
        logger,
        isRetriable,
        onFatal,
        // As scoring has it: decisions are inserted together, so large batches are what makes folding cheap.
        maxRecordsPerBatch: 16_000,
        maxBytesPerBatch: 8 * 1024 * 1024,
      }),
    );
    const findLeads = createFindLeads(readModel, log, { timeoutMs: 5_000 });
    const links = await scope.start(
      createServiceProcessor(log, shareService({ findLeads, endOf }), { readModel, logger, onFatal }),
    );
    const painter = await scope.start(
      defineComponent('preview painter', () => {
        const value = createPreviewPainter();
        return Promise.resolve({ value, stop: () => value.stop() });
      }),
    );
    return scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.PORT,
        routes: shareQueries({
          readModel,
          explanations: createExplanationReader(readModel, projectorName),
          catchingUp: createCatchingUp(readModel, log, { timeoutMs: 2_000 }),
          appUrl: configuration.APP_URL,
          now: () => new Date(),
          paintPreview: (shared) => painter.paint(shared),
        }),
        healthChecks: serviceHealthChecks(readModel, links, explanations),
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
