// GET /audit: asks every service for its part of the audit trail, and answers a page as JSON or all of it as CSV.
import { readAuditEntries } from '@lead-scoring/capability';
import { routeDeclarations, type AuditedService } from '@lead-scoring/contracts';
import { InvalidCursor, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { begun, sendParts } from '@lead-scoring/service';
import type { Response } from 'express';
import type { Caller } from '../credentials/authenticate.js';
import { tokens } from '../identity/documents.js';
import { memberIdOf } from '../identity/state.js';
import { tryAgain } from '../problem.js';
import type { Forwarder } from '../reads/forward.js';
import { AnswerSent, type LocalHandlers } from '../reads/local.js';
import { postOf, type Ask } from '../reads/owners.js';
import { listRefusedSignIns } from './refused-list.js';
import { auditCsvHeader, auditCsvLine } from './entry-lines.js';
import { everyEntry, newestEntries, type ChangesAsked, type ReadEntries } from './merged-entries.js';

export interface AuditDependencies {
  readModel: ReadModel;
  forwarder: Pick<Forwarder, 'askFor'>;
  /** The longest time in which a reader of the CSV takes nothing of it. */
  answerIdleMs: number;
}

export function createAuditHandlers({
  readModel,
  forwarder,
  answerIdleMs: idleMs,
}: AuditDependencies): Pick<LocalHandlers, 'listAudit' | 'listRefusedSignIns'> {
  return {
    listRefusedSignIns: ({ caller, query }) => listRefusedSignIns(readModel, caller, query),
    listAudit: async ({ caller, ouId, query, req, res }) => {
      const { actor, cursor, limit, ...filters } = query;
      const asked: ChangesAsked = {
        ...filters,
        limit,
        ...(actor !== undefined && { actors: await credentialsOf(readModel, caller, actor.toLowerCase()) }),
        ...(cursor !== undefined && { before: placeIn(cursor) }),
      };
      const read = readerFor(readModel, caller, forwarder.askFor(req, ouId));
      if (req.accepts(['application/json', 'text/csv']) === 'text/csv') {
        await sendCsv(res, { ...asked, limit: routeDeclarations.maximumAuditEntries }, { read, idleMs });
        return AnswerSent;
      }
      const { data, next } = await newestEntries(asked, read);
      return { data, limit, ...(next && { next_cursor: cursorAt(next) }) };
    },
  };
}

/** The member's id, and those of all tokens that are or were theirs; of a credential, its own. */
async function credentialsOf(readModel: ReadModel, caller: Caller, actor: string): Promise<string[]> {
  const { organisationId } = caller;
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(tokens)
      .find({ organisation_id: { $eq: uuidToBinary(organisationId) } })
      .toArray(),
  );
  const theirs = found
    .filter(({ value }) => memberIdOf(value, organisationId) === actor)
    .map(({ value }) => value.id);
  return [actor, ...theirs].slice(0, routeDeclarations.maximumAuditActors);
}

/** Reads the gateway's own part from its database, and asks the services for theirs. */
function readerFor(readModel: ReadModel, caller: Caller, ask: Ask): ReadEntries {
  return async (service, asked) => {
    if (service !== 'gateway') return partOf(service, asked, ask);
    const scope = caller.organisationId;
    return readAuditEntries(readModel, { service, scope, within: caller.ouIds }, asked);
  };
}

async function partOf(
  service: Exclude<AuditedService, 'gateway'>,
  asked: ChangesAsked,
  ask: Ask,
): Promise<routeDeclarations.AuditEntry[]> {
  const { path, responses } = routeDeclarations.listChanges;
  const answer = await ask(service, path, postOf(asked));
  if (answer.statusCode === 200) return responses[200].schema.parse(await answer.body.json()).data;
  await answer.body.dump();
  if (answer.statusCode < 500)
    throw new Error(`${service} answered ${String(answer.statusCode)} to a request for its changes`);
  throw tryAgain(
    'service_unavailable',
    `The service ${service} cannot say now what was changed in it, and a list without its changes would have a hole. Try again in a moment.`,
    2,
  );
}

async function sendCsv(
  res: Response,
  asked: ChangesAsked,
  { read, idleMs }: { read: ReadEntries; idleMs: number },
): Promise<void> {
  // A service that is away from the beginning is a problem; one that goes away later breaks the file off visibly.
  const parts = await begun(linesOf(asked, read));
  res.status(200).set({
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': 'attachment; filename="audit.csv"',
  });
  await sendParts(res, parts, { idleMs });
}

async function* linesOf(asked: ChangesAsked, read: ReadEntries): AsyncGenerator<string> {
  let header = auditCsvHeader;
  for await (const entries of everyEntry(asked, read)) {
    yield header + entries.map(auditCsvLine).join('');
    header = '';
  }
}

type Place = NonNullable<ChangesAsked['before']>;
const { before: placeForm } = routeDeclarations.listChanges.body.shape;

function cursorAt({ at, id }: Place): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

/** @throws InvalidCursor */
function placeIn(cursor: string): Place {
  try {
    const [at, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const place = placeForm.parse({ at, id });
    if (place && !Number.isNaN(Date.parse(place.at))) return place;
  } catch {
    // Said below.
  }
  throw new InvalidCursor();
}
