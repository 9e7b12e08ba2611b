// Secrets that are shown once. They are derived from the command's id, so that repeating the command with its
// Idempotency-Key shows the same one although only its hash is stored.
import { createHmac } from 'node:crypto';
import { secretFrom, secretHashOf, type SecretPrefix } from '@lead-scoring/contracts';

export interface DerivedSecret {
  secret: string;
  /** What is stored. */
  hash: string;
  lastFour: string;
}

/** HMAC-SHA256 of the command's id: nobody without TOKEN_SECRET can compute it, whatever ids they know. */
export function deriveSecret(prefix: SecretPrefix, commandId: string, tokenSecret: string): DerivedSecret {
  const secret = secretFrom(
    prefix,
    createHmac('sha256', tokenSecret)
      .update(prefix + commandId)
      .digest(),
  );
  return { secret, hash: secretHashOf(secret), lastFour: secret.slice(-4) };
}
