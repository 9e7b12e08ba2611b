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
  const openApi = openApiDocument({ version: apiVersion });
  // One for all requests: it remembers what it has logged.
  const isReady = readinessHandler(healthChecks, logger);
  return {
    ...identityLists(readModel),
    getLimits: limitsHandler(readModel, organisationRateLimitOf(configuration)),
    getUsage: usageHandler({ readModel, forwarder }),
    ...invitations,
    ...createAuditHandlers({ readModel, forwarder, answerIdleMs }),
    openApiDocument: jsonDocument(openApi),
    asyncApiDocument: jsonDocument(asyncApiDocument({ version: apiVersion, namespace, partitions })),
    documentation: page(documentationPage(openApi)),
    liveness: async (req, res) => {
      await livenessHandler(req, res, () => undefined);
    },
    readiness: async (req, res) => {
      await isReady(req, res, () => undefined);
    },
  };
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
