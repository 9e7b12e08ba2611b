// Promises 23 and 24: the official verifier of Standard Webhooks accepts the signatures.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { channelOf, idOf } from '../testing/delivery-builders.js';
import { signingKeysOf } from './senders/webhook.js';
import { signatureHeaders } from './sign.js';

const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`;
const secret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(secretOf);
const text = fc.string({ unit: 'binary', maxLength: 500 }).map((value) => value.toWellFormed());
const body = fc
  .record({ type: fc.string(), timestamp: fc.string(), data: fc.dictionary(text, text) })
  .map((value) => JSON.stringify(value));
const now = () => new Date();

function verify(given: string, headers: Record<string, string>, key: string): void {
  new Webhook(key).verify(given, headers, { jsonParse: false });
}

describe('a signature', () => {
  test('is accepted by the official verifier, for 1,000 payloads of any text', () => {
    fc.assert(
      fc.property(secret, fc.uuid(), body, (key, id, payload) => {
        const headers = signatureHeaders({ id, at: now(), body: payload, secrets: [key] });
        expect(() => {
          verify(payload, headers, key);
        }).not.toThrow();
      }),
      { numRuns: 1_000 },
    );
  });

  test('is invalid once any byte of the body is changed', () => {
    fc.assert(
      fc.property(
        secret,
        fc.uuid(),
        body,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (key, id, payload, at, flip) => {
          const headers = signatureHeaders({ id, at: now(), body: payload, secrets: [key] });
          const bytes = Buffer.from(payload);
          const index = at % bytes.length;
          bytes[index] = (bytes[index] ?? 0) ^ flip;
          const changed = bytes.toString('utf8');
          fc.pre(changed !== payload);
          expect(() => {
            verify(changed, headers, key);
          }).toThrow('No matching signature found');
        },
      ),
    );
  });

  test('is invalid for another id, another secret, or a timestamp older than 300 s', () => {
    fc.assert(
      fc.property(secret, secret, fc.uuid(), fc.uuid(), body, (key, otherKey, id, otherId, payload) => {
        fc.pre(key !== otherKey && id !== otherId);
        const headers = signatureHeaders({ id, at: now(), body: payload, secrets: [key] });
        expect(() => {
          verify(payload, { ...headers, 'webhook-id': otherId }, key);
        }).toThrow('No matching signature found');
        expect(() => {
          verify(payload, headers, otherKey);
        }).toThrow('No matching signature found');
        const old = signatureHeaders({
          id,
          at: new Date(Date.now() - 302_000),
          body: payload,
          secrets: [key],
        });
        expect(() => {
          verify(payload, old, key);
        }).toThrow('Message timestamp too old');
      }),
    );
  });

  test('with two secrets is accepted by a verifier that has either', () => {
    const [first, second] = [secretOf(Buffer.alloc(24, 1)), secretOf(Buffer.alloc(24, 2))];
    const headers = signatureHeaders({ id: 'a', at: now(), body: '{}', secrets: [second, first] });
    for (const key of [first, second])
      expect(() => {
        verify('{}', headers, key);
      }).not.toThrow();
  });

  test('is refused for a secret that is too short, and the message does not contain the secret', () => {
    expect(() => signatureHeaders({ id: 'a', at: now(), body: '{}', secrets: ['whsec_c2hvcnQ='] })).toThrow(
      /^a signing secret must be whsec_ followed by at least 24 bytes in base64$/,
    );
  });
});

describe('a rotated secret', () => {
  const rotated = channelOf('channel', {
    signing: {
      key_id: idOf('new'),
      previous: { key_id: idOf('old'), valid_until: '2026-01-02T00:00:00.000Z' },
    },
  });

  test('signs besides the new one for exactly 24 hours', () => {
    const keysAt = (at: string) => signingKeysOf(rotated, new Date(at)).map(({ key_id }) => key_id);
    expect(keysAt('2026-01-01T23:59:59.999Z')).toEqual([idOf('new'), idOf('old')]);
    expect(keysAt('2026-01-02T00:00:00.000Z')).toEqual([idOf('new')]);
  });
});
