// Tokens of share links. Their form holds no checksum: whatever is presented is looked up in the same way, so that the
// time that an answer takes tells nothing about how near a guess came.
import { nameBasedId } from './identity.js';
import { lettersAndDigits } from './credential-secrets.js';

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

/** The id of the share with this token's hash: whoever has the token can name its share without a look-up. */
export function shareIdOf(tokenHash: string): string {
  return nameBasedId(shareNamespace, `share:${tokenHash}`);
}
