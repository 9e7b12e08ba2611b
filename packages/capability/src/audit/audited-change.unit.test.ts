// The changes that the audit trail shows: no secret, of a lead only ids, and no change that nobody asked for.
import { describe, expect, test } from '@jest/globals';
import { auditedChange } from './audited-change.js';

/** The names of fields that hold a secret, a hash of one, or a sealed one. */
const secret = /hash|sealed|signing_secret/;

function secretFieldsIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(secret.test(name) ? [name] : []),
    ...secretFieldsIn(inner),
  ]);
}

const id = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
const other = '1b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
const at = '2026-01-31T09:30:00.000Z';
const hash = 'ab'.repeat(32);
const stated = (service: 'gateway' | 'notification', type: string, payload: object) =>
  auditedChange(service, { type, payload: { at, ...payload } })?.subjects.map((subject) =>
    subject.after(null),
  );

describe('secrets', () => {
  test.each([
    ['TokenCreated', { token_id: id, name: 'CI', token_hash: hash, last_four: 'abcd', role: 'editor' }],
    ['ServiceAccountCreated', { client_id: id, name: 'CRM', secret_hash: hash, last_four: 'abcd' }],
    ['ServiceAccountSecretRotated', { client_id: id, secret_hash: hash, last_four: 'abcd' }],
    ['MemberAdded', { member_id: id, name: 'Ada', invitation_hash: hash, invitation_expires_at: at }],
    ['MemberInvited', { member_id: id, invitation_hash: hash, invitation_expires_at: at }],
  ])('of a %s are left out, also as hashes', (type, payload) => {
    const states = stated('gateway', type, { organisation_id: other, ...payload });
    expect(secretFieldsIn(states)).toEqual([]);
    expect(JSON.stringify(states)).not.toContain(hash);
  });

  test('of a channel are shown by their end and by a mark that changes when they are set anew', () => {
    const channel = (sealed: string) => ({
      ou_id: other,
      channel_id: id,
      name: 'CRM',
      destination: {
        type: 'webhook',
        config: {
          url: { sealed: `url${sealed}`, origin: 'https://crm.example', last_four: 'hook' },
          auth_header: { sealed, last_four: '4711' },
        },
      },
      signing_key_id: id,
      signing_secret: 'sealed-signing-secret',
    });
    const [first] = stated('notification', 'ChannelCreated', channel('one')) ?? [];
    const [second] = stated('notification', 'ChannelCreated', channel('two')) ?? [];
    expect(secretFieldsIn(first)).toEqual([]);
    expect(JSON.stringify(first)).not.toContain('sealed');
    expect(first).toMatchObject({
      url: expect.stringMatching(/^https:\/\/crm\.example\/…hook \(set as [0-9a-f]{8}\)$/),
      auth_header: expect.stringMatching(/^…4711 \(set as [0-9a-f]{8}\)$/),
    });
    expect(second?.auth_header).not.toEqual(first?.auth_header);
    expect(stated('notification', 'ChannelCreated', channel('one'))).toEqual([first]);
  });
});

test('of a lead only ids are in the trail', () => {
  const alias = { alias_kind: 'email', alias: 'ada@example.com' };
  const change = auditedChange('ingest', {
    type: 'AliasUnlinked',
    payload: { ou_id: other, alias, alias_lead_id: id, lead_id: other, unlinked_at: at },
  });
  expect(change).toMatchObject({ at, kind: 'lead', action: 'unmerged', ouId: other });
  expect(JSON.stringify(change?.subjects.map((one) => [one.before, one.after(null)]))).not.toContain('ada');
});

test('what nobody asked for has no entry: a visitor who becomes known, a link of a notification, a preview', () => {
  const none = (service: 'ingest' | 'share' | 'scoring', type: string, payload: object) => {
    expect(auditedChange(service, { type, payload: { ou_id: other, at, ...payload } })).toBeNull();
  };
  none('ingest', 'LeadDeleted', { lead_id: id, deleted_at: at, joined_to: other });
  none('ingest', 'LeadDeleted', { lead_id: id, deleted_at: at, linked_to: other });
  none('share', 'ShareCreated', { share_id: id, actor: { kind: 'trigger', id } });
  none('scoring', 'ScoreAdjusted', { lead_id: id, decided_at: at });
  none('scoring', 'JobStarted', { job_id: id, work: { kind: 'what-if' } });
  none('scoring', 'JobStarted', { job_id: id, work: { kind: 'rescoring', dry_run: true } });
});
