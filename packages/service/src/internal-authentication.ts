// Calls to the services' query ports are signed, by the gateway and by a service that asks another: a token names the caller, and is
// valid for one request and one minute. docs/decisions/0018-internal-calls-are-signed-whole.md
import { createHash } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { ProblemError } from './problems.js';

export const internalAuthorizationHeader = 'x-internal-authorization';

const claims = z.object({
  /** Absent for requests that belong to no OU. */
  ou_id: z.uuid().optional(),
  organisation_id: z.uuid(),
  credential_id: z.uuid(),
  /** The acting credential or trigger, for the record's header `actor`. */
  actor: z.string().min(1).max(200),
  role: z.enum(['viewer', 'editor', 'admin']),
  request_id: z.string().min(1).max(128),
});
export type InternalClaims = z.infer<typeof claims>;

/** The signed parts of a request, as they are sent. */
export interface InternalCall {
  method: string;
  /** Path and query, byte for byte. */
  target: string;
  /** Absent for a request without a body. */
  body?: Uint8Array | undefined;
}

const callClaims = z.object({ method: z.string(), target: z.string(), body_hash: z.string() });

/** The caller, and the hash of the signed body. */
export interface VerifiedCall {
  claims: InternalClaims;
  bodyHash: string;
}

const lifetimeSeconds = 60;
const audience = 'lead-scoring-internal';

function keyOf(secret: string): Uint8Array {
  return new TextEncoder().encode(secret);
}

/** The value of the header `X-Internal-Authorization`, valid for this request only and for 60 s. */
export async function signInternal(
  internal: InternalClaims,
  { method, target, body }: InternalCall,
  secret: string,
): Promise<string> {
  return new SignJWT({ ...internal, method, target, body_hash: hashOf(body) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(`${String(lifetimeSeconds)}s`)
    .sign(keyOf(secret));
}

/**
 * Verifies the header and returns the caller. `assertSignedBody` checks the body, once it is read.
 * @throws ProblemError 401 `internal_authorization_invalid`. Clocks of two machines may differ by 5 s.
 */
export async function verifyInternal(
  header: string | undefined,
  { method, target }: Pick<InternalCall, 'method' | 'target'>,
  secret: string,
): Promise<VerifiedCall> {
  try {
    if (header === undefined) throw new Error('the header is missing');
    const { payload } = await jwtVerify(header, keyOf(secret), {
      algorithms: ['HS256'],
      audience,
      clockTolerance: 5,
      maxTokenAge: lifetimeSeconds,
      requiredClaims: ['exp', 'iat'],
    });
    const call = callClaims.parse(payload);
    if (call.method !== method || call.target !== target)
      throw new Error('it was signed for another request');
    return { claims: claims.parse(payload), bodyHash: call.body_hash };
  } catch (error) {
    throw authorizationProblem(error);
  }
}

/** @throws ProblemError 401 when the body is not the signed one */
export function assertSignedBody({ bodyHash }: VerifiedCall, body: Uint8Array): void {
  if (hashOf(body) !== bodyHash) throw authorizationProblem(new Error('it was signed for another body'));
}

function authorizationProblem(cause: unknown): ProblemError {
  return new ProblemError(
    401,
    'internal_authorization_invalid',
    'This port is for services of this system only.',
    {
      cause,
      headers: { 'WWW-Authenticate': 'Internal' },
    },
  );
}

function hashOf(body: Uint8Array | undefined): string {
  return createHash('sha256')
    .update(body ?? '')
    .digest('base64url');
}
