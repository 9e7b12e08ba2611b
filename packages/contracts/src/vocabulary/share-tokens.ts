// Tokens of share links. A token has no checksum: every presented text is looked up in the same way, so the response
// time tells nothing about how near a guess came.
import { nameBasedId } from './identity.js';
import { lettersAndDigits, secretHashOf } from './credential-secrets.js';

/** How long a link lasts (SPEC.md, Limits). */
export const shareLifetimeMs = 7 * 24 * 3_600_000;

/** The namespace of shares' ids; any fixed UUID. */
const shareNamespace = '6f1d3d0e-7c1b-5b0a-8a4e-2f4f6c9d7e10';

/**
 * Makes a token: 40 letters and digits (238 bits) after a prefix by which scanners find a leaked token.
 * @param entropy 32 uniformly random bytes
 */
export function shareTokenFrom(entropy: Uint8Array): string {
  return `lsh_${lettersAndDigits(entropy, 40)}`;
}

/** The expiry of a link that was created at this time. */
export function shareExpiryOf(createdAt: string): string {
  return new Date(Date.parse(createdAt) + shareLifetimeMs).toISOString();
}

/** The address of a link's page, for a browser. `appUrl` has no slash at its end. */
export function shareUrlOf(appUrl: string, token: string): string {
  return `${appUrl}/share/${encodeURIComponent(token)}`;
}

/**
 * The recordable fields of a token: its hash, its last four characters, and the share's id, which is computed from the
 * hash, so that the holder of a token can name the share without a look-up.
 */
export function shareFieldsOf(token: string): { share_id: string; token_hash: string; last_four: string } {
  const token_hash = secretHashOf(token);
  return {
    share_id: nameBasedId(shareNamespace, `share:${token_hash}`),
    token_hash,
    last_four: token.slice(-4),
  };
}
