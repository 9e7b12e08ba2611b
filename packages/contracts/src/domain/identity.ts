// Who a lead is: alias kinds, how an alias is normalised, and the ids that are computed from names.
import { hash } from 'node:crypto';
import { z } from 'zod';

export const aliasKind = z
  .string()
  .max(32)
  .regex(/^[a-z0-9_]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and _, such as email')
  .describe('email, phone (E.164), external_id, cookie, social, user_id, anonymous_id, or any other [a-z0-9_]{1,32}.')
  .meta({ example: 'email' });

/** One name by which a lead is known. */
export const alias = z.strictObject({ alias_kind: aliasKind, alias: z.string().min(1).max(512) });
export type Alias = z.infer<typeof alias>;

const email = /^[^\s@]+@[^\s@]+$/;
const phone = /^\+[1-9]\d{4,14}$/;

/**
 * The one spelling of an alias that counts, or the reason why it is none.
 * E-mail addresses are trimmed and lower-cased; telephone numbers lose spaces, dots, hyphens and brackets.
 */
export function normaliseAlias(kind: string, value: string): { alias: string } | { problem: string } {
  const trimmed = value.trim();
  if (trimmed === '') return { problem: 'must not be empty' };
  if (trimmed.length > 512) return { problem: 'must be at most 512 characters' };
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(trimmed)) return { problem: 'must not hold control characters' };
  if (!trimmed.isWellFormed()) return { problem: 'must be well-formed Unicode' };
  switch (kind) {
    case 'email': {
      const address = trimmed.toLowerCase();
      return email.test(address) ? { alias: address } : { problem: 'must be an e-mail address' };
    }
    case 'phone': {
      const number = trimmed.replace(/[\s().-]/g, '');
      return phone.test(number) ? { alias: number } : { problem: 'must be a telephone number in E.164, such as +4915112345678' };
    }
    default:
      return { alias: trimmed };
  }
}

/**
 * RFC 9562 version 5 UUID of a name within a namespace: the same everywhere, without a look-up.
 * @param namespace a UUID in its text form
 */
export function nameBasedId(namespace: string, name: string): string {
  const digest = hash('sha1', Buffer.concat([Buffer.from(namespace.replaceAll('-', ''), 'hex'), Buffer.from(name)]), 'hex');
  const variant = ((parseInt(digest.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(18, 20)}-${digest.slice(20, 32)}`;
}

/** A lead's id: name-based on its OU and normalised alias, so a first event needs no "create". */
export function leadIdOf(ouId: string, kind: string, normalisedAlias: string): string {
  return nameBasedId(ouId, `lead:${kind}:${normalisedAlias}`);
}

/** The id of an event that its sender named: the same event_id of the same alias is the same event, for ever. */
export function namedEventIdOf(ouId: string, kind: string, normalisedAlias: string, eventId: string): string {
  return nameBasedId(ouId, `event:${kind}:${normalisedAlias}:${eventId}`);
}
