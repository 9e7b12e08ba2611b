// The share service: links that show why a lead has its score. Run it as
// `node --import @lead-scoring/service/telemetry dist/main.js`.
import { createServiceProcessor } from '@lead-scoring/capability';
import { createEventLogComponent } from '@lead-scoring/event-log';
import { createExplanationReader } from '@lead-scoring/explanations';
import { createReadModelComponent } from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  defineComponent,
  loadConfiguration,
  runService,
  serviceHealthChecks,
} from '@lead-scoring/service';
import { createPreviewPainter } from '@lead-scoring/share-page/preview';
import { shareConfiguration } from './configuration.js';
import { createCatchingUp } from './catching-up.js';
import { shareCollections } from './collections.js';
import { explanationsName } from './explanation/capability.js';
import { createFindLeads } from './explanation/find-leads.js';
import { shareQueries } from './queries.js';
import { shareService } from './service.js';

const configuration = loadConfiguration(shareConfiguration);
const logger = createLogger({ name: 'share', level: configuration.LOG_LEVEL });

runService({
  name: 'share',
  logger,
  shutdownDelayMs: configuration.SHUTDOWN_DELAY_MS,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const readModel = await scope.start(
      createReadModelComponent(configuration, { service: 'share', collections: shareCollections, logger }),
    );
    const log = await scope.start(createEventLogComponent(configuration, { service: 'share', logger }));
    const service = shareService({
      findLeads: createFindLeads(readModel, log, { timeoutMs: 5_000 }),
      cachedLeads: configuration.CACHED_LEADS,
    });
    const processor = await scope.start(
      createServiceProcessor(log, service, {
        readModel,
        logger,
        onFatal: (error) => {
          scope.fatal(error);
        },
      }),
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
          explanations: createExplanationReader(readModel, explanationsName),
          catchingUp: createCatchingUp(readModel, log, { timeoutMs: 2_000 }),
          appUrl: configuration.APP_URL,
          now: () => new Date(),
          paintPreview: (shared) => painter.paint(shared),
        }),
        healthChecks: serviceHealthChecks(readModel, processor),
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
