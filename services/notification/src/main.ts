// The notification service: its processor of channels, triggers, firings and deliveries, the explanations that
// notifications give, and the query port over what it has folded.
import { createEventLogComponent, createProcessor, createRecordWriter } from '@lead-scoring/event-log';
import { createOutbound } from '@lead-scoring/outbound';
import { createReadModelComponent, isRetriable, isSilence, underLease } from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  createSealing,
  defineComponent,
  loadConfiguration,
  runService,
  secretsInForce,
  serviceHealthChecks,
} from '@lead-scoring/service';
import { notificationCollections } from './collections.js';
import { createDestinationCheck } from './configuration/destinations.js';
import { createConfigurationReader } from './configuration/store.js';
import { systemClock } from './delivery/clock.js';
import { createSenders } from './delivery/senders/senders.js';
import { limitsOf, mailOf, policyOf, slackOf } from './delivery/settings.js';
import { createSlots } from './delivery/slots.js';
import { createCatchUp, createExplanations, createExplanationsProjector } from './firing/explanations.js';
import { createTriggerReader } from './firing/trigger-reader.js';
import { notificationInputs } from './inputs.js';
import { createLevelReader } from './levels/reader.js';
import { openPartition, processorName } from './partition-state.js';
import { notificationQueries } from './queries.js';
import { notificationConfiguration } from './settings.js';
import { createShareLinks } from './share-links.js';

const configuration = loadConfiguration(notificationConfiguration);
const logger = createLogger({ name: processorName, level: configuration.LOG_LEVEL });

/** Destinations that only fail get at most this part of all deliveries under way. */
const ailingPart = 0.25;

runService({
  name: processorName,
  logger,
  shutdownTimeoutMs: configuration.SHUTDOWN_TIMEOUT_MS,
  readyFile: configuration.READY_FILE,
  open: async (scope) => {
    const { CACHED_LEADS: cachedLeads, MAXIMUM_DELIVERIES: maximum } = configuration;
    const readModel = await scope.start(
      createReadModelComponent(configuration, {
        service: processorName,
        collections: notificationCollections,
        logger,
      }),
    );
    const log = await scope.start(createEventLogComponent(configuration, { service: processorName, logger }));
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
    const sealing = createSealing(secretsInForce('SEALING_SECRET', configuration));
    const shareLinks = createShareLinks(sealing, configuration.APP_URL);
    const configurations = createConfigurationReader(readModel);
    const catchUp = createCatchUp(readModel, log, { timeoutMs: 5_000 });
    const levels = createLevelReader(readModel, catchUp);
    const onFatal = (error: Error) => {
      scope.fatal(error);
    };
    const explanations = await scope.start(
      createExplanationsProjector(log, readModel, { cachedLeads, logger, onFatal }),
    );
    const slack = slackOf(configuration);
    const mail = mailOf(configuration);
    const partitionOptions = {
      configuration: {
        destinations: createDestinationCheck(outbound, sealing, {
          slack: slack !== null,
          email: mail !== null,
        }),
        levels,
        sealing,
      },
      firing: {
        triggers: createTriggerReader(configurations, levels),
        explanations: createExplanations(readModel, catchUp, { timeoutMs: 10_000 }),
        shareLinks,
        cachedLeads,
      },
      delivery: {
        configurations,
        send: createSenders({
          outbound,
          secrets: sealing,
          shareLinks,
          slack,
          mail,
        }),
        slots: createSlots({ maximum, forAiling: Math.ceil(maximum * ailingPart) }),
        writer,
        policy: policyOf(configuration),
        limits: limitsOf(configuration),
        clock: systemClock,
        logger,
      },
    };
    const processor = await scope.start(
      createProcessor(log, {
        name: processorName,
        inputs: notificationInputs,
        output: 'notification.events',
        commandsTo: ['share.commands'],
        open: (partition, _touch, lease) =>
          Promise.resolve(openPartition(underLease(readModel, lease), partition, partitionOptions)),
        isSilence,
        logger,
        isRetriable,
        onFatal,
        // Most records concern no trigger: many are looked at together. With more, who is behind would fall further behind.
        maxRecordsPerBatch: 2_000,
        maxBytesPerBatch: 1024 * 1024,
        decidesTogether: true,
        // What scoring makes of ingest's events comes a moment after them.
        patienceMs: { 'ingest.events': 150 },
        // The states of leads change with nearly every event; half a minute of them is folded in a few seconds.
        storeEveryMs: 30_000,
      }),
    );
    return scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.PORT,
        routes: notificationQueries({ readModel, log, configurations, levels, now: () => new Date() }),
        healthChecks: serviceHealthChecks(readModel, processor, explanations),
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  },
});
