// Takes the calls and events of requests from the quotas of their credential and organisation.
import type { ProblemError } from '@lead-scoring/service';
import type { Response } from 'express';
import type { Caller } from '../credentials/authenticate.js';
import type { QuotaName, Quotas } from '../identity/messages.js';
import { problem } from '../problem.js';
import type { OrganisationLimitsReader } from '../rate-limit/organisation-limits.js';
import {
  isNearlyUsed,
  limitsOf,
  quotaNameOf,
  quotaPeriodsOf,
  type QuotaLimits,
  type QuotaResource,
} from './quota-model.js';
import { showQuotas, type QuotaLeft } from './quota-headers.js';
import type { QuotaOutcome, SharedQuotas } from './shared-quotas.js';

/** A quota of which 80 % are used. */
export interface QuotaWarning {
  organisationId: string;
  /** null: of the organisation. */
  credentialId: string | null;
  quota: QuotaName;
  /** The beginning of the day or month. */
  period: string;
  limit: number;
  used: number;
}

export interface RequestQuotas {
  /**
   * Takes calls or events from all quotas of the caller, or from none.
   * @param res gets the headers that say what is left; absent: no header does
   * @throws ProblemError 429 `quota_used_up`
   */
  take(caller: Caller, resource: QuotaResource, n: number, res?: Response): Promise<void>;
}

export interface RequestQuotasDependencies {
  shared: SharedQuotas;
  organisationLimits: OrganisationLimitsReader;
  /** Called when 80 % of a quota are used; it may be called again in the same period. */
  warn: (warning: QuotaWarning) => void;
}

interface Owned {
  owner: string;
  credentialId: string | null;
  resource: QuotaResource;
  limits: QuotaLimits;
}

export function createRequestQuotas({
  shared,
  organisationLimits,
  warn,
}: RequestQuotasDependencies): RequestQuotas {
  return {
    take: async (caller, resource, n, res) => {
      if (n === 0) return;
      const { quotas } = await organisationLimits.limitsOf(caller.organisationId);
      const taken: { quota: Owned; outcome: QuotaOutcome }[] = [];
      // One after the other: a credential that has used up its own quota takes nothing of the organisation's.
      for (const quota of quotasOf(caller, quotas, resource)) {
        const outcome = await shared.take(quota, n);
        if (!outcome.granted) {
          if (res) showQuotas(res, leftOf(quota, outcome));
          for (const one of taken) shared.giveBack(one.quota, n, one.outcome);
          throw usedUp(quota, n, outcome);
        }
        taken.push({ quota, outcome });
      }
      if (res)
        showQuotas(
          res,
          taken.flatMap(({ quota, outcome }) => leftOf(quota, outcome)),
        );
      for (const { quota, outcome } of taken)
        for (const warning of warningsOf(caller.organisationId, quota, outcome)) warn(warning);
    },
  };
}

function quotasOf(
  { credentialId, organisationId, quotas: own }: Caller,
  ofOrganisation: Quotas | null | undefined,
  resource: QuotaResource,
): Owned[] {
  const quotaOf = (owner: string, quotas: Quotas | null | undefined, id: string | null): Owned[] => {
    const limits = limitsOf(quotas, resource);
    return limits ? [{ owner, credentialId: id, resource, limits }] : [];
  };
  return [
    ...quotaOf(`credential:${credentialId}`, own, credentialId),
    ...quotaOf(`organisation:${organisationId}`, ofOrganisation, null),
  ];
}

const periods = ['month', 'day'] as const;

/** What is left of the quotas of an owner; nothing while the database does not say. */
function leftOf({ credentialId, resource, limits }: Owned, outcome: QuotaOutcome): QuotaLeft[] {
  if (!outcome.isStored) return [];
  const bounds = quotaPeriodsOf(outcome.at);
  return periods.flatMap((period) => {
    const limit = limits[period];
    if (limit === null) return [];
    const { from, to } = bounds[period];
    return [
      {
        owner: credentialId === null ? 'organisation' : 'credential',
        quota: quotaNameOf(resource, period),
        limit,
        left: Math.max(0, limit - (period === 'day' ? outcome.dayUsed : outcome.monthUsed)),
        periodSeconds: (to - from) / 1_000,
        resetsInSeconds: Math.ceil((to - outcome.at) / 1_000),
      },
    ];
  });
}

function warningsOf(
  organisationId: string,
  { credentialId, resource, limits }: Owned,
  outcome: QuotaOutcome,
): QuotaWarning[] {
  const bounds = quotaPeriodsOf(outcome.at);
  return periods.flatMap((period) => {
    const limit = limits[period];
    const used = period === 'day' ? outcome.dayUsed : outcome.monthUsed;
    if (limit === null || !isNearlyUsed(limit, used)) return [];
    const from = new Date(bounds[period].from).toISOString();
    return [
      { organisationId, credentialId, quota: quotaNameOf(resource, period), period: from, limit, used },
    ];
  });
}

/** 429 with the quota that ends last among those that are used up. */
function usedUp({ credentialId, resource, limits }: Owned, n: number, outcome: QuotaOutcome): ProblemError {
  const period = periods.find((one) => {
    const limit = limits[one];
    const used = one === 'day' ? outcome.dayUsed : outcome.monthUsed;
    return limit !== null && used + n > limit;
  });
  const bounds = quotaPeriodsOf(outcome.at)[period ?? 'day'];
  const limit = limits[period ?? 'day'] ?? 0;
  const left = Math.max(0, limit - (period === 'month' ? outcome.monthUsed : outcome.dayUsed));
  const until = new Date(bounds.to).toISOString();
  const whose = credentialId === null ? 'All credentials of this organisation together' : 'This credential';
  const how =
    credentialId === null ? 'PATCH /settings/limits' : 'PATCH /settings/tokens/{id} or /secrets/{id}';
  const shown = (count: number) => count.toLocaleString('en');
  const may =
    resource === 'calls'
      ? `${whose} may make ${shown(limit)} API calls a ${period ?? 'day'} (UTC), and has made them.`
      : `${whose} may send ${shown(limit)} events a ${period ?? 'day'} (UTC), of which ${shown(left)} are left; this request has ${shown(n)}, and none was taken.`;
  const remedy = resource === 'events' && left > 0 ? `Send at most ${shown(left)}, wait` : 'Wait';
  return problem(
    'quota_used_up',
    `${may} ${remedy} until ${until}, or have an admin raise ${quotaNameOf(resource, period ?? 'day')} with ${how}.`,
    { headers: { 'Retry-After': String(Math.max(1, Math.ceil((bounds.to - outcome.at) / 1_000))) } },
  );
}
