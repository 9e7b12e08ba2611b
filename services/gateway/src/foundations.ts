// The parts that all others of the gateway need: secrets, databases, the log, and the processor of identity.
import { createServiceProcessor } from '@lead-scoring/capability';
import { createEventLogComponent, type EventLog, type ProcessorStatus } from '@lead-scoring/event-log';
import { createReadModelComponent, ensureExpiry, type ReadModel } from '@lead-scoring/read-model';
import { secretsInForce, type ComponentScope, type Logger } from '@lead-scoring/service';
import type { GatewayConfiguration } from './configuration.js';
import { refusedSignIns } from './audit/refused-sign-ins.js';
import { lastUses } from './credentials/last-use.js';
import { answers } from './idempotency/write-claim.js';
import {
  createCommandSignature,
  type CommandSignature,
  type TokenSecrets,
} from './identity/command-signature.js';
import { quotaUses } from './quotas/quota-documents.js';
import { buckets } from './rate-limit/bucket-documents.js';
import { callCounts } from './usage/call-documents.js';
import { gatewayService } from './service.js';

export interface Foundations {
  tokenSecrets: TokenSecrets;
  /** Signs commands to the gateway's own topic. */
  signature: CommandSignature;
  readModel: ReadModel;
  /** With a short timeout, because requests wait for it. */
  requestReadModel: ReadModel;
  log: EventLog;
  processor: ProcessorStatus;
}

const service = 'gateway';

export async function openFoundations(
  configuration: GatewayConfiguration,
  scope: ComponentScope,
  { logger, onFatal }: { logger: Logger; onFatal: (error: unknown) => void },
): Promise<Foundations> {
  const { current, previous, next } = secretsInForce('TOKEN_SECRET', configuration);
  const tokenSecrets = [current, ...[previous, next].filter((secret) => secret !== undefined)] as const;
  const signature = createCommandSignature(tokenSecrets);
  const identity = gatewayService({ signature });
  const readModel = await scope.start(
    createReadModelComponent(configuration, {
      service,
      collections: [
        ...identity.collections,
        lastUses,
        buckets,
        answers,
        callCounts,
        quotaUses,
        refusedSignIns,
      ],
      logger,
    }),
  );
  await ensureExpiry(readModel, [buckets, answers, callCounts, quotaUses, refusedSignIns]);
  const requestReadModel = await scope.start(
    createReadModelComponent(configuration, {
      name: 'read model for requests',
      service,
      collections: [],
      logger,
      // A quick answer from stale values is better than one after many seconds.
      timeoutMs: 1_500,
    }),
  );
  const log = await scope.start(createEventLogComponent(configuration, { service, logger }));
  const processor = await scope.start(
    // The gateway accepts events also without the database; a restart, which needs the database, would end that.
    createServiceProcessor(log, identity, {
      readModel,
      commandsTo: ['notification.commands'],
      logger,
      onFatal,
      outlivesDatabase: true,
    }),
  );
  return { tokenSecrets, signature, readModel, requestReadModel, log, processor };
}
