// How the gateway proves to a service's query port who asks: a signed token of one minute.
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { ProblemError } from './problems.js';

export const internalAuthorizationHeader = 'x-internal-authorization';

const claims = z.object({
  /** Absent for requests that belong to no OU. */
  ou_id: z.uuid().optional(),
  organisation_id: z.uuid(),
  credential_id: z.uuid(),
  /** Who acts, for the record's header `actor`. */
  actor: z.string().min(1).max(200),
  role: z.enum(['viewer', 'editor', 'admin']),
  request_id: z.string().min(1).max(128),
});
export type InternalClaims = z.infer<typeof claims>;

const lifetimeSeconds = 60;
const audience = 'lead-scoring-internal';

function keyOf(secret: string): Uint8Array {
  return new TextEncoder().encode(secret);
}

/** The value of the header `X-Internal-Authorization`, valid for 60 s. */
export async function signInternal(internal: InternalClaims, secret: string): Promise<string> {
  return new SignJWT({ ...internal })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(`${String(lifetimeSeconds)}s`)
    .sign(keyOf(secret));
}

/**
 * Who asks, by the header's value.
 * @throws ProblemError 401 `internal_authorization_invalid`; clocks of two machines may differ by 5 s
 */
export async function verifyInternal(header: string | undefined, secret: string): Promise<InternalClaims> {
  try {
    if (header === undefined) throw new Error('the header is missing');
    const { payload } = await jwtVerify(header, keyOf(secret), {
      algorithms: ['HS256'],
      audience,
      clockTolerance: 5,
      maxTokenAge: lifetimeSeconds,
      requiredClaims: ['exp', 'iat'],
    });
    return claims.parse(payload);
  } catch (error) {
    throw new ProblemError(401, 'internal_authorization_invalid', 'This port is for the gateway only.', {
      cause: error,
      headers: { 'WWW-Authenticate': 'Internal' },
    });
  }
}
