// The components that serve requests: access to the log, to the owners of reads and to the database, and the directory of
// credentials.
import {
  createRecordWriter,
  createRequester,
  type RecordWriter,
  type Requester,
} from '@lead-scoring/event-log';
import {
  createSealing,
  leastUploadRate,
  secretsInForce,
  type ComponentScope,
  type Logger,
} from '@lead-scoring/service';
import { createRefusalRecorder, type RefusalRecorder } from './audit/refused-sign-ins.js';
import type { CommandDependencies } from './commands/handler.js';
import { organisationRateLimitOf, type GatewayConfiguration } from './configuration.js';
import { unitNamedBy } from './credentials/authenticate.js';
import { createCredentialDirectory, type CredentialDirectory } from './credentials/directory.js';
import { createLastUseRecorder, type LastUseRecorder } from './credentials/last-use.js';
import { createRevocations } from './credentials/revocations.js';
import { createDatabaseGate, type DatabaseGate } from './database-gate.js';
import type { Foundations } from './foundations.js';
import { createBytesInFlight } from './intake/bytes-in-flight.js';
import { createEventCounter } from './intake/event-metrics.js';
import type { ImportHandlerDependencies } from './import/handler.js';
import { createTableCharge } from './lead-import/table-charge.js';
import { createQuotaWarnings } from './quotas/quota-warnings.js';
import { createRequestQuotas, type RequestQuotas } from './quotas/request-quotas.js';
import { createSharedQuotas } from './quotas/shared-quotas.js';
import { createOrganisationLimits, type OrganisationLimitsReader } from './rate-limit/organisation-limits.js';
import { createCallCounter, type CallCounter } from './usage/call-counter.js';
import { createForwarder, type Forwarder } from './reads/forward.js';

export interface RequestServices {
  writer: RecordWriter;
  requester: Requester;
  lastUses: LastUseRecorder;
  calls: CallCounter;
  refusals: RefusalRecorder;
  gate: DatabaseGate;
  directory: CredentialDirectory;
  organisationLimits: OrganisationLimitsReader;
  quotas: RequestQuotas;
  forwarder: Forwarder;
}

export async function startRequestServices(
  configuration: GatewayConfiguration,
  scope: ComponentScope,
  { log, requestReadModel, signature }: Foundations,
  logger: Logger,
): Promise<RequestServices> {
  // While the brokers are away, a producer gets 503 within 5 s.
  const writer = await scope.start(createRecordWriter(log, { timeoutMs: 4_500 }));
  const requester = await scope.start(createRequester(log, { writer }));
  const lastUses = await scope.start(createLastUseRecorder(requestReadModel, logger));
  const refusals = await scope.start(createRefusalRecorder(requestReadModel, logger));
  const gate = createDatabaseGate();
  const calls = await scope.start(createCallCounter({ readModel: requestReadModel, gate, logger }));
  const revocations = await scope.start(createRevocations(log, logger));
  const directory = createCredentialDirectory(requestReadModel, gate, revocations);
  const organisationLimits = createOrganisationLimits(requestReadModel, gate);
  const quotas = createRequestQuotas({
    shared: createSharedQuotas({ readModel: requestReadModel, gate, logger }),
    organisationLimits,
    warn: createQuotaWarnings({
      requester,
      signature,
      logger,
      replyTimeoutMs: configuration.REPLY_TIMEOUT_MS,
    }),
  });
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
      namedUnit: (caller, ouId) => unitNamedBy(caller, ouId, directory),
      unitHasEnded: (ouId) => directory.orgUnitHasEnded(ouId),
      answerIdleMs: configuration.ANSWER_IDLE_MS,
    }),
  );
  return {
    writer,
    requester,
    lastUses,
    refusals,
    calls,
    gate,
    directory,
    organisationLimits,
    quotas,
    forwarder,
  };
}

export function commandDependencies(
  configuration: GatewayConfiguration,
  { signature, tokenSecrets, requestReadModel }: Foundations,
  { requester, gate, directory, organisationLimits, quotas, forwarder }: RequestServices,
): CommandDependencies {
  return {
    requester,
    signature,
    readModel: requestReadModel,
    gate,
    tokenSecrets,
    standardRateLimit: {
      per_minute: configuration.RATE_LIMIT_PER_MINUTE,
      burst: configuration.RATE_LIMIT_BURST,
    },
    organisationRateLimit: organisationRateLimitOf(configuration),
    sealing: createSealing(secretsInForce('SEALING_SECRET', configuration)),
    appUrl: configuration.APP_URL,
    replyTimeoutMs: configuration.REPLY_TIMEOUT_MS,
    identityChanged: () => {
      directory.forget();
      organisationLimits.forget();
    },
    namedLead: (leadId, req, ouId) => forwarder.namedLead(leadId, req, ouId),
    eventTypes: (req, ouId) => forwarder.eventTypes(req, ouId),
    job: (jobId, req, ouId) => forwarder.job(jobId, req, ouId),
    charge: createTableCharge({ quotas, forwarder }),
    lookUp: (routeName, request, req, ouId) => forwarder.lookUp(routeName, request, req, ouId),
    checkAnswers: process.env.NODE_ENV === 'test',
  };
}

export function intakeDependencies(
  configuration: GatewayConfiguration,
  { log, requestReadModel }: Foundations,
  { writer, requester, gate, quotas }: RequestServices,
): ImportHandlerDependencies {
  return {
    writer,
    quotas,
    countEvents: createEventCounter(),
    partitionOf: (key) => log.partitionOf(key),
    bytesInFlight: createBytesInFlight(configuration.INTAKE_MAXIMUM_BYTES),
    leastRate: { ...leastUploadRate, bytes: configuration.INTAKE_LEAST_BYTES },
    readModel: requestReadModel,
    gate,
    requester,
    replyTimeoutMs: configuration.REPLY_TIMEOUT_MS,
  };
}
