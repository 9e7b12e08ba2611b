// The gateway's own lists: OUs, members, tokens and service accounts that the caller may see. An organisation has at most a
// thousand of each, so they are read whole and cut into pages here.
import { routes } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { z } from 'zod';
import type { Caller } from '../credentials/authenticate.js';
import { lastUsesOf } from '../credentials/last-use.js';
import { serviceAccountView } from '../identity/account-model.js';
import { members, organisations, orgUnits, serviceAccounts, tokens } from '../identity/documents.js';
import { memberView } from '../identity/member-model.js';
import {
  covers,
  mayManage,
  mayManageToken,
  memberIdOf,
  presentMembers,
  tokenWithin,
  workingUnit,
  type Credential,
  type Member,
  type Token,
} from '../identity/state.js';
import { tokenView } from '../identity/token-model.js';
import { orgUnitView } from '../identity/unit-model.js';
import type { LocalHandlers } from './local.js';

type Lists = Pick<LocalHandlers, 'listOrgUnits' | 'listMembers' | 'listTokens' | 'listServiceAccounts'>;
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
    listMembers: async ({ caller, query }) => {
      const visible = (await membersOf(readModel, caller))
        .filter(({ ou_ids }) => covers(caller.ouIds, ou_ids))
        .sort(byAge);
      return pageOf(visible, query, memberView);
    },
    listTokens: async ({ caller, ouId, query }) => {
      const visible = await visibleTokens(readModel, caller, ouId);
      const used = await lastUsesOf(
        readModel,
        onPage(visible, query).map(({ id }) => id),
      );
      return pageOf(visible, query, (token) =>
        tokenView(caller.organisationId, token, used.get(token.id) ?? null),
      );
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

/** The members of the caller's organisation who have not been removed. */
async function membersOf(readModel: ReadModel, caller: Caller): Promise<Member[]> {
  const _id = { $eq: uuidToBinary(caller.organisationId) };
  const [organisation, found] = await withClassifiedErrors(() =>
    Promise.all([
      readModel.collection(organisations).findOne({ _id }),
      readModel.collection(members).find(inOrganisation(caller)).toArray(),
    ]),
  );
  return presentMembers({
    organisation: organisation?.value ?? null,
    members: new Map(found.map(({ value }) => [value.id, value])),
  });
}

/** The tokens that the caller may see, each within what its member may do. */
async function visibleTokens(readModel: ReadModel, caller: Caller, ouId: string): Promise<Token[]> {
  const [present, found] = await Promise.all([
    membersOf(readModel, caller),
    withClassifiedErrors(() => readModel.collection(tokens).find(inOrganisation(caller)).toArray()),
  ]);
  const owners = new Map(present.map((member) => [member.id, member]));
  const isAdmin = caller.scopes.includes('admin');
  const manager = { ou_ids: unitsOf(caller), isAdmin, memberId: caller.memberId };
  return found
    .flatMap(({ value }) => {
      const ownerId = memberIdOf(value, caller.organisationId);
      const owner = owners.get(ownerId);
      const token = owner && tokenWithin(value, owner);
      return token && mayManageToken(manager, token, { ownerId, ouId }) ? [token] : [];
    })
    .sort(byAge);
}

function unitsOf({ ouIds }: Caller): string[] | null {
  return ouIds === null ? null : [...ouIds];
}

function inOrganisation(caller: Caller) {
  return { organisation_id: { $eq: uuidToBinary(caller.organisationId) } };
}

function manageable<Value extends Credential>(
  found: readonly { value: Value }[],
  caller: Caller,
  ouId: string,
): Value[] {
  const manager = { ou_ids: unitsOf(caller) };
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
