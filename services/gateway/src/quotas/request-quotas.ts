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
  /**
   * Takes the events of a table that is to be imported from all quotas of the caller, or from none.
   * @param count reads the table's rows; it is called only where there is a quota of events
   * @returns puts the events back, for an import that is refused
   * @throws ProblemError 429 `quota_used_up`
   */
  takeTable(caller: Caller, count: () => Promise<TableRows>, res?: Response): Promise<() => void>;
}

/** The rows of a table, and the events that each may give. */
export interface TableRows {
  rows: number;
  eventsPerRow: number;
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
  const ownedBy = async (caller: Caller, resource: QuotaResource): Promise<Owned[]> => {
    const { quotas } = await organisationLimits.limitsOf(caller.organisationId);
    return quotasOf(caller, quotas, resource);
  };
  /** @returns puts back what was taken */
  const takeFrom = async (
    { organisationId }: Caller,
    owned: readonly Owned[],
    sent: Sent,
    res: Response | undefined,
  ): Promise<() => void> => {
    const { n } = sent;
    const taken: { quota: Owned; outcome: QuotaOutcome }[] = [];
    const giveBack = () => {
      for (const one of taken) shared.giveBack(one.quota, n, one.outcome);
    };
    // One after the other: a credential that has used up its own quota takes nothing of the organisation's.
    for (const quota of owned) {
      const outcome = await shared.take(quota, n);
      if (!outcome.granted) {
        if (res) showQuotas(res, leftOf(quota, outcome));
        giveBack();
        throw usedUp(quota, sent, outcome);
      }
      taken.push({ quota, outcome });
    }
    if (res)
      showQuotas(
        res,
        taken.flatMap(({ quota, outcome }) => leftOf(quota, outcome)),
      );
    for (const { quota, outcome } of taken)
      for (const warning of warningsOf(organisationId, quota, outcome)) warn(warning);
    return giveBack;
  };
  return {
    take: async (caller, resource, n, res) => {
      if (n > 0) await takeFrom(caller, await ownedBy(caller, resource), { n }, res);
    },
    takeTable: async (caller, count, res) => {
      const owned = await ownedBy(caller, 'events');
      if (owned.length === 0) return () => undefined;
      const table = await count();
      const n = table.rows * table.eventsPerRow;
      return n === 0 ? () => undefined : takeFrom(caller, owned, { n, table }, res);
    },
  };
}

/** The calls or events that are to be taken. */
interface Sent {
  n: number;
  /** Where they come from a table. */
  table?: TableRows;
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
function usedUp({ credentialId, resource, limits }: Owned, sent: Sent, outcome: QuotaOutcome): ProblemError {
  const period =
    periods.find((one) => {
      const limit = limits[one];
      const used = one === 'day' ? outcome.dayUsed : outcome.monthUsed;
      return limit !== null && used + sent.n > limit;
    }) ?? 'day';
  const bounds = quotaPeriodsOf(outcome.at)[period];
  const limit = limits[period] ?? 0;
  const left = Math.max(0, limit - (period === 'month' ? outcome.monthUsed : outcome.dayUsed));
  const whose = credentialId === null ? 'All credentials of this organisation together' : 'This credential';
  const how =
    credentialId === null ? 'PATCH /settings/limits' : 'PATCH /settings/tokens/{id} or /secrets/{id}';
  const may =
    resource === 'calls'
      ? `${whose} may make ${shown(limit)} API calls a ${period} (UTC), and has made them.`
      : `${whose} may send ${shown(limit)} events a ${period} (UTC), of which ${shown(left)} are left; ${refusedOf(sent)}`;
  const remedy = resource === 'calls' ? 'Wait' : remedyOf(sent, { limit, left });
  return problem(
    'quota_used_up',
    `${may} ${remedy} until ${new Date(bounds.to).toISOString()}, or have an admin raise ${quotaNameOf(resource, period)} with ${how}.`,
    { headers: { 'Retry-After': String(Math.max(1, Math.ceil((bounds.to - outcome.at) / 1_000))) } },
  );
}

const shown = (count: number) => count.toLocaleString('en');

/** What is refused, at the end of a sentence. */
function refusedOf({ n, table }: Sent): string {
  if (!table) return `this request has ${shown(n)}, and none was taken.`;
  const { rows, eventsPerRow } = table;
  const events = eventsPerRow === 1 ? '' : `, which give up to ${shown(n)} events`;
  return `this table has ${shown(rows)} rows${events}, and no import was started.`;
}

/** What may be sent at once, and the beginning of what else helps. */
function remedyOf({ n, table }: Sent, { limit, left }: { limit: number; left: number }): string {
  const perItem = table?.eventsPerRow ?? 1;
  const [now, atMost] = [Math.floor(left / perItem), Math.floor(limit / perItem)];
  const send = table ? 'Import a table of' : 'Send';
  const atOnce = now > 0 ? `${send} at most ${shown(now)}${table ? ' rows' : ''}, wait` : 'Wait';
  if (!table || n <= limit || atMost === 0) return atOnce;
  return `Divide the table into parts of at most ${shown(atMost)} rows. ${atOnce}`;
}
