// Sends the command that records that a quota is nearly used: once for each quota, period and limit from this process. Which of several gateways
// is first does not matter, since the event is recorded once.
import { randomUUID } from 'node:crypto';
import { records } from '@lead-scoring/contracts';
import { outgoing, type Requester } from '@lead-scoring/event-log';
import { createBoundedCache } from '@lead-scoring/read-model';
import type { Logger } from '@lead-scoring/service';
import type { CommandSignature } from '../identity/command-signature.js';
import type { QuotaWarning } from './request-quotas.js';

export interface QuotaWarningDependencies {
  requester: Requester;
  signature: Pick<CommandSignature, 'sign'>;
  logger: Logger;
  replyTimeoutMs: number;
}

const maximumRemembered = 20_000;

export function createQuotaWarnings({
  requester,
  signature,
  logger,
  replyTimeoutMs,
}: QuotaWarningDependencies): (warning: QuotaWarning) => void {
  const sent = createBoundedCache<true>({ maximumEntries: maximumRemembered });
  return ({ organisationId, credentialId, quota, period, limit, used }) => {
    // With another limit it is another warning: the decider records it where the limit was raised.
    const key = `${credentialId ?? organisationId} ${quota} ${period} ${String(limit)}`;
    if (sent.has(key)) return;
    sent.set(key, true);
    const id = randomUUID();
    const command = outgoing(records.warnOfQuota, {
      key: organisationId,
      payload: {
        organisation_id: organisationId,
        credential_id: credentialId,
        quota,
        period,
        limit,
        used,
        requested_at: new Date().toISOString(),
        actor: { kind: 'system', id: 'quotas' },
      },
      headers: { id, actor: 'quotas' },
    });
    requester.request(signature.sign(command), { timeoutMs: replyTimeoutMs }).catch((error: unknown) => {
      // The next request of the quota tries again.
      sent.delete(key);
      logger.warn({ err: error }, 'it could not be recorded that a quota is nearly used');
    });
  };
}
