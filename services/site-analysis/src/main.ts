// The site-analysis service: its processor, the analyses that run beside it, and its query port.
import { hostname } from 'node:os';
import { createServiceProcessor } from '@lead-scoring/capability';
import { routes } from '@lead-scoring/contracts';
import { createEventLogComponent, createRecordWriter } from '@lead-scoring/event-log';
import { createOutbound } from '@lead-scoring/outbound';
import { createReadModelComponent } from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  defineComponent,
  loadConfiguration,
  runService,
  serviceHealthChecks,
} from '@lead-scoring/service';
import { analysisQueries } from './analyses/queries.js';
import { agentName } from './analysis/robots.js';
import { siteAnalysisConfiguration } from './configuration.js';
import { createAnalysisRunner } from './running/runner.js';
import { createSites } from './running/sites.js';
import { siteAnalysisCollections, siteAnalysisService } from './service.js';

const configuration = loadConfiguration(siteAnalysisConfiguration);
const logger = createLogger({ name: 'site-analysis', level: configuration.LOG_LEVEL });

/** The time of an analysis, within the 15 s that a caller is promised; the rest is for the commands before and after it. */
const budgetMs = 14_000;
/** Ends one second before the gateway stops waiting. */
const wantedForMs = routes.analyzeSite.replyTimeoutMs - 1_000;

runService({
  name: 'site-analysis',
  logger,
  shutdownDelayMs: configuration.SHUTDOWN_DELAY_MS,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const readModel = await scope.start(
      createReadModelComponent(configuration, {
        service: 'site-analysis',
        collections: siteAnalysisCollections,
        logger,
      }),
    );
    const log = await scope.start(
      createEventLogComponent(configuration, { service: 'site-analysis', logger }),
    );
    const outbound = await scope.start(
      defineComponent('outbound', () => {
        const value = createOutbound({
          userAgent: `${agentName}/1.0 (+${configuration.SITE_ANALYSIS_CONTACT ?? `postmaster@${hostname()}`})`,
          allowedPrivateTargets: configuration.ALLOW_PRIVATE_TARGETS,
          allowedPorts: configuration.SITE_ANALYSIS_PORTS,
        });
        return Promise.resolve({ value, stop: () => value.close() });
      }),
    );
    const writer = await scope.start(createRecordWriter(log));
    const sites = createSites(outbound);
    const now = () => new Date();
    const runner = await scope.start(
      createAnalysisRunner(
        { analyze: sites.analyze, failureOf: sites.failureOf, writer, now, logger },
        { maximumAtOnce: configuration.MAXIMUM_ANALYSES, budgetMs },
      ),
    );
    const processor = await scope.start(
      createServiceProcessor(
        log,
        siteAnalysisService({ runner, refusalOf: sites.refusalOf, wantedForMs, now }),
        {
          readModel,
          logger,
          onFatal: (error) => {
            scope.fatal(error);
          },
        },
      ),
    );
    return scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.PORT,
        routes: analysisQueries(readModel),
        healthChecks: serviceHealthChecks(readModel, processor),
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
