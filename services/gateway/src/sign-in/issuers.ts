// The setting OIDC_ISSUERS: the OpenID Connect issuers whose JSON Web Tokens let people in. docs/sign-in.md
import { z } from 'zod';

const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
const text = z.string().trim().min(1).max(2_000);
const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Keys that came without TLS could be anybody's. */
const address = text.refine((value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname));
}, 'must be a URL that starts with https://');

const issuer = z.strictObject({
  /** Exactly the claim `iss`. */
  issuer: address,
  /** The claim `aud` must have one of these. */
  audience: z.union([text.transform((one) => [one]), z.array(text).min(1).max(20)]),
  jwks_uri: address,
  algorithms: z.array(z.enum(algorithms)).min(1).default(['RS256', 'ES256']),
  /** The claim that has the member's address; `email` counts only with `email_verified`. */
  claim: text.default('email'),
  /** The rights of people who were not invited; absent: only who was invited is let in. */
  create: z
    .strictObject({
      role: z.enum(['viewer', 'editor', 'admin']),
      ou_ids: z.array(z.uuid()).min(1).max(200).nullable().default(null),
    })
    .optional(),
});
export type Issuer = z.output<typeof issuer>;

export const issuersSetting = z
  .string()
  .transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON: an array of issuers, see docs/sign-in.md' });
      return z.NEVER;
    }
  })
  .pipe(
    z
      .array(issuer)
      .max(20)
      .refine(
        (all) => new Set(all.map((one) => one.issuer)).size === all.length,
        'must name each issuer once',
      ),
  );
