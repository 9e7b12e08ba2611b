// Composes the gateway from its configuration: its components, their order, and the dependencies of each.
import type { IncomingMessage } from 'node:http';
import { routeDeclarations } from '@lead-scoring/contracts';
import {
  createHttpServer,
  createQueryServer,
  createStaying,
  readyWhen,
  serviceHealthChecks,
  type ComponentScope,
  type HealthCheck,
  type ListeningServer,
  type Logger,
} from '@lead-scoring/service';
import type { Express } from 'express';
import { createApplication } from './application.js';
import { createBootstrap, organisationIdOf, type BootstrapStatus } from './bootstrap.js';
import { bootstrapRateLimitOf, type GatewayConfiguration } from './configuration.js';
import { createAuthenticator } from './credentials/authenticate.js';
import { openFoundations, type Foundations } from './foundations.js';
import { createInvitations } from './invitations/handlers.js';
import { createRequestLimits } from './rate-limit/request-limits.js';
import { createSharedBuckets } from './rate-limit/shared-buckets.js';
import { createLocalHandlers } from './reads/local-handlers.js';
import {
  commandDependencies,
  intakeDependencies,
  startRequestServices,
  type RequestServices,
} from './request-services.js';
import { createRouteHandlers } from './route-handlers.js';
import { createRouter } from './router.js';
import { createSignIn, type SignIn } from './sign-in/sign-in.js';
import { createTokenVerifier } from './sign-in/verifier.js';
import { createWriteKeyFinder } from './segment/find-write-key.js';

export interface GatewayDependencies {
  logger: Logger;
  /** Called with an error after which the gateway cannot go on. */
  onFatal: (error: unknown) => void;
}

const { importEvents, previewLeadImport } = routeDeclarations;

type HealthChecks = Readonly<Record<string, HealthCheck>>;

/** Starts everything in the scope; the server last, so that it is the first to be stopped. */
export async function openGateway(
  configuration: GatewayConfiguration,
  scope: ComponentScope,
  dependencies: GatewayDependencies,
): Promise<ListeningServer> {
  const { logger } = dependencies;
  const foundations = await openFoundations(configuration, scope, dependencies);
  const services = await startRequestServices(configuration, scope, foundations, logger);
  const bootstrap = await startBootstrap(configuration, scope, foundations, services, logger);
  const healthChecks: HealthChecks = {
    ...serviceHealthChecks(foundations.readModel, foundations.processor),
    organisation: readyWhen(() => bootstrap.done(), 'the first organisation is not created yet'),
  };
  const staying = createStaying();
  const handler = publicApplication(configuration, foundations, services, {
    healthChecks: { ...healthChecks, ...staying.healthChecks },
    logger,
  });
  const {
    HOST: host,
    PORT: port,
    INTERNAL_PORT: internalPort,
    INTERNAL_SECRET: internalSecret,
  } = configuration;
  if (internalPort !== undefined)
    await scope.start(
      createQueryServer({ host, port: internalPort, routes: [], healthChecks, internalSecret, logger }),
    );
  return scope.start(
    createHttpServer({
      name: 'public server',
      handler,
      host,
      port,
      isLongUpload: isImport,
      onEnding: staying.onEnding,
    }),
  );
}

async function startBootstrap(
  configuration: GatewayConfiguration,
  scope: ComponentScope,
  { signature }: Foundations,
  { requester, directory }: RequestServices,
  logger: Logger,
): Promise<BootstrapStatus> {
  const { BOOTSTRAP_ORGANISATION: organisation, BOOTSTRAP_TOKEN: token, BOOTSTRAP_OU: unit } = configuration;
  if (organisation === undefined || token === undefined) return { done: () => true };
  const changed = () => {
    directory.forget();
  };
  return scope.start(
    createBootstrap(
      { organisation, unit, token, rateLimit: bootstrapRateLimitOf(configuration) },
      { requester, signature, logger, changed },
    ),
  );
}

function signInOf(
  { BOOTSTRAP_ORGANISATION: organisation, OIDC_ISSUERS: issuers, REPLY_TIMEOUT_MS }: GatewayConfiguration,
  { signature }: Foundations,
  { requester, directory }: RequestServices,
): SignIn | undefined {
  if (organisation === undefined || issuers === undefined || issuers.length === 0) return undefined;
  return createSignIn({
    organisationId: organisationIdOf(organisation),
    verifier: createTokenVerifier(issuers),
    directory,
    requester,
    signature,
    replyTimeoutMs: REPLY_TIMEOUT_MS,
  });
}

function publicApplication(
  configuration: GatewayConfiguration,
  foundations: Foundations,
  services: RequestServices,
  { healthChecks, logger }: { healthChecks: HealthChecks; logger: Logger },
): Express {
  const { requestReadModel } = foundations;
  const { gate, directory, organisationLimits, forwarder, lastUses, calls, quotas, refusals } = services;
  const buckets = createSharedBuckets(requestReadModel, gate, logger);
  const limits = createRequestLimits(configuration, buckets, organisationLimits);
  const intake = intakeDependencies(configuration, foundations, services);
  const commands = commandDependencies(configuration, foundations, services);
  const handlerOf = createRouteHandlers({
    commands,
    intake,
    forwarder,
    local: createLocalHandlers(configuration, {
      readModel: requestReadModel,
      invitations: createInvitations(commands),
      forwarder,
      healthChecks,
      logger,
    }),
  });
  const router = createRouter({
    authenticator: createAuthenticator(directory, { signIn: signInOf(configuration, foundations, services) }),
    lastUses,
    calls,
    quotas,
    refusals,
    ...limits,
    findWriteKey: createWriteKeyFinder({ ...intake, chargeAddress: limits.chargeAddress }),
    handlerOf,
  });
  return createApplication({
    router,
    limitAddress: limits.limitAddress,
    logger,
    trustedProxies: configuration.TRUSTED_PROXIES,
  });
}

/** An import may be large; its handler ends one that comes too slowly. */
function isImport({ method, url }: IncomingMessage): boolean {
  const path = url?.split('?', 1)[0];
  return [importEvents, previewLeadImport].some((route) => method === route.method && path === route.path);
}
