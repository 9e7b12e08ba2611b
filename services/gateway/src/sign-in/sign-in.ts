// Lets people in by the JSON Web Token of their OpenID Connect issuer: the member with the address that the issuer has verified. Who comes
// for the first time is admitted by a command, because the membership is on the log.
import { randomUUID } from 'node:crypto';
import { records } from '@lead-scoring/contracts';
import { outgoing, type Requester } from '@lead-scoring/event-log';
import { LRUCache } from 'lru-cache';
import type { CredentialDirectory, KnownMember } from '../credentials/directory.js';
import { asLogProblem } from '../edge/log-problem.js';
import type { CommandSignature } from '../identity/command-signature.js';
import type { Identity, TokenVerifier } from './verifier.js';

export interface SignIn extends Pick<TokenVerifier, 'isKnown'> {
  /** null: the token is not valid, or of nobody who may come in. */
  memberOf(token: string): Promise<KnownMember | null>;
  /** The member again, as of now. */
  memberAgain(member: KnownMember): Promise<KnownMember | null>;
}

export interface SignInDependencies {
  /** The organisation that the issuers are of. */
  organisationId: string;
  verifier: TokenVerifier;
  directory: Pick<CredentialDirectory, 'member' | 'forget'>;
  requester: Requester;
  signature: CommandSignature;
  replyTimeoutMs: number;
}

/** The time for which no second command is sent for somebody whom the first one did not admit. */
const refusedMs = 10_000;

export function createSignIn(dependencies: SignInDependencies): SignIn {
  const { organisationId, verifier, directory } = dependencies;
  const refused = new LRUCache<string, true>({ max: 10_000, ttl: refusedMs });
  return {
    isKnown: (token) => verifier.isKnown(token),
    memberOf: async (token) => {
      const identity = await verifier.verify(token);
      if (!identity) return null;
      const { issuer, email, create } = identity;
      const member = await directory.member(organisationId, email);
      if (member?.joined_at) return member;
      if ((!member && !create) || refused.has(`${issuer} ${email}`)) return null;
      if (!(await admit(identity, dependencies))) {
        refused.set(`${issuer} ${email}`, true);
        return null;
      }
      directory.forget();
      return directory.member(organisationId, email, true);
    },
    memberAgain: ({ email }) => directory.member(organisationId, email ?? '', true),
  };
}

/** @returns whether the person is a member now */
async function admit(
  { email, name, create }: Identity,
  { organisationId, requester, signature, replyTimeoutMs }: SignInDependencies,
): Promise<boolean> {
  const commandId = randomUUID();
  const command = outgoing(records.admitMember, {
    key: organisationId,
    payload: {
      organisation_id: organisationId,
      member_id: commandId,
      email,
      name,
      created: create ?? null,
      requested_at: new Date().toISOString(),
      actor: { kind: 'system', id: 'sign-in' },
    },
    headers: { id: commandId, actor: 'sign-in' },
  });
  const reply = await requester
    .request(signature.sign(command), { timeoutMs: replyTimeoutMs })
    .catch((error: unknown) => {
      throw asLogProblem(error, commandId);
    });
  return reply.outcome === 'done';
}
