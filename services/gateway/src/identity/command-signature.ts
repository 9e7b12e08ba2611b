// Signs and verifies the commands of identity: the right to write to `gateway.commands` must not be enough to become an
// administrator. docs/decisions/0017-commands-of-identity-are-signed.md
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { IncomingRecord, OutgoingRecord } from '@lead-scoring/event-log';

export interface CommandSignature {
  /** The command with its signature in a header. Its key, `id` and `actor` may not change afterwards. */
  sign(command: OutgoingRecord): OutgoingRecord;
  /** Whether a gateway of this system has signed the command with exactly this content. */
  isSigned(command: IncomingRecord): boolean;
}

/** The values of TOKEN_SECRET in force, the current one first. */
export type TokenSecrets = readonly [string, ...string[]];

const header = 'signature';

/** @param tokenSecrets known only to gateways; the first one signs, a signature with any of them is accepted */
export function createCommandSignature([current, ...others]: TokenSecrets): CommandSignature {
  const signing = keyOf(current);
  const accepted = [signing, ...others.map(keyOf)];
  return {
    sign: (command) => {
      const { declaration, key, payload, headers = {} } = command;
      const text = signedText({ type: declaration.type, key, payload, headers });
      return {
        ...command,
        headers: { ...headers, [header]: signatureOf(text, signing).toString('base64url') },
      };
    },
    isSigned: (command) => {
      const { type, key, payload, headers } = command;
      const given = Buffer.from(headers[header] ?? '', 'base64url');
      const text = signedText({ type, key, payload, headers });
      return accepted.some((secret) => {
        const expected = signatureOf(text, secret);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
}

/** A key for signatures only: the same setting also derives secrets that callers see. */
function keyOf(tokenSecret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', tokenSecret, '', 'lead-scoring commands of identity', 32));
}

function signatureOf(text: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

interface SignedParts {
  type: string;
  key: string | null;
  payload: unknown;
  headers: Readonly<Record<string, string | undefined>>;
}

/** All fields that determine the command's effect and its actor. Serialising a parsed JSON payload gives the same text again. */
function signedText({ type, key, payload, headers }: SignedParts): string {
  return JSON.stringify([type, key, headers['id'] ?? null, headers['actor'] ?? null, payload]);
}
