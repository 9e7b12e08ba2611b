// The limits that an administrator has set for all credentials of an organisation together. Every request needs them, so they are
// cached for seconds.
import { isRetriable, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { createFreshCache } from '../credentials/fresh-cache.js';
import type { DatabaseGate } from '../database-gate.js';
import { organisations } from '../identity/documents.js';
import type { Organisation } from '../identity/state.js';

export type OrganisationLimits = Pick<Organisation, 'rate_limit' | 'quotas'>;

export interface OrganisationLimitsReader {
  /** The limits as of the last seconds; none while the database is away and they are not known. */
  limitsOf(organisationId: string): Promise<OrganisationLimits>;
  /** Makes the next look-ups read anew, because this process has just changed something. */
  forget(): void;
}

const maximumAgeMs = 3_000;
/** The time for which limits that are known hold while the database is away. */
const staleMs = 30 * 60_000;

/** @param readModel with a short timeout: requests wait for it */
export function createOrganisationLimits(
  readModel: Pick<ReadModel, 'collection'>,
  gate: DatabaseGate,
): OrganisationLimitsReader {
  const cache = createFreshCache<OrganisationLimits>({
    maximumAgeMs,
    staleMs,
    maximumEntries: 1_000,
    load: (organisationId) =>
      gate.run(async () => {
        const _id = uuidToBinary(organisationId);
        const found = await readModel.collection(organisations).findOne({ _id });
        const { rate_limit = null, quotas = null } = found?.value ?? {};
        return { rate_limit, quotas };
      }),
  });
  return {
    limitsOf: async (organisationId) => {
      try {
        return (await cache.get(organisationId)) ?? {};
      } catch (error) {
        // The configured limit holds; a request is not refused for want of the one that was set.
        if (isRetriable(error)) return {};
        throw error;
      }
    },
    forget: () => {
      cache.clear();
    },
  };
}
