// The identity of leads: alias kinds, the normalisation of aliases, and ids that are computed from names.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { text } from '../common.js';

export const aliasKind = text(32)
  .regex(/^[a-z0-9_]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and _, such as email')
  .describe(
    'email, phone (E.164), external_id, cookie, social, user_id, anonymous_id, or any other [a-z0-9_]{1,32}.',
  )
  .meta({ example: 'email' });

/** A normalised alias: one name of a lead. */
export const alias = z.strictObject({ alias_kind: aliasKind, alias: z.string().min(1).max(512) });
export type Alias = z.infer<typeof alias>;

/** Kinds of aliases that name a browser or a device, and a person only once an event names them together with an alias of another kind. */
const anonymousKinds: ReadonlySet<string> = new Set(['anonymous_id', 'cookie']);

/** Whether an alias names a visitor of whom nothing else is known. All other aliases are known: they name a person. */
export function isAnonymous({ alias_kind }: Pick<Alias, 'alias_kind'>): boolean {
  return anonymousKinds.has(alias_kind);
}

/** The aliases of an event in the order in which they count, of which the first names its lead: known ones before anonymous ones, otherwise as sent. */
export function knownFirst(aliases: readonly Alias[]): Alias[] {
  return [...aliases.filter((one) => !isAnonymous(one)), ...aliases.filter(isAnonymous)];
}

const email = /^[^\s@]+@[^\s@]+$/;
const phone = /^\+[1-9]\d{4,14}$/;

/**
 * The part of `normaliseAlias` that JSON Schema can express, for an object with `alias_kind` and `alias`. Added to the
 * schema's metadata, it makes the published documents refuse what the system refuses.
 */
export const aliasConditions = {
  allOf: [
    {
      if: { properties: { alias_kind: { const: 'email' } }, required: ['alias_kind'] },
      then: {
        properties: {
          alias: { pattern: '^[ ]*[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+[ ]*$' },
        },
      },
    },
    {
      if: { properties: { alias_kind: { const: 'phone' } }, required: ['alias_kind'] },
      then: {
        properties: { alias: { pattern: '^[ ().-]*\\+[ ().-]*[1-9](?:[ ().-]*[0-9]){4,14}[ ().-]*$' } },
      },
    },
  ],
};

/**
 * The normalised spelling of an alias, or the reason why it is not valid. E-mail addresses are trimmed and lower-cased;
 * telephone numbers lose spaces, dots, hyphens and brackets.
 */
export function normaliseAlias(kind: string, value: string): { alias: string } | { problem: string } {
  const trimmed = value.trim();
  if (trimmed === '') return { problem: 'must not be empty' };
  if (trimmed.length > 512) return { problem: 'must be at most 512 characters' };
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(trimmed)) return { problem: 'must not hold control characters' };
  if (!trimmed.isWellFormed()) return { problem: 'must be well-formed Unicode' };
  switch (kind) {
    case 'email': {
      const address = trimmed.toLowerCase();
      if (!email.test(address)) return { problem: 'must be an e-mail address' };
      return address.length > 512 ? { problem: 'must be at most 512 characters' } : { alias: address };
    }
    case 'phone': {
      const number = trimmed.replace(/[\s().-]/g, '');
      return phone.test(number)
        ? { alias: number }
        : { problem: 'must be a telephone number in E.164, such as +4915112345678' };
    }
    default:
      return { alias: trimmed };
  }
}

/**
 * Computes RFC 9562 version 5 UUIDs of names within a namespace, the same in every process, without a look-up. The
 * namespace is decoded once: for many names of one namespace, keep the function.
 * @param namespace a UUID in its text form
 */
export function nameBasedIds(namespace: string): (name: string) => string {
  let bytes = Buffer.allocUnsafe(1_024);
  bytes.write(namespace.replaceAll('-', ''), 'hex');
  return (name) => {
    if (bytes.length < 16 + name.length * 3) {
      const larger = Buffer.allocUnsafe(16 + name.length * 3);
      bytes.copy(larger, 0, 0, 16);
      bytes = larger;
    }
    const digest = hash('sha1', bytes.subarray(0, 16 + bytes.write(name, 16)), 'hex');
    const variant = '89ab'.charAt(parseInt(digest.charAt(16), 16) & 3);
    return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  };
}

/** One name-based UUID; see nameBasedIds. */
export function nameBasedId(namespace: string, name: string): string {
  return nameBasedIds(namespace)(name);
}

/** Whether an id is a version 5 UUID: computed from a name, so the same name gives it again. Others are random. */
export function isNameBasedId(id: string): boolean {
  return id.charCodeAt(14) === 0x35;
}

/** A lead's id: name-based on its OU and normalised alias, so a first event needs no "create". */
export function leadIdOf(ouId: string, kind: string, normalisedAlias: string): string {
  return nameBasedId(ouId, leadName(kind, normalisedAlias));
}

/**
 * The id of an event whose sender gave an `event_id`: the same event_id of the same alias always means the same event.
 */
export function namedEventIdOf(ouId: string, kind: string, normalisedAlias: string, eventId: string): string {
  return nameBasedId(ouId, eventName(kind, normalisedAlias, eventId));
}

/** The name within its OU's namespace from which a lead's id is made. */
export function leadName(kind: string, normalisedAlias: string): string {
  return `lead:${kind}:${normalisedAlias}`;
}

/**
 * The name within its OU's namespace from which the id of an event with an event_id is made. No alias contains a NUL,
 * so no two pairs of alias and event_id share a name.
 */
export function eventName(kind: string, normalisedAlias: string, eventId: string): string {
  return `event:${kind}:${normalisedAlias}\u0000${eventId}`;
}
