// What the events of the gateway say of organisations, members and credentials. Secrets, and their hashes, are left out.
import type { JsonObject } from '@lead-scoring/contracts';
import { contentOf, gone, partial, whole, type Readings } from './subject-change.js';

const unitsOf = (before: JsonObject | null): string[] =>
  Array.isArray(before?.ou_ids) ? before.ou_ids.map(String) : [];

export const gatewayReadings: Readings<'gateway'> = {
  OrganisationCreated: whole('organisation_id'),
  OrganisationLimited: partial('organisation_id', (payload) => contentOf(payload, ['organisation_id'])),
  OrgUnitCreated: whole('ou_id', ({ name }) => ({ name })),
  OrgUnitRenamed: partial('ou_id', ({ name }) => ({ name })),
  OrgUnitEnded: gone('ou_id'),
  OrgUnitGranted: partial('credential_id', ({ ou_id }, before) => ({ ou_ids: [...unitsOf(before), ou_id] })),
  OrgUnitWithdrawn: partial('credential_id', ({ ou_id }, before) => ({
    ou_ids: unitsOf(before).filter((unit) => unit !== ou_id),
  })),
  TokenCreated: whole('token_id', (payload) => contentOf(payload, ['token_id', 'token_hash'])),
  TokenRevoked: gone('token_id'),
  CredentialLimited: partial('credential_id', (payload) => contentOf(payload, ['credential_id'])),
  ServiceAccountCreated: whole('client_id', (payload) => contentOf(payload, ['client_id', 'secret_hash'])),
  ServiceAccountSecretRotated: partial('client_id', ({ last_four, previous_valid_until }) => ({
    last_four,
    previous_valid_until,
  })),
  ServiceAccountRevoked: gone('client_id'),
  MemberAdded: whole('member_id', (payload) => ({
    ...contentOf(payload, ['member_id', 'invitation_hash']),
    joined: payload.invitation_hash === null,
  })),
  MemberChanged: partial('member_id', ({ email, name, role, ou_ids }) => ({ email, name, role, ou_ids })),
  MemberInvited: partial('member_id', ({ invitation_expires_at }) => ({ invitation_expires_at })),
  MemberJoined: (payload) => [
    {
      id: payload.member_id,
      // A member whom an issuer has made is joined from the first event on: the entry would be empty.
      shows: ['email', 'name', 'role', 'ou_ids', 'joined'],
      after: (before) => ({ ...before, joined: true, invitation_expires_at: null }),
    },
  ],
  MemberRemoved: gone('member_id'),
};
