// Tokens of share links. Their form holds no checksum: whatever is presented is looked up in the same way, so that the
// time that an answer takes tells nothing about how near a guess came.
import { nameBasedId } from './identity.js';
import { lettersAndDigits, secretHashOf } from './credential-secrets.js';

/** How long a link lasts (SPEC.md, Limits). */
export const shareLifetimeMs = 7 * 24 * 3_600_000;

/** The namespace of shares' ids; any fixed UUID. */
const shareNamespace = '6f1d3d0e-7c1b-5b0a-8a4e-2f4f6c9d7e10';

/**
 * Writes a token: 40 letters and digits, 238 bits, behind a prefix by which scanners find a leaked one.
 * @param entropy 32 uniformly random bytes
 */
export function shareTokenFrom(entropy: Uint8Array): string {
  return `lsh_${lettersAndDigits(entropy, 40)}`;
}

/** When a link ends that was made at this time. */
export function shareExpiryOf(createdAt: string): string {
  return new Date(Date.parse(createdAt) + shareLifetimeMs).toISOString();
}

/** The page of a link, for a browser. `appUrl` is without a slash at its end. */
export function shareUrlOf(appUrl: string, token: string): string {
  return `${appUrl}/share/${encodeURIComponent(token)}`;
}

/**
 * What of a token may be recorded: its hash, by which it is known again, and the share's id, which is made from the hash, so
 * that whoever has the token can name its share without a look-up.
 */
export function shareFieldsOf(token: string): { share_id: string; token_hash: string; last_four: string } {
  const token_hash = secretHashOf(token);
  return {
    share_id: nameBasedId(shareNamespace, `share:${token_hash}`),
    token_hash,
    last_four: token.slice(-4),
  };
}
