// The handlers of the routes of kind `local`: the gateway's lists, the documents that describe the API, and its health.
import { asyncApiDocument } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { livenessHandler, readinessHandler, type HealthCheck, type Logger } from '@lead-scoring/service';
import type { Response } from 'express';
import { organisationRateLimitOf, type GatewayConfiguration } from '../configuration.js';
import { usageHandler } from '../usage/handler.js';
import type { Invitations } from '../invitations/handlers.js';
import { createAuditHandlers } from '../audit/handlers.js';
import type { Forwarder } from './forward.js';
import { apiVersion } from './api-version.js';
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

export function createLocalHandlers(
  configuration: GatewayConfiguration,
  { readModel, invitations, forwarder, healthChecks, logger }: LocalDependencies,
): LocalHandlers {
  const { NAMESPACE: namespace, PARTITIONS: partitions, ANSWER_IDLE_MS: answerIdleMs } = configuration;
  const documents = firstCall(describeApi);
  const asyncApi = firstCall(() =>
    bytesOf(JSON.stringify(asyncApiDocument({ version: apiVersion, namespace, partitions }))),
  );
  // One for all requests: it remembers what it has logged.
  const isReady = readinessHandler(healthChecks, logger);
  return {
    ...identityLists(readModel),
    getLimits: limitsHandler(readModel, organisationRateLimitOf(configuration)),
    getUsage: usageHandler({ readModel, forwarder }),
    ...invitations,
    ...createAuditHandlers({ readModel, forwarder, answerIdleMs }),
    openApiDocument: async (_req, res) => {
      sendJson(res, (await documents()).openApi);
    },
    asyncApiDocument: (_req, res) => {
      sendJson(res, asyncApi());
    },
    documentation: async (_req, res) => {
      const { html, contentSecurityPolicy } = (await documents()).page;
      res.setHeader('Content-Security-Policy', contentSecurityPolicy);
      res.type('html').send(html);
    },
    liveness: async (req, res) => {
      await livenessHandler(req, res, () => undefined);
    },
    readiness: async (req, res) => {
      await isReady(req, res, () => undefined);
    },
  };
}

/** Calls the function once, at the first call of the result: most gateways are never asked for the documents. */
function firstCall<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

async function describeApi() {
  const { openApiText, documentation } = await import('./documents.computed.js');
  return { openApi: bytesOf(openApiText()), page: documentation() };
}

const bytesOf = (text: string) => Buffer.from(text);

function sendJson(res: Response, text: Buffer): void {
  res.type('application/json').send(text);
}
