// The link of an invitation: GET shows what it is for and changes nothing; POST uses it up and shows the first token. Both are for
// browsers and for programs, and need no credential: whoever has the link may use it.
import { randomUUID } from 'node:crypto';
import { isProblemCode, isWellFormedSecret, records, secretHashOf } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { binaryToUuid, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { requestIdOf } from '@lead-scoring/service';
import {
  formPageHeaders,
  pageHeaders,
  renderFirstTokenPage,
  renderInvitationPage,
} from '@lead-scoring/share-page';
import type { Request, Response } from 'express';
import type { CommandDependencies } from '../commands/handler.js';
import { deriveSecret } from '../credentials/derived-secrets.js';
import { asLogProblem } from '../edge/log-problem.js';
import { problemsOnPage } from '../edge/problem-page.js';
import { addressOf, headerOf } from '../edge/request.js';
import { members, organisations } from '../identity/documents.js';
import type { Member } from '../identity/state.js';
import { problem } from '../problem.js';
import type { LocalHandlers } from '../reads/local.js';

export type Invitations = Pick<LocalHandlers, 'getInvitation' | 'acceptInvitation'>;
export type InvitationDependencies = Pick<
  CommandDependencies,
  'readModel' | 'requester' | 'signature' | 'tokenSecrets' | 'replyTimeoutMs' | 'identityChanged'
>;

/** The member whom a link is for. */
interface Invited {
  organisationId: string;
  organisation: string;
  hash: string;
  member: Member;
  expiresAt: string;
}

export function createInvitations(dependencies: InvitationDependencies): Invitations {
  const { readModel } = dependencies;
  return {
    getInvitation: async (req, res) => {
      const asPage = preparePage(req, res);
      const { organisation, member, expiresAt } = await invitedBy(readModel, String(req.params.token));
      const { name, role } = member;
      const email = member.email ?? '';
      if (asPage)
        res.set(formPageHeaders).send(renderInvitationPage({ organisation, name, email, role, expiresAt }));
      else res.json({ organisation, email, name, role, expires_at: expiresAt });
    },
    acceptInvitation: async (req, res) => {
      const asPage = preparePage(req, res);
      const invited = await invitedBy(readModel, String(req.params.token));
      const { token, joined } = await join(
        invited,
        { requestId: requestIdOf(req), address: addressOf(req) },
        dependencies,
      );
      dependencies.identityChanged();
      res.status(201);
      if (asPage) res.set(pageHeaders).send(renderFirstTokenPage({ name: invited.member.name, token }));
      else res.json({ ...joined, token });
    },
  };
}

/** Whether the answer is a page; errors then are pages as well. */
function preparePage(req: Request, res: Response): boolean {
  res.setHeader('X-Robots-Tag', 'noindex, nofollow');
  res.vary('Accept');
  const asPage = (headerOf(req, 'accept') ?? '').toLowerCase().includes('text/html');
  if (asPage) problemsOnPage(res);
  return asPage;
}

/** @throws ProblemError 404 for a link that is unknown, used or replaced; 410 for one that has expired */
async function invitedBy(readModel: ReadModel, secret: string): Promise<Invited> {
  if (!isWellFormedSecret('lsi_', secret)) throw unknown();
  const hash = secretHashOf(secret);
  const found = await withClassifiedErrors(() =>
    readModel.collection(members).findOne({ invitation_hash: { $eq: hash } }),
  );
  const invitation = found?.value.invitation;
  if (!found || !invitation || found.value.removed) throw unknown();
  const { expires_at: expiresAt } = invitation;
  if (Date.parse(expiresAt) <= Date.now())
    throw problem(
      'invitation_expired',
      `This invitation could be used until ${expiresAt}. Ask for a new link.`,
    );
  const organisation = await withClassifiedErrors(() =>
    readModel.collection(organisations).findOne({ _id: found.organisation_id }),
  );
  return {
    organisationId: binaryToUuid(found.organisation_id),
    organisation: organisation?.value.name ?? '',
    hash,
    member: found.value,
    expiresAt,
  };
}

function unknown() {
  return problem(
    'invitation_not_found',
    'There is no such invitation: the link is incomplete, was used already, or was replaced by a newer one. Ask for a new link.',
  );
}

/** Sends the command that uses up the link; the token is derived from its id. */
async function join(
  invited: Invited,
  request: Pick<Acceptance, 'requestId' | 'address'>,
  { requester, signature, tokenSecrets, replyTimeoutMs }: InvitationDependencies,
): Promise<{ token: string; joined: object }> {
  const commandId = randomUUID();
  const { secret, hash, lastFour } = deriveSecret('lsp_', commandId, tokenSecrets[0]);
  const command = acceptance(invited, { commandId, ...request, token: { hash, lastFour } });
  const reply = await requester
    .request(signature.sign(command), { timeoutMs: replyTimeoutMs })
    .catch((error: unknown) => {
      throw asLogProblem(error, commandId);
    });
  if (reply.outcome === 'done') return { token: secret, joined: reply.result as object };
  if (!isProblemCode(reply.code))
    throw new Error(`a command was rejected with ${reply.code}, which is not declared`);
  throw problem(reply.code, reply.message);
}

interface Acceptance {
  commandId: string;
  requestId: string;
  token: { hash: string; lastFour: string };
  /** Of the client. */
  address: string | undefined;
}

function acceptance(
  { organisationId, hash, member }: Invited,
  { commandId, requestId, token, address }: Acceptance,
): OutgoingRecord {
  return outgoing(records.acceptInvitation, {
    key: organisationId,
    payload: {
      organisation_id: organisationId,
      member_id: member.id,
      invitation_hash: hash,
      token_id: commandId,
      token_hash: token.hash,
      last_four: token.lastFour,
      requested_at: new Date().toISOString(),
      actor: {
        ...{ kind: 'token', id: commandId, name: 'First token' },
        ...(address !== undefined && { address }),
      },
    },
    headers: { id: commandId, actor: `token:${commandId}`, 'correlation-id': `${requestId}:${commandId}` },
  });
}
