// The form of the secrets that callers present: a prefix that names the kind, 30 random characters and a checksum. The
// checksum refuses a mistyped secret without a look-up, and scanners find a leaked secret by its form.
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type SecretPrefix = 'lsp_' | 'lss_' | 'lsi_';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^(lsp_|lss_|lsi_)([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

/**
 * Writes a secret: 178 bits of `entropy` and a CRC-32.
 * @param prefix `lsp_` for personal tokens, `lss_` for service accounts' secrets, `lsi_` for invitations
 * @param entropy at least 30 uniformly random bytes
 */
export function secretFrom(prefix: SecretPrefix, entropy: Uint8Array): string {
  const body = lettersAndDigits(entropy, 30);
  return `${prefix}${body}${checksum(prefix + body)}`;
}

/**
 * Makes a text of random letters and digits, each equally likely.
 * @param entropy uniformly random bytes: at least `length`, or 32 for up to 40 characters
 */
export function lettersAndDigits(entropy: Uint8Array, length: number): string {
  const needed = Math.min(length, 32);
  if (entropy.length < needed) throw new Error(`a secret needs ${String(needed)} bytes of entropy`);
  let number = entropy.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text += alphabet.charAt(Number(number % 62n));
    number /= 62n;
  }
  return text;
}

/** Whether the text has the form and the checksum of a secret of this kind. */
export function isWellFormedSecret(prefix: SecretPrefix, secret: string): boolean {
  const parts = form.exec(secret);
  return parts !== null && parts[1] === prefix && parts[3] === checksum(`${prefix}${parts[2] ?? ''}`);
}

/** SHA-256 in hex, stored in place of a secret. A plain hash is enough, because the secrets have high entropy. */
export function secretHashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function checksum(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let place = 0; place < 6; place += 1) {
    digits += alphabet.charAt(value % 62);
    value = Math.floor(value / 62);
  }
  return digits;
}
