// Secrets that the system must be able to use again: sealed with a setting that only the services which need it have.
// The log and the databases hold nothing else of them.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { shareTokenFrom } from '@lead-scoring/contracts';

export interface Sealing {
  /**
   * Seals a text for one place: it can be unsealed only with the same context. The same text in the same place is
   * sealed to the same, so that a command which comes twice says the same twice; hence equal secrets of one place can be
   * told to be equal, and nothing more.
   */
  seal(text: string, context: string): string;
  /** @throws Error when it was sealed with another setting or for another context, or was changed */
  unseal(sealed: string, context: string): string;
  /** The secret that signs a channel's requests (Standard Webhooks: `whsec_` and base64), made from its key's id. */
  signingSecret(keyId: string): string;
  /** The token of the share link that goes with what is told of a firing, made from the firing's id. */
  shareToken(firingId: string): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/** @param sealingSecret the setting SEALING_SECRET */
export function createSealing(sealingSecret: string): Sealing {
  const keyFor = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', sealingSecret, '', `lead-scoring ${purpose}`, 32));
  const key = keyFor('seal');
  const nonceKey = keyFor('nonce');
  const signingKey = keyFor('signing');
  const shareKey = keyFor('share');
  return {
    seal: (text, context) => {
      const nonce = createHmac('sha256', nonceKey)
        .update(`${context}\u0000${text}`)
        .digest()
        .subarray(0, nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64url');
    },
    unseal: (sealed, context) => {
      const bytes = Buffer.from(sealed, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        })
          .setAAD(Buffer.from(context))
          .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
        return Buffer.concat([
          decipher.update(bytes.subarray(nonceBytes + tagBytes)),
          decipher.final(),
        ]).toString('utf8');
      } catch (error) {
        throw new Error(
          'a sealed secret cannot be opened: SEALING_SECRET is another than it was sealed with',
          {
            cause: error,
          },
        );
      }
    },
    signingSecret: (keyId) =>
      `whsec_${createHmac('sha256', signingKey).update(`signing${keyId}`).digest('base64')}`,
    shareToken: (firingId) =>
      shareTokenFrom(createHmac('sha256', shareKey).update(`share${firingId}`).digest()),
  };
}
