// The gateway's own lists: OUs, tokens and service accounts that the caller may see. An organisation has at most a
// thousand of each, so they are read whole and cut into pages here.
import { routes } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { z } from 'zod';
import type { Caller } from '../credentials/authenticate.js';
import { lastUsesOf } from '../credentials/last-use.js';
import { serviceAccountView } from '../identity/account-model.js';
import { orgUnits, serviceAccounts, tokens } from '../identity/documents.js';
import { mayManage, workingUnit, type Credential } from '../identity/state.js';
import { tokenView } from '../identity/token-model.js';
import { orgUnitView } from '../identity/unit-model.js';
import type { LocalHandlers } from './local.js';

type Lists = Pick<LocalHandlers, 'listOrgUnits' | 'listTokens' | 'listServiceAccounts'>;
type PageQuery = z.output<typeof routes.listTokens.query>;

export function identityLists(readModel: ReadModel): Lists {
  return {
    listOrgUnits: async ({ caller, query }) => {
      const found = await withClassifiedErrors(() =>
        readModel.collection(orgUnits).find(inOrganisation(caller)).toArray(),
      );
      const active = await caller.activeOuId();
      const usable = found
        .map(({ value }) => value)
        .filter(({ id, ended }) => !ended && (caller.ouIds === null || caller.ouIds.includes(id)))
        .sort(byAge);
      const working = workingUnit(
        usable.map(({ id }) => id),
        active,
      );
      return pageOf(usable, query, (unit) => orgUnitView(unit, working));
    },
    listTokens: async ({ caller, ouId, query }) => {
      const found = await withClassifiedErrors(() =>
        readModel.collection(tokens).find(inOrganisation(caller)).toArray(),
      );
      const visible = manageable(found, caller, ouId);
      const used = await lastUsesOf(
        readModel,
        onPage(visible, query).map(({ id }) => id),
      );
      return pageOf(visible, query, (token) => tokenView(token, used.get(token.id) ?? null));
    },
    listServiceAccounts: async ({ caller, ouId, query }) => {
      const found = await withClassifiedErrors(() =>
        readModel.collection(serviceAccounts).find(inOrganisation(caller)).toArray(),
      );
      const visible = manageable(found, caller, ouId);
      const used = await lastUsesOf(
        readModel,
        onPage(visible, query).map(({ id }) => id),
      );
      return pageOf(visible, query, (account) => serviceAccountView(account, used.get(account.id) ?? null));
    },
  };
}

function inOrganisation(caller: Caller) {
  return { organisation_id: { $eq: uuidToBinary(caller.organisationId) } };
}

function manageable<Value extends Credential>(
  found: readonly { value: Value }[],
  caller: Caller,
  ouId: string,
): Value[] {
  const manager = { ou_ids: caller.ouIds === null ? null : [...caller.ouIds] };
  return found
    .map(({ value }) => value)
    .filter((credential) => mayManage(manager, credential, ouId))
    .sort(byAge);
}

function byAge(a: { created_at: string; id: string }, b: { created_at: string; id: string }): number {
  const [left, right] = [a.created_at + a.id, b.created_at + b.id];
  return left < right ? -1 : left > right ? 1 : 0;
}

function onPage<Item>(items: readonly Item[], { page, limit }: PageQuery): Item[] {
  return items.slice((page - 1) * limit, page * limit);
}

function pageOf<Item, View>(items: readonly Item[], query: PageQuery, view: (item: Item) => View) {
  return { data: onPage(items, query).map(view), total: items.length, page: query.page, limit: query.limit };
}
