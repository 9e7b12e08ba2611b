// Takes the events of an uploaded table from the quotas of the caller, before the import is started.
import { routeDeclarations, type LeadImportMapping } from '@lead-scoring/contracts';
import type { CommandContent, CommandRequest } from '../commands/command-request.js';
import type { RequestQuotas } from '../quotas/request-quotas.js';
import type { Forwarder } from '../reads/forward.js';
import { bodyOfAnswer } from '../reads/look-ups.js';

export interface TableChargeDependencies {
  quotas: Pick<RequestQuotas, 'takeTable'>;
  forwarder: Pick<Forwarder, 'askFor'>;
}

/**
 * Takes what a command will bring in from quotas of events.
 * @returns puts it back, for a command that is rejected
 * @throws ProblemError 429 `quota_used_up`
 */
export type Charge = (
  routeName: string,
  request: CommandRequest,
  content: CommandContent,
) => Promise<() => void>;

const { countLeadImportRows, startLeadImport } = routeDeclarations;

export function createTableCharge({ quotas, forwarder }: TableChargeDependencies): Charge {
  return async (routeName, { req, caller, ouId, commandId }, { body }) => {
    if (routeName !== startLeadImport.name) return () => undefined;
    const { file_id, event_mappings } = body as LeadImportMapping & { file_id: string };
    const count = async () => {
      const path = countLeadImportRows.path.replace('{fileId}', file_id.toLowerCase());
      const answer = await forwarder.askFor(req, ouId)('ingest', `${path}?job_id=${commandId}`);
      const { rows } = await bodyOfAnswer(countLeadImportRows.responses[200].schema, answer);
      return { rows, eventsPerRow: 1 + event_mappings.length };
    };
    return quotas.takeTable(caller, count, req.res);
  };
}
