// Authenticates requests: finds the credential, its scopes and the organizational unit.
import { timingSafeEqual } from 'node:crypto';
import {
  secretHashOf,
  type Actor,
  type RouteDeclaration,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { isRetriable } from '@lead-scoring/read-model';
import type { ProblemError } from '@lead-scoring/service';
import type { MeantCredential } from '../audit/refusal-model.js';
import type { Quotas, Role, Scope } from '../identity/messages.js';
import { hasRole, scopesOf, sessionOf } from '../identity/state.js';
import { problem, tryAgain } from '../problem.js';
import type { SignIn } from '../sign-in/sign-in.js';
import { presentedCredential } from './authorization-header.js';
import {
  meantBy,
  type CredentialDirectory,
  type KnownMember,
  type KnownServiceAccount,
  type KnownToken,
} from './directory.js';
import { chooseOrgUnit, namedOrgUnit, type OrgUnitChoice } from './org-unit.js';

/** The credential of a request. */
export interface Caller {
  credentialId: string;
  organisationId: string;
  /** For the records' header `actor`: `token:<id>`, `service_account:<id>` or `member:<id>`. */
  actor: string;
  /** The same for events, with the credential's current name. */
  by: Actor;
  /** token: also a member who has signed in with OpenID Connect. */
  kind: 'token' | 'service_account';
  /** The member who calls; null: a service account. */
  memberId: string | null;
  /** Of a token: the lesser of its own and its member's. Of a service account: what its scopes come to. */
  role: Role;
  scopes: readonly Scope[];
  /** The OUs that the credential may use; null: all of the organisation. */
  ouIds: readonly string[] | null;
  rateLimit: { per_minute: number; burst: number } | null;
  /** null: none. */
  quotas: Quotas | null;
  /** The active OU when the credential was looked up. */
  knownActiveOuId: string | null;
  /** Reads the active OU anew. */
  activeOuId(): Promise<string | null>;
}

export interface Authenticator {
  /**
   * @param charge called before the look-up of a credential that this instance has not yet found valid, so that guesses
   *   are limited before they cost a read; it returns the function that puts the charge back when the credential is valid
   * @param refused called when what was presented is refused; not for a request without a credential
   * @throws ProblemError 401, what `charge` throws, or 503 when the database is away and the credential is not known
   */
  authenticate(
    authorization: string | undefined,
    charge: () => Promise<() => void>,
    refused?: OnRefused,
  ): Promise<Caller>;
  /** @throws ProblemError 403, 404 or 400, see `chooseOrgUnit` and `namedOrgUnit` */
  orgUnit(caller: Caller, header: string | undefined, inPath: string | undefined): Promise<string>;
}

type Charge = () => Promise<() => void>;
export type OnRefused = (reason: routeDeclarations.RefusalReason, credential: MeantCredential | null) => void;
const notTold: OnRefused = () => undefined;

/** @param signIn absent: no issuer of OpenID Connect is configured */
export function createAuthenticator(
  directory: CredentialDirectory,
  { clock = Date.now, signIn }: { clock?: () => number; signIn?: SignIn | undefined } = {},
): Authenticator {
  return {
    authenticate: (authorization, charge, refused = notTold) =>
      orUnavailable(async () => {
        if (authorization === undefined || authorization === '')
          throw unauthorized(
            'credential_missing',
            'Send a personal access token as "Authorization: Bearer lsp_…", or a service account with HTTP Basic.',
          );
        const presented = presentedCredential(authorization);
        if (presented.kind === 'none') {
          refused('malformed', null);
          throw unauthorized('credential_invalid', presented.advice);
        }
        const checks = { directory, clock, charge, refused };
        switch (presented.kind) {
          case 'token':
            return withToken(presented.secret, checks);
          case 'json_web_token':
            return withJsonWebToken(presented.token, signIn, checks);
          case 'service_account':
            return withServiceAccount(presented, checks);
        }
      }),
    orgUnit: (caller, header, inPath) =>
      orUnavailable(() => {
        const choice = choiceOf(caller, header, directory);
        return inPath === undefined ? chooseOrgUnit(choice) : namedOrgUnit(choice, inPath);
      }),
  };
}

/** What the check of a presented credential needs. */
interface Checks {
  directory: CredentialDirectory;
  clock: () => number;
  charge: Charge;
  refused: OnRefused;
}

async function withToken(secret: string, { directory, clock, charge, refused }: Checks): Promise<Caller> {
  const hash = secretHashOf(secret);
  const giveBack = directory.hasToken(hash) ? null : await charge();
  const token = await directory.token(hash);
  if (!token || !sameHash(hash, token.token_hash)) {
    const ended = directory.ended(hash);
    refused(ended ? 'ended' : 'not_valid', ended);
    throw invalid();
  }
  if (token.expires_at !== null && Date.parse(token.expires_at) <= clock()) {
    refused('expired', meantBy(token));
    throw unauthorized('credential_expired', `The token expired at ${token.expires_at}. Create another one.`);
  }
  giveBack?.();
  return callerOf(token, () => directory.token(hash, true));
}

async function withServiceAccount(
  { clientId, secret }: { clientId: string; secret: string },
  { directory, clock, charge, refused }: Checks,
): Promise<Caller> {
  const hash = secretHashOf(secret);
  const giveBack = directory.hasServiceAccount(clientId) ? null : await charge();
  const account = await directory.serviceAccount(clientId);
  const current = sameHash(hash, account?.secret_hash ?? noHash);
  const previous = sameHash(hash, account?.previous_secret?.secret_hash ?? noHash);
  const inGrace = account?.previous_secret && clock() < Date.parse(account.previous_secret.valid_until);
  if (!account || !(current || (previous && inGrace))) {
    const ended = directory.ended(clientId);
    if (account) refused('wrong_secret', meantBy(account));
    else refused(ended ? 'ended' : 'not_valid', ended);
    throw invalid();
  }
  giveBack?.();
  return callerOf(account, () => directory.serviceAccount(clientId, true));
}

/**
 * An OU that the body of a request names.
 * @throws ProblemError 404 when the caller may not use it, 503 when the database is away
 */
export function unitNamedBy(caller: Caller, ouId: string, directory: CredentialDirectory): Promise<string> {
  return orUnavailable(() => namedOrgUnit(choiceOf(caller, undefined, directory), ouId));
}

function choiceOf(caller: Caller, header: string | undefined, directory: CredentialDirectory): OrgUnitChoice {
  return {
    ouIds: caller.ouIds,
    header,
    organisationUnits: (fresh) => directory.orgUnitIds(caller.organisationId, fresh),
    hasEnded: (ouId) => directory.orgUnitEndedOnLog(ouId),
    knownActiveOuId: caller.knownActiveOuId,
    activeOuId: () => caller.activeOuId(),
  };
}

async function withJsonWebToken(
  token: string,
  signIn: SignIn | undefined,
  { charge, refused }: Pick<Checks, 'charge' | 'refused'>,
): Promise<Caller> {
  if (!signIn) {
    refused('not_valid', null);
    throw unauthorized(
      'credential_invalid',
      'After "Bearer " must come a personal access token, which begins with lsp_: this system has no issuer of JSON Web Tokens configured.',
    );
  }
  const giveBack = signIn.isKnown(token) ? null : await charge();
  const member = await signIn.memberOf(token);
  if (!member) {
    refused('not_valid', null);
    throw unauthorized(
      'credential_invalid',
      'The JSON Web Token does not let anybody in here: it must be of a configured issuer, for this system, valid now, and of a member. See docs/sign-in.md.',
    );
  }
  giveBack?.();
  return callerOfMember(member, () => signIn.memberAgain(member));
}

/** @throws ProblemError 403 when the credential's role or scopes are not sufficient */
export function checkAccess(caller: Caller, access: RouteDeclaration['access']): void {
  if (!access.credential) return;
  const { role, scope } = access;
  if (caller.kind === 'token') {
    if (hasRole(caller.role, role)) return;
    throw problem(
      'role_not_allowed',
      `This needs the role ${role}, and this token may act as ${caller.role}: the lesser of its own role and its member's. Use a token that has it.`,
    );
  }
  if (scope === null)
    throw problem(
      'scope_not_allowed',
      'This is for members, with a personal access token; a service account is no member.',
    );
  if (!caller.scopes.includes(scope))
    throw problem(
      'scope_not_allowed',
      `This needs the scope ${scope}. Use a service account or token that has it.`,
    );
}

/** The role that the services see for a service account. */
function roleOfScopes(scopes: readonly Scope[]): Role {
  if (scopes.includes('admin')) return 'admin';
  return scopes.includes('write') ? 'editor' : 'viewer';
}

function callerOf(
  credential: KnownToken | KnownServiceAccount,
  readAgain: () => Promise<KnownToken | KnownServiceAccount | null>,
): Caller {
  return {
    credentialId: credential.id,
    organisationId: credential.organisation_id,
    actor: `${credential.kind}:${credential.id}`,
    by: { kind: credential.kind, id: credential.id, name: credential.name },
    kind: credential.kind,
    memberId: credential.kind === 'token' ? credential.member_id : null,
    role: credential.kind === 'token' ? credential.role : roleOfScopes(credential.scopes),
    scopes: scopesOf(credential),
    ouIds: credential.ou_ids,
    knownActiveOuId: credential.active_ou_id,
    rateLimit: credential.rate_limit,
    quotas: credential.quotas ?? null,
    activeOuId: async () => (await readAgain())?.active_ou_id ?? null,
  };
}

/** A member who has signed in: limits, the active OU and idempotency are theirs, with whichever token of their issuer they come. */
function callerOfMember(
  { organisation_id, ...member }: KnownMember,
  readAgain: () => Promise<KnownMember | null>,
): Caller {
  const session = { ...sessionOf(member), organisation_id, member_id: member.id };
  return {
    ...callerOf(session, () => Promise.resolve(null)),
    actor: `member:${member.id}`,
    by: { kind: 'member', id: member.id, name: member.name },
    activeOuId: async () => (await readAgain())?.active_ou_id ?? null,
  };
}

const noHash = '0'.repeat(64);

function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

export const challenge = 'Bearer realm="lead-scoring", Basic realm="lead-scoring", charset="UTF-8"';

function invalid(): ProblemError {
  return unauthorized(
    'credential_invalid',
    'The credential is well-formed, but not valid: it has ended, or this system has never issued it. Check that it belongs to this address, or create another one.',
  );
}

function unauthorized(
  code: 'credential_missing' | 'credential_invalid' | 'credential_expired',
  detail: string,
) {
  return problem(code, detail, { headers: { 'WWW-Authenticate': challenge } });
}

async function orUnavailable<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!isRetriable(error)) throw error;
    throw tryAgain(
      'database_unavailable',
      'The credential cannot be checked now. Try again in a moment.',
      2,
      error,
    );
  }
}
