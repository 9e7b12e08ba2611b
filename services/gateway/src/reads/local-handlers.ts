// The handlers of the routes of kind `local`: the gateway's lists, the documents that describe the API, and its health.
import {
  asyncApiDocument,
  documentationPage,
  openApiDocument,
  type DocumentationPage,
} from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { livenessHandler, readinessHandler, type HealthCheck, type Logger } from '@lead-scoring/service';
import { organisationRateLimitOf, type GatewayConfiguration } from '../configuration.js';
import { usageHandler } from '../usage/handler.js';
import type { Invitations } from '../invitations/handlers.js';
import { createAuditHandlers } from '../audit/handlers.js';
import type { Forwarder } from './forward.js';
import { identityLists } from './identity-lists.js';
import { limitsHandler } from './limits.js';
import type { LocalHandlers } from './local.js';

export interface LocalDependencies {
  readModel: ReadModel;
  invitations: Invitations;
  forwarder: Pick<Forwarder, 'askFor'>;
  healthChecks: Readonly<Record<string, HealthCheck>>;
  logger: Logger;
}

const apiVersion = '1.0.0';

export function createLocalHandlers(
  configuration: GatewayConfiguration,
  { readModel, invitations, forwarder, healthChecks, logger }: LocalDependencies,
): LocalHandlers {
  const { NAMESPACE: namespace, PARTITIONS: partitions, ANSWER_IDLE_MS: answerIdleMs } = configuration;
  const description = firstCall(describeApi);
  const asyncApi = firstCall(() => textOf(asyncApiDocument({ version: apiVersion, namespace, partitions })));
  // One for all requests: it remembers what it has logged.
  const isReady = readinessHandler(healthChecks, logger);
  return {
    ...identityLists(readModel),
    getLimits: limitsHandler(readModel, organisationRateLimitOf(configuration)),
    getUsage: usageHandler({ readModel, forwarder }),
    ...invitations,
    ...createAuditHandlers({ readModel, forwarder, answerIdleMs }),
    openApiDocument: jsonDocument(() => description().openApi),
    asyncApiDocument: jsonDocument(asyncApi),
    documentation: page(() => description().page),
    liveness: async (req, res) => {
      await livenessHandler(req, res, () => undefined);
    },
    readiness: async (req, res) => {
      await isReady(req, res, () => undefined);
    },
  };
}

/**
 * Calls the function once, at the first call of the result. The documents take a third of a second of processor time, and most gateways
 * are never asked for them.
 */
function firstCall<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

interface ApiDescription {
  openApi: Buffer;
  page: DocumentationPage;
}

function describeApi(): ApiDescription {
  const openApi = openApiDocument({ version: apiVersion });
  return { openApi: textOf(openApi), page: documentationPage(openApi) };
}

function textOf(document: object): Buffer {
  return Buffer.from(JSON.stringify(document));
}

function jsonDocument(text: () => Buffer): LocalHandlers['openApiDocument'] {
  return (_req, res) => {
    res.type('application/json').send(text());
  };
}

function page(documentation: () => DocumentationPage): LocalHandlers['documentation'] {
  return (_req, res) => {
    const { html, contentSecurityPolicy } = documentation();
    res.setHeader('Content-Security-Policy', contentSecurityPolicy);
    res.type('html').send(html);
  };
}
