// Decides on commands about organizational units: create, rename, end, and set the active one. Pure, like `decide`.
import {
  actorIn,
  adminIn,
  doneWith,
  identityLimits,
  noSuchUnit,
  ownerOf,
  rejected,
  withinMember,
  type IdentityDecision,
} from './decision-model.js';
import type {
  CreateOrgUnit,
  EndOrgUnit,
  IdentityEvent,
  RenameOrgUnit,
  SetActiveOrgUnit,
} from './messages.js';
import {
  covers,
  presentMembers,
  sessionOf,
  usableUnits,
  workingUnit,
  type Credential,
  type Member,
  type OrganisationState,
  type OrgUnit,
} from './state.js';

export function createOrgUnit({ id, payload }: CreateOrgUnit, state: OrganisationState): IdentityDecision {
  const { organisation_id, ou_id, name, created_by } = payload;
  const known = state.units.get(ou_id);
  if (known) return { outcome: 'done', events: [], result: orgUnitView(known, null) };
  const creator = adminIn(state, created_by);
  if ('outcome' in creator) return creator;
  if (unitNamed(state, name)) return nameTaken(name);
  if (usableUnits(state, { ou_ids: null }).length >= identityLimits.orgUnits)
    return rejected(
      'limit_reached',
      `An organisation has at most ${String(identityLimits.orgUnits)} organizational units.`,
    );
  if (creator.ou_ids && creator.ou_ids.length >= identityLimits.orgUnitsOfCredential)
    return rejected(
      'limit_reached',
      `A credential is limited to at most ${String(identityLimits.orgUnitsOfCredential)} organizational units, and this one would get the new one as well. Use a credential for every organizational unit.`,
    );
  const at = payload.requested_at;
  const events: IdentityEvent[] = [
    ...keepingTheOnlyUnit(state, creator, at, organisation_id, id),
    {
      type: 'OrgUnitCreated',
      payload: { organisation_id, ou_id, name, created_by, at },
      command_id: id,
    },
  ];
  events.push(...grantsTo(state, created_by, { organisation_id, ou_id, at }, id));
  return doneWith(state, events, (after) => {
    const unit = after.units.get(ou_id);
    return unit && orgUnitView(unit, null);
  });
}

/** Gives a new OU to its creator, and to the creator's member, where they are limited to some OUs: they could not use it otherwise. */
function grantsTo(
  state: OrganisationState,
  creatorId: string,
  { organisation_id, ou_id, at }: UnitChange,
  command_id: string,
): IdentityEvent[] {
  const creator = state.credentials.get(creatorId);
  const member = creator ? ownerOf(state, creator) : state.members.get(creatorId);
  const events: IdentityEvent[] = [];
  if (member?.ou_ids)
    events.push(memberWith(member, [...member.ou_ids, ou_id], { organisation_id, at }, command_id));
  if (creator?.ou_ids)
    events.push({
      type: 'OrgUnitGranted',
      payload: { organisation_id, credential_id: creatorId, ou_id, at },
      command_id,
    });
  return events;
}

interface UnitChange {
  organisation_id: string;
  ou_id: string;
  at: string;
}

/** The member with other OUs. */
function memberWith(
  { id, email, name, role, version }: Member,
  ou_ids: string[],
  common: { organisation_id: string; at: string },
  command_id: string,
): IdentityEvent {
  return {
    type: 'MemberChanged',
    payload: { ...common, member_id: id, email, name, role, ou_ids, version: version + 1 },
    command_id,
  };
}

export function renameOrgUnit({ id, payload }: RenameOrgUnit, state: OrganisationState): IdentityDecision {
  const { organisation_id, ou_id, name, requested_by, requested_at: at } = payload;
  const actor = adminIn(state, requested_by);
  if ('outcome' in actor) return actor;
  const unit = usableUnits(state, actor).find((one) => one.id === ou_id);
  if (!unit) return noSuchUnit(ou_id);
  const namesake = unitNamed(state, name);
  if (namesake && namesake.id !== ou_id) return nameTaken(name);
  const events: IdentityEvent[] =
    unit.name === name
      ? []
      : [{ type: 'OrgUnitRenamed', payload: { organisation_id, ou_id, name, at }, command_id: id }];
  const usable = usableUnits(state, actor).map((one) => one.id);
  return doneWith(state, events, (after) => {
    const renamed = after.units.get(ou_id);
    return renamed && orgUnitView(renamed, workingUnit(usable, actor.active_ou_id));
  });
}

/**
 * Ends an OU, and the credentials that may use no other; a credential whose active OU it was must choose another one. A member whose only
 * OU it was stays, and can do nothing before an admin gives them another one.
 */
export function endOrgUnit({ id, payload }: EndOrgUnit, state: OrganisationState): IdentityDecision {
  const { organisation_id, ou_id, requested_by, requested_at: at } = payload;
  if (state.units.get(ou_id)?.ended?.command_id === id) return { outcome: 'done', events: [] };
  const actor = adminIn(state, requested_by);
  if ('outcome' in actor) return actor;
  const usable = usableUnits(state, actor);
  if (!usable.some((unit) => unit.id === ou_id)) return noSuchUnit(ou_id);
  if (usable.length === 1)
    return rejected(
      'last_org_unit',
      usableUnits(state, { ou_ids: null }).length === 1
        ? 'This is the only organizational unit of the organisation, which must keep one. Create another one first, or rename this one.'
        : 'This is the only organizational unit that this credential may use. End it with a credential that may use another one as well.',
    );
  const withdrawn = [...state.credentials.values()].flatMap((credential): IdentityEvent[] => {
    if (credential.revoked || !credential.ou_ids?.includes(ou_id)) return [];
    return [withoutUnit(credential, { organisation_id, ou_id, at }, id)];
  });
  const changed = presentMembers(state).flatMap((member): IdentityEvent[] => {
    if (!member.ou_ids?.includes(ou_id)) return [];
    const others = member.ou_ids.filter((one) => one !== ou_id);
    return [memberWith(member, others, { organisation_id, at }, id)];
  });
  return {
    outcome: 'done',
    events: [
      { type: 'OrgUnitEnded', payload: { organisation_id, ou_id, at }, command_id: id },
      ...withdrawn,
      ...changed,
    ],
  };
}

/** Withdraws the OU from a credential. A credential without another OU ends, because no caller could list or end it later. */
function withoutUnit(
  credential: Credential,
  { organisation_id, ou_id, at }: UnitChange,
  command_id: string,
): IdentityEvent {
  const { id, kind, ou_ids } = credential;
  if (ou_ids && ou_ids.length > 1)
    return {
      type: 'OrgUnitWithdrawn',
      payload: { organisation_id, credential_id: id, ou_id, at },
      command_id,
    };
  return kind === 'token'
    ? { type: 'TokenRevoked', payload: { organisation_id, token_id: id, at }, command_id }
    : { type: 'ServiceAccountRevoked', payload: { organisation_id, client_id: id, at }, command_id };
}

/**
 * Makes the only OU the active one of the credentials that get a second OU and have not set an active one: they stay in the first.
 */
function keepingTheOnlyUnit(
  state: OrganisationState,
  creator: Credential,
  at: string,
  organisation_id: string,
  commandId: string,
): IdentityEvent[] {
  const all = usableUnits(state, { ou_ids: null }).map(({ id }) => id);
  const member = ownerOf(state, creator);
  const onlyUnitOf = (credential: Credential): string | undefined => {
    const { ou_ids } = withinMember(state, credential);
    const usable = ou_ids ?? all;
    // Tokens for every OU of the creator's member get the new one as well.
    const isSiblings = credential.ou_ids === null && member && ownerOf(state, credential)?.id === member.id;
    const gainsAnother = ou_ids === null || credential.id === creator.id || isSiblings === true;
    return gainsAnother && usable.length === 1 ? usable[0] : undefined;
  };
  const sessions = [...state.members.values()].filter(({ removed }) => !removed).map(sessionOf);
  return [...state.credentials.values(), ...sessions].flatMap((credential) => {
    const ou_id = onlyUnitOf(credential);
    if (ou_id === undefined || credential.revoked || credential.active_ou_id !== null) return [];
    return [activeSet({ organisation_id, credential_id: credential.id, ou_id, at }, commandId)];
  });
}

export function setActiveOrgUnit(
  { id, payload }: SetActiveOrgUnit,
  state: OrganisationState,
): IdentityDecision {
  const { organisation_id, credential_id, ou_id } = payload;
  const credential = actorIn(state, credential_id);
  if ('outcome' in credential) return credential;
  const unit = state.units.get(ou_id);
  if (!unit || !isUsable(state, credential, ou_id)) return noSuchUnit(ou_id);
  const result = { ouId: unit.id, name: unit.name };
  if (credential.active_ou_id === ou_id) return { outcome: 'done', events: [], result };
  return {
    outcome: 'done',
    events: [activeSet({ organisation_id, credential_id, ou_id, at: payload.requested_at }, id)],
    result,
  };
}

export function activeSet(
  payload: Extract<IdentityEvent, { type: 'ActiveOrgUnitSet' }>['payload'],
  command_id: string,
): IdentityEvent {
  return { type: 'ActiveOrgUnitSet', payload, command_id };
}

export function isUsable(state: OrganisationState, { ou_ids }: Credential, ouId: string): boolean {
  const unit = state.units.get(ouId);
  return unit !== undefined && !unit.ended && covers(ou_ids, [ouId]);
}

/** The OU with a name, among those that have not ended. */
export function unitNamed(state: OrganisationState, name: string): OrgUnit | undefined {
  const wanted = nameKey(name);
  return usableUnits(state, { ou_ids: null }).find((unit) => nameKey(unit.name) === wanted);
}

/** The form in which names are compared: names that look the same to people have the same form. */
function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

function nameTaken(name: string) {
  return rejected(
    'duplicate_name',
    `There is an organizational unit named "${name}" already. Choose another name.`,
  );
}

/** An OU as API answers show it. */
export function orgUnitView(unit: OrgUnit, activeOuId: string | null) {
  return { id: unit.id, name: unit.name, active: unit.id === activeOuId, created_at: unit.created_at };
}
