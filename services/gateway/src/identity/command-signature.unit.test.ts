// A signed command is accepted unchanged, and refused with any change.
import { expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';
import { createToken, idOf, organisationId } from '../testing/builders.js';
import { createCommandSignature } from './command-signature.js';

const secret = 'a secret that only gateways have, long enough';
const older = 'the secret of before, which is as long as that';

const command = outgoing(records.createToken, {
  key: organisationId,
  payload: createToken('made').payload as never,
  headers: { id: idOf('made'), actor: 'token:root' },
});

/** The record as it comes from the log. */
function received({ declaration, key, payload, headers }: OutgoingRecord): IncomingRecord {
  return {
    type: declaration.type,
    topic: declaration.topic,
    partition: 0,
    offset: 7n,
    key,
    payload: JSON.parse(JSON.stringify(payload)) as unknown,
    headers: { type: declaration.type, id: '', time: '2026-01-01T00:00:00.000Z', ...headers },
  };
}

test('a signed command is accepted with the headers that the log adds', () => {
  const signature = createCommandSignature([secret]);
  const incoming = received(signature.sign(command));
  expect(signature.isSigned(incoming)).toBe(true);
  expect(signature.isSigned({ ...incoming, headers: { ...incoming.headers, 'reply-to': 'other' } })).toBe(
    true,
  );
});

const signed = received(createCommandSignature([secret]).sign(command));
test.each<[string, Partial<IncomingRecord>]>([
  ['type', { type: 'CreateServiceAccount' }],
  ['key', { key: idOf('another organisation') }],
  ['id', { headers: { ...signed.headers, id: idOf('another') } }],
  ['actor', { headers: { ...signed.headers, actor: 'token:another' } }],
  ['payload', { payload: { ...(signed.payload as object), role: 'admin' } }],
  ['signature', { headers: { ...signed.headers, signature: 'AAAA' } }],
  ['signature (none)', { headers: { ...signed.headers, signature: undefined } }],
])('a command with another %s is refused', (_part, change) => {
  expect(createCommandSignature([secret]).isSigned({ ...signed, ...change })).toBe(false);
});

test('while the secret is exchanged, commands signed with the previous one are accepted, with any other not', () => {
  const before = received(createCommandSignature([older]).sign(command));
  expect(createCommandSignature([secret, older]).isSigned(before)).toBe(true);
  expect(createCommandSignature([secret]).isSigned(before)).toBe(false);
});
