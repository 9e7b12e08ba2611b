// Starts the notification service: its processor and the query port over its read models.
import { createServiceProcessor } from '@lead-scoring/capability';
import { createEventLogComponent, createRecordWriter } from '@lead-scoring/event-log';
import { createOutbound } from '@lead-scoring/outbound';
import { createReadModelComponent } from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  createSealing,
  defineComponent,
  loadConfiguration,
  runService,
  secretsInForce,
  serviceHealthChecks,
  type ServiceScope,
} from '@lead-scoring/service';
import { createDestinationCheck } from './configuration/destinations.js';
import { systemClock } from './delivery/clock.js';
import { createSenders } from './delivery/senders/senders.js';
import { limitsOf, mailOf, policyOf, slackOf } from './delivery/settings.js';
import { createSlots } from './delivery/slots.js';
import { createExplanations } from './explanations/reader.js';
import { createTriggerReader } from './firing/trigger-reader.js';
import { notificationQueries } from './queries.js';
import { createReaders, type Readers } from './readers.js';
import { notificationCollections, notificationService, type NotificationDependencies } from './service.js';
import { notificationConfiguration } from './settings.js';
import { createShareLinks } from './share-links.js';

const configuration = loadConfiguration(notificationConfiguration);
const { CACHED_LEADS: cachedLeads, MAXIMUM_DELIVERIES: maximumDeliveries } = configuration;
const service = 'notification';
const logger = createLogger({ name: service, level: configuration.LOG_LEVEL });

/** Share of the delivery slots that ailing destinations may use together. */
const ailingPart = 0.25;

async function connect(scope: ServiceScope) {
  const readModel = await scope.start(
    createReadModelComponent(configuration, { service, collections: notificationCollections, logger }),
  );
  const log = await scope.start(createEventLogComponent(configuration, { service, logger }));
  const outbound = await scope.start(
    defineComponent('outbound', () => {
      const value = createOutbound({
        userAgent: 'LeadScoring-Notifications/1.0',
        allowedPrivateTargets: configuration.ALLOW_PRIVATE_TARGETS,
        allowedPorts: configuration.NOTIFICATION_PORTS,
      });
      return Promise.resolve({ value, stop: () => value.close() });
    }),
  );
  const writer = await scope.start(createRecordWriter(log));
  return { readModel, log, outbound, writer };
}

type Connections = Awaited<ReturnType<typeof connect>>;

function dependenciesOf(
  { readModel, outbound, writer }: Connections,
  { configurations, scoring, catchUp }: Readers,
): NotificationDependencies {
  const sealing = createSealing(secretsInForce('SEALING_SECRET', configuration));
  const shareLinks = createShareLinks(sealing, configuration.APP_URL);
  const slack = slackOf(configuration);
  const mail = mailOf(configuration);
  const setUp = { slack: slack !== null, email: mail !== null };
  return {
    sealing,
    cachedLeads,
    configuration: { destinations: createDestinationCheck(outbound, sealing, setUp), scoring },
    firing: {
      triggers: createTriggerReader(configurations, scoring),
      explanations: createExplanations(readModel, catchUp, { timeoutMs: 10_000 }),
      shareLinks,
    },
    delivery: {
      configurations,
      send: createSenders({ outbound, secrets: sealing, shareLinks, slack, mail }),
      slots: createSlots({
        maximum: maximumDeliveries,
        forAiling: Math.ceil(maximumDeliveries * ailingPart),
      }),
      writer,
      policy: policyOf(configuration),
      limits: limitsOf(configuration),
      clock: systemClock,
      logger,
    },
  };
}

runService({
  name: service,
  logger,
  shutdownDelayMs: configuration.SHUTDOWN_DELAY_MS,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const connections = await connect(scope);
    const { readModel, log } = connections;
    const readers = createReaders(readModel, log, { timeoutMs: 5_000 });
    const onFatal = (error: Error) => {
      scope.fatal(error);
    };
    const processor = await scope.start(
      createServiceProcessor(log, notificationService(dependenciesOf(connections, readers)), {
        readModel,
        commandsTo: ['share.commands'],
        logger,
        onFatal,
      }),
    );
    return scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.PORT,
        routes: notificationQueries({ readModel, log, ...readers, now: () => new Date() }),
        healthChecks: serviceHealthChecks(readModel, processor),
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
