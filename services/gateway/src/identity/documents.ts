// The stored form of an organisation: one document per organisation, OU, member and credential, tokens under their hash.
import { defineCollection, uuidToBinary, type Binary } from '@lead-scoring/read-model';
import type { IdentityEvent } from './messages.js';
import type { Member, Organisation, OrganisationState, OrgUnit, ServiceAccount, Token } from './state.js';

interface IdentityDocument<Id, Value> {
  _id: Id;
  organisation_id: Binary;
  value: Value;
  partition: number;
  offset: number;
}

export type OrganisationDocument = IdentityDocument<Binary, Organisation>;
export type OrgUnitDocument = IdentityDocument<Binary, OrgUnit>;
export type MemberDocument = IdentityDocument<Binary, Member> & {
  /** Of the link that can be used; absent: none. */
  invitation_hash?: string;
};
export type TokenDocument = IdentityDocument<string, Token>;
export type ServiceAccountDocument = IdentityDocument<Binary, ServiceAccount>;

const byOrganisation = [{ key: { organisation_id: 1 } }] as const;

export const organisations = defineCollection<OrganisationDocument>({ name: 'organisations', indexes: [] });
export const orgUnits = defineCollection<OrgUnitDocument>({ name: 'org_units', indexes: byOrganisation });
/** Members by id, and by the hash of the link that they may use. */
export const members = defineCollection<MemberDocument>({
  name: 'members',
  indexes: [...byOrganisation, { key: { invitation_hash: 1 }, sparse: true }],
});
/** `_id` is the token's hash, by which every request is looked up. */
export const tokens = defineCollection<TokenDocument>({ name: 'tokens', indexes: byOrganisation });
export const serviceAccounts = defineCollection<ServiceAccountDocument>({
  name: 'service_accounts',
  indexes: byOrganisation,
});

/** The one document that an event changes. */
export function documentChangedBy(event: IdentityEvent): string {
  switch (event.type) {
    case 'OrganisationCreated':
    case 'OrganisationLimited':
      return event.payload.organisation_id;
    case 'QuotaNearlyUsed':
      return event.payload.credential_id ?? event.payload.organisation_id;
    case 'OrgUnitCreated':
    case 'OrgUnitRenamed':
    case 'OrgUnitEnded':
      return event.payload.ou_id;
    case 'ActiveOrgUnitSet':
    case 'OrgUnitGranted':
    case 'OrgUnitWithdrawn':
    case 'CredentialLimited':
      return event.payload.credential_id;
    case 'TokenCreated':
    case 'TokenRevoked':
      return event.payload.token_id;
    case 'ServiceAccountCreated':
    case 'ServiceAccountSecretRotated':
    case 'ServiceAccountRevoked':
      return event.payload.client_id;
    case 'MemberAdded':
    case 'MemberChanged':
    case 'MemberInvited':
    case 'MemberJoined':
    case 'MemberRemoved':
      return event.payload.member_id;
  }
}

export interface IdentityDocuments {
  organisations: OrganisationDocument[];
  orgUnits: OrgUnitDocument[];
  members: MemberDocument[];
  tokens: TokenDocument[];
  serviceAccounts: ServiceAccountDocument[];
}

/** The documents to store for the changed ids. */
export function documentsOf(
  organisationId: string,
  state: OrganisationState,
  changed: Iterable<readonly [id: string, offset: number]>,
  partition: number,
): IdentityDocuments {
  const organisation_id = uuidToBinary(organisationId);
  const documents: IdentityDocuments = {
    organisations: [],
    orgUnits: [],
    members: [],
    tokens: [],
    serviceAccounts: [],
  };
  for (const [id, offset] of changed) {
    const common = { organisation_id, partition, offset };
    const unit = state.units.get(id);
    const member = state.members.get(id);
    const credential = state.credentials.get(id);
    if (id === state.organisation?.id)
      documents.organisations.push({ _id: organisation_id, ...common, value: state.organisation });
    else if (unit) documents.orgUnits.push({ _id: uuidToBinary(id), ...common, value: unit });
    else if (member) documents.members.push(memberDocument(member, common));
    else if (credential?.kind === 'token')
      documents.tokens.push({ _id: credential.token_hash, ...common, value: credential });
    else if (credential)
      documents.serviceAccounts.push({ _id: uuidToBinary(id), ...common, value: credential });
  }
  return documents;
}

function memberDocument(member: Member, common: Omit<MemberDocument, '_id' | 'value'>): MemberDocument {
  const { id, invitation } = member;
  return {
    _id: uuidToBinary(id),
    ...common,
    value: member,
    ...(invitation && { invitation_hash: invitation.hash }),
  };
}
