// Puts the gateway together from its configuration: what runs, in which order, and what each part is given.
import { createServiceProcessor } from '@lead-scoring/capability';
import {
  asyncApiDocument,
  documentationPage,
  openApiDocument,
  routeDeclarations,
  type DocumentationPage,
  type RouteDeclaration,
} from '@lead-scoring/contracts';
import { createEventLogComponent, createRecordWriter, createRequester } from '@lead-scoring/event-log';
import { createReadModelComponent } from '@lead-scoring/read-model';
import {
  createHttpServer,
  createQueryServer,
  createSealing,
  leastUploadRate,
  livenessHandler,
  readinessHandler,
  readyWhen,
  secretsInForce,
  serviceHealthChecks,
  type ComponentScope,
  type HealthCheck,
  type ListeningServer,
  type Logger,
} from '@lead-scoring/service';
import type { Request } from 'express';
import { createApplication } from './application.js';
import { createBootstrap } from './bootstrap.js';
import { commandBuilders } from './commands/commands.js';
import { createCommandHandler } from './commands/handler.js';
import { bootstrapRateLimitOf, organisationLimitsOf, type GatewayConfiguration } from './configuration.js';
import { createAuthenticator } from './credentials/authenticate.js';
import { createCredentialDirectory } from './credentials/directory.js';
import { createLastUseRecorder, lastUses } from './credentials/last-use.js';
import { createRevocations } from './credentials/revocations.js';
import { callerOf } from './edge/request.js';
import { createDatabaseGate } from './database-gate.js';
import { ensureExpiry } from './expiry.js';
import { answers } from './idempotency/answers.js';
import { createCommandSignature } from './identity/command-signature.js';
import { createBytesInFlight } from './intake/bytes-in-flight.js';
import { createIntakeHandler } from './intake/handler.js';
import { addressKey, createLimiter, takeFromAll, type Limited } from './rate-limit/limiter.js';
import { limitRequestsInFlight } from './rate-limit/requests-in-flight.js';
import { buckets, createSharedBuckets } from './rate-limit/shared-buckets.js';
import { createForwarder } from './reads/forward.js';
import { identityLists } from './reads/identity-lists.js';
import { localHandlerOf, type LocalHandlers } from './reads/local.js';
import { createRouter, type RouteHandler } from './router.js';
import { gatewayService } from './service.js';

export interface GatewayDependencies {
  logger: Logger;
  /** Something that cannot go on. */
  onFatal: (error: unknown) => void;
}

const apiVersion = '1.0.0';

/** Starts everything in the scope; the server last, so that it is the first to be stopped. */
export async function openGateway(
  configuration: GatewayConfiguration,
  scope: ComponentScope,
  { logger, onFatal }: GatewayDependencies,
): Promise<ListeningServer> {
  const service = 'gateway';
  const { current, previous, next } = secretsInForce('TOKEN_SECRET', configuration);
  const tokenSecrets = [current, ...[previous, next].filter((secret) => secret !== undefined)] as const;
  const signature = createCommandSignature(tokenSecrets);
  const identity = gatewayService({ signature });
  const readModel = await scope.start(
    createReadModelComponent(configuration, {
      service,
      collections: [...identity.collections, lastUses, buckets, answers],
      logger,
    }),
  );
  await ensureExpiry(readModel, [buckets.name, answers.name]);
  // Requests wait for this one: better an answer from what was last known than one after many seconds.
  const requestReadModel = await scope.start(
    createReadModelComponent(configuration, {
      name: 'read model for requests',
      service,
      collections: [],
      logger,
      timeoutMs: 1_500,
    }),
  );
  const log = await scope.start(createEventLogComponent(configuration, { service, logger }));
  const processor = await scope.start(
    // Events are taken without the database as well, and a gateway that starts anew would need it.
    createServiceProcessor(log, identity, { readModel, logger, onFatal, outlivesDatabase: true }),
  );
  // Whoever posts events while the brokers are away is told so within 5 s.
  const writer = await scope.start(createRecordWriter(log, { timeoutMs: 4_500 }));
  const requester = await scope.start(createRequester(log, { writer }));
  const recorder = await scope.start(createLastUseRecorder(requestReadModel, logger));
  const gate = createDatabaseGate();
  const revocations = await scope.start(createRevocations(log, logger));
  const directory = createCredentialDirectory(requestReadModel, gate, revocations);
  const forwarder = await scope.start(
    createForwarder({
      urls: {
        ingest: configuration.INGEST_URL,
        scoring: configuration.SCORING_URL,
        notification: configuration.NOTIFICATION_URL,
        share: configuration.SHARE_URL,
        'site-analysis': configuration.SITE_ANALYSIS_URL,
      },
      internalSecret: configuration.INTERNAL_SECRET,
      unitHasEnded: (ouId) => directory.orgUnitHasEnded(ouId),
    }),
  );
  const identityChanged = () => {
    directory.forget();
  };
  const { BOOTSTRAP_ORGANISATION: organisation, BOOTSTRAP_TOKEN: token, BOOTSTRAP_OU: unit } = configuration;
  const bootstrap =
    organisation === undefined || token === undefined
      ? { done: () => true }
      : await scope.start(
          createBootstrap(
            { organisation, unit, token, rateLimit: bootstrapRateLimitOf(configuration) },
            { requester, signature, logger, changed: identityChanged },
          ),
        );

  const healthChecks: Record<string, HealthCheck> = {
    ...serviceHealthChecks(readModel, processor),
    organisation: readyWhen(() => bootstrap.done(), 'the first organisation is not made yet'),
  };
  const openApi = openApiDocument({ version: apiVersion });
  const handlers: LocalHandlers = {
    ...identityLists(requestReadModel),
    openApiDocument: jsonDocument(openApi),
    asyncApiDocument: jsonDocument(
      asyncApiDocument({
        version: apiVersion,
        namespace: configuration.NAMESPACE,
        partitions: configuration.PARTITIONS,
      }),
    ),
    documentation: page(documentationPage(openApi)),
    liveness: async (req, res) => {
      await livenessHandler(req, res, () => undefined);
    },
    readiness: async (req, res) => {
      await readinessHandler(healthChecks, logger)(req, res, () => undefined);
    },
  };

  const standard = {
    perMinute: configuration.RATE_LIMIT_PER_MINUTE,
    burst: configuration.RATE_LIMIT_BURST,
  };
  const shared = createSharedBuckets(requestReadModel, gate, logger);
  const organisationLimits = organisationLimitsOf(configuration);
  const ofAddress = (req: Request): Limited[] => [
    { policy: 'address', key: addressKey(req), limits: standard },
  ];
  const limitAddress = createLimiter(shared, ofAddress);
  const limitCaller = createLimiter(shared, (req: Request) => {
    const { credentialId, organisationId, rateLimit } = callerOf(req);
    return [
      {
        policy: 'credential',
        key: `credential:${credentialId}`,
        limits: rateLimit ? { perMinute: rateLimit.per_minute, burst: rateLimit.burst } : standard,
      },
      {
        policy: 'organisation',
        key: `organisation:${organisationId}`,
        limits: organisationLimits,
      },
    ];
  });

  const commandDependencies = {
    requester,
    signature,
    readModel: requestReadModel,
    gate,
    tokenSecrets,
    standardRateLimit: {
      per_minute: configuration.RATE_LIMIT_PER_MINUTE,
      burst: configuration.RATE_LIMIT_BURST,
    },
    sealing: createSealing(secretsInForce('SEALING_SECRET', configuration)),
    appUrl: configuration.APP_URL,
    replyTimeoutMs: configuration.REPLY_TIMEOUT_MS,
    identityChanged,
    namedLead: (...parameters: Parameters<typeof forwarder.namedLead>) => forwarder.namedLead(...parameters),
    eventTypes: (...parameters: Parameters<typeof forwarder.eventTypes>) =>
      forwarder.eventTypes(...parameters),
    checkAnswers: process.env.NODE_ENV === 'test',
  };
  const intakeDependencies = {
    writer,
    partitionOf: (key: string) => log.partitionOf(key),
    bytesInFlight: createBytesInFlight(configuration.INTAKE_MAXIMUM_BYTES),
    leastRate: { ...leastUploadRate, bytes: configuration.INTAKE_LEAST_BYTES },
    readModel: requestReadModel,
    gate,
  };
  const { ingest, importEvents } = routeDeclarations;
  const intakeHandlers = new Map<string, RouteHandler>(
    [ingest, importEvents].map((route) => {
      const handle = createIntakeHandler(route, intakeDependencies);
      return [route.name, (req, _res, ouId) => handle(req, requiredUnit(ouId))];
    }),
  );
  const handlerOf = (route: RouteDeclaration): RouteHandler | undefined => {
    switch (route.kind) {
      case 'intake':
        return intakeHandlers.get(route.name);
      case 'command': {
        const build = Object.entries(commandBuilders).find(([name]) => name === route.name)?.[1];
        if (!build) return undefined;
        const handle = createCommandHandler(route, build, commandDependencies);
        return (req, _res, ouId) => handle(req, ouId);
      }
      case 'query':
        return route.owner === 'gateway'
          ? undefined
          : (req, res, ouId) => forwarder.forward(route, req, res, ouId).then(() => undefined);
      case 'local': {
        const handle = localHandlerOf(route, handlers);
        return handle && ((req, res, ouId) => handle(req, res, ouId).then(() => undefined));
      }
    }
  };
  const authenticator = createAuthenticator(directory);
  const limitInFlight = limitRequestsInFlight({
    perCredential: configuration.REQUESTS_IN_FLIGHT_PER_CREDENTIAL,
    perOrganisation: configuration.REQUESTS_IN_FLIGHT_PER_ORGANISATION,
  });
  const router = createRouter({
    authenticator,
    lastUses: recorder,
    limitCaller,
    limitInFlight,
    limitAddress,
    chargeAddress: (req, res) => takeFromAll(shared, ofAddress(req), res),
    handlerOf,
  });
  const application = createApplication({
    router,
    limitAddress,
    logger,
    trustedProxies: configuration.TRUSTED_PROXIES,
  });
  if (configuration.INTERNAL_PORT !== undefined)
    await scope.start(
      createQueryServer({
        host: configuration.HOST,
        port: configuration.INTERNAL_PORT,
        routes: [],
        healthChecks,
        internalSecret: configuration.INTERNAL_SECRET,
        logger,
      }),
    );
  return scope.start(
    createHttpServer({
      name: 'public server',
      handler: application,
      host: configuration.HOST,
      port: configuration.PORT,
    }),
  );
}

function jsonDocument(document: object): LocalHandlers['openApiDocument'] {
  const text = Buffer.from(JSON.stringify(document));
  return (_req, res) => {
    res.type('application/json').send(text);
  };
}

function page({ html, contentSecurityPolicy }: DocumentationPage): LocalHandlers['documentation'] {
  const text = Buffer.from(html);
  return (_req, res) => {
    res.setHeader('Content-Security-Policy', contentSecurityPolicy);
    res.type('html').send(text);
  };
}

function requiredUnit(ouId: string | undefined): string {
  if (ouId === undefined) throw new Error('events belong to an OU');
  return ouId;
}
