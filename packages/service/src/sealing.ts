// Encrypts ("seals") secrets that the system must use again, with a setting that only the services which need it have.
// The log and the databases hold only the sealed form. docs/decisions/0024-two-keys-side-by-side.md
import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { aessiv } from '@noble/ciphers/aes.js';
import { shareTokenFrom } from '@lead-scoring/contracts';
import type { SecretsInForce } from './secrets-in-force.js';

/** Which key opens a sealed text. */
export type SealStanding =
  /** Sealed with the current key, in the current form. */
  | 'current'
  /** Sealed with another key in force, or in the first form. */
  | 'superseded'
  /** No key in force opens it. */
  | 'unreadable';

export interface Sealing {
  /** Id of the current key, in sealed texts and for operators. It reveals nothing about the key. */
  readonly keyId: string;
  /**
   * Seals a text for one context; unsealing needs the same context. Sealing is deterministic, so that a repeated
   * command has the same content. Hence an observer can tell that two secrets of one context are equal, and nothing
   * more.
   */
  seal(text: string, context: string): string;
  /** @throws Error when no key in force opens the text, or when its context differs or it was changed */
  unseal(sealed: string, context: string): string;
  standingOf(sealed: string, context: string): SealStanding;
  /**
   * The signing secret of a webhook channel that has none stored. It is derived from the key's id with the previous
   * key, if there is one, because such channels were created before the keys were exchanged.
   */
  signingSecret(keyId: string): string;
  /** The token of a notification's share link, derived from the firing's id with the current key. */
  shareToken(firingId: string): string;
  /** The tokens with every key in force, the current key first. */
  shareTokens(firingId: string): string[];
}

/** The current form: this prefix with the key's id. Texts in the first form have no prefix. */
const currentForm = /^sealed2_([0-9a-f]{8})_([A-Za-z0-9_-]+)$/;

/** @param secrets the settings SEALING_SECRET, SEALING_SECRET_PREVIOUS and SEALING_SECRET_NEXT */
export function createSealing(secrets: string | SecretsInForce): Sealing {
  const { current, previous, next } = typeof secrets === 'string' ? { current: secrets } : secrets;
  const key = keyOf(current);
  const keys = [key, ...[previous, next].flatMap((secret) => (secret === undefined ? [] : [keyOf(secret)]))];
  const before = previous === undefined ? key : keyOf(previous);

  function unseal(sealed: string, context: string): string {
    const named = currentForm.exec(sealed);
    const causes: unknown[] = [];
    for (const one of keys) {
      if (named && named[1] !== one.id) continue;
      try {
        return named ? one.open(named[2] ?? '', context) : one.openFirstForm(sealed, context);
      } catch (error) {
        causes.push(error);
      }
    }
    const which = named && causes.length === 0 ? `it was sealed with the key ${named[1] ?? ''}` : '';
    throw new Error(
      `a sealed secret cannot be opened: ${which || 'it was sealed with another key, for another place, or was changed'}. Set SEALING_SECRET, or SEALING_SECRET_PREVIOUS, to what it was sealed with`,
      { cause: causes[0] },
    );
  }

  return {
    keyId: key.id,
    seal: (text, context) => `sealed2_${key.id}_${key.seal(text, context)}`,
    unseal,
    standingOf: (sealed, context) => {
      try {
        unseal(sealed, context);
      } catch {
        return 'unreadable';
      }
      return currentForm.exec(sealed)?.[1] === key.id ? 'current' : 'superseded';
    },
    signingSecret: (keyId) => before.signingSecret(keyId),
    shareToken: (firingId) => key.shareToken(firingId),
    shareTokens: (firingId) => [...new Set(keys.map((one) => one.shareToken(firingId)))],
  };
}

/** The functions of one secret. Each purpose has a key of its own, derived from the secret. */
function keyOf(secret: string) {
  const deriveKey = (purpose: string, length = 32) =>
    Buffer.from(hkdfSync('sha256', secret, '', `lead-scoring ${purpose}`, length));
  const sealingKey = deriveKey('seal with AES-SIV', 64);
  const cipher = (context: string) => aessiv(sealingKey, Buffer.from(context));
  const signingKey = deriveKey('signing');
  const shareKey = deriveKey('share');
  return {
    id: deriveKey('key id', 4).toString('hex'),
    seal: (text: string, context: string) =>
      Buffer.from(cipher(context).encrypt(Buffer.from(text))).toString('base64url'),
    open: (sealed: string, context: string) => {
      const bytes = Buffer.from(sealed, 'base64url');
      // Several last characters decode to the same bytes; only the canonical one is accepted.
      if (bytes.toString('base64url') !== sealed) throw new Error('it is not written as it was');
      return Buffer.from(cipher(context).decrypt(bytes)).toString('utf8');
    },
    openFirstForm: createFirstForm(deriveKey),
    signingSecret: (keyId: string) =>
      `whsec_${createHmac('sha256', signingKey).update(`signing${keyId}`).digest('base64')}`,
    shareToken: (firingId: string) =>
      shareTokenFrom(createHmac('sha256', shareKey).update(`share${firingId}`).digest()),
  };
}

/**
 * Opens texts in the first form: AES-256-GCM, with a keyed hash of context and text as nonce. No text is sealed so any
 * more.
 */
function createFirstForm(
  deriveKey: (purpose: string) => Buffer,
): (sealed: string, context: string) => string {
  const nonceBytes = 12;
  const tagBytes = 16;
  const key = deriveKey('seal');
  return (sealed, context) => {
    const bytes = Buffer.from(sealed, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const hidden = bytes.subarray(nonceBytes + tagBytes);
    return Buffer.concat([decipher.update(hidden), decipher.final()]).toString('utf8');
  };
}
