// The limits of the caller's organisation.
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { organisations } from '../identity/documents.js';
import { limitsView } from '../identity/limit-model.js';
import type { OrganisationRateLimit } from '../identity/messages.js';
import type { LocalHandlers } from './local.js';

/** @param configured the limit of an organisation without a limit of its own */
export function limitsHandler(
  readModel: ReadModel,
  configured: OrganisationRateLimit,
): LocalHandlers['getLimits'] {
  return async ({ caller }) => {
    const _id = { $eq: uuidToBinary(caller.organisationId) };
    const found = await withClassifiedErrors(() => readModel.collection(organisations).findOne({ _id }));
    return limitsView(found?.value ?? null, configured);
  };
}
