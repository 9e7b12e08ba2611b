// The stored form of an organisation: one document per organisation, OU and credential, tokens under their hash.
import { defineCollection, uuidToBinary, type Binary } from '@lead-scoring/read-model';
import type { IdentityEvent } from './messages.js';
import type { Organisation, OrganisationState, OrgUnit, ServiceAccount, Token } from './state.js';

interface IdentityDocument<Id, Value> {
  _id: Id;
  organisation_id: Binary;
  value: Value;
  partition: number;
  offset: number;
}

export type OrganisationDocument = IdentityDocument<Binary, Organisation>;
export type OrgUnitDocument = IdentityDocument<Binary, OrgUnit>;
export type TokenDocument = IdentityDocument<string, Token>;
export type ServiceAccountDocument = IdentityDocument<Binary, ServiceAccount>;

const byOrganisation = [{ key: { organisation_id: 1 } }] as const;

export const organisations = defineCollection<OrganisationDocument>({ name: 'organisations', indexes: [] });
export const orgUnits = defineCollection<OrgUnitDocument>({ name: 'org_units', indexes: byOrganisation });
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
      return event.payload.organisation_id;
    case 'OrgUnitCreated':
    case 'OrgUnitRenamed':
    case 'OrgUnitEnded':
      return event.payload.ou_id;
    case 'ActiveOrgUnitSet':
    case 'OrgUnitGranted':
    case 'OrgUnitWithdrawn':
      return event.payload.credential_id;
    case 'TokenCreated':
    case 'TokenRevoked':
      return event.payload.token_id;
    case 'ServiceAccountCreated':
    case 'ServiceAccountSecretRotated':
    case 'ServiceAccountRevoked':
      return event.payload.client_id;
  }
}

export interface IdentityDocuments {
  organisations: OrganisationDocument[];
  orgUnits: OrgUnitDocument[];
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
  const documents: IdentityDocuments = { organisations: [], orgUnits: [], tokens: [], serviceAccounts: [] };
  for (const [id, offset] of changed) {
    const common = { organisation_id, partition, offset };
    const unit = state.units.get(id);
    const credential = state.credentials.get(id);
    if (id === state.organisation?.id)
      documents.organisations.push({ _id: organisation_id, ...common, value: state.organisation });
    else if (unit) documents.orgUnits.push({ _id: uuidToBinary(id), ...common, value: unit });
    else if (credential?.kind === 'token')
      documents.tokens.push({ _id: credential.token_hash, ...common, value: credential });
    else if (credential)
      documents.serviceAccounts.push({ _id: uuidToBinary(id), ...common, value: credential });
  }
  return documents;
}
