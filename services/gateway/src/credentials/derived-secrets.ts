// Secrets that are shown once. Each is derived from its command's id, so that a repeat of the command with the same
// Idempotency-Key shows the same secret although only its hash is stored.
import { createHmac, hkdfSync } from 'node:crypto';
import { secretFrom, secretHashOf, shareTokenFrom, type SecretPrefix } from '@lead-scoring/contracts';

export interface DerivedSecret {
  secret: string;
  /** The stored form. */
  hash: string;
  lastFour: string;
}

/** HMAC-SHA256 of the command's id: it cannot be computed from ids without TOKEN_SECRET. */
export function deriveSecret(prefix: SecretPrefix, commandId: string, tokenSecret: string): DerivedSecret {
  const secret = secretFrom(prefix, derivedBytes(prefix, commandId, tokenSecret));
  return { secret, hash: secretHashOf(secret), lastFour: secret.slice(-4) };
}

/** The token of a share link, derived in the same way. */
export function deriveShareToken(commandId: string, tokenSecret: string): string {
  return shareTokenFrom(derivedBytes('lsh_', commandId, tokenSecret));
}

/** The id of a value of TOKEN_SECRET, which reveals nothing about the value. */
export function tokenSecretId(tokenSecret: string): string {
  return Buffer.from(hkdfSync('sha256', tokenSecret, '', 'lead-scoring key id', 4)).toString('hex');
}

function derivedBytes(purpose: string, commandId: string, tokenSecret: string): Uint8Array {
  return createHmac('sha256', tokenSecret)
    .update(purpose + commandId)
    .digest();
}
