// Passes an owner's answer on to the caller.
import { isRetriable } from '@lead-scoring/read-model';
import { answerUnitHeader, ProblemError, sendParts } from '@lead-scoring/service';
import type { Response } from 'express';
import { problem, tryAgain } from '../problem.js';
import type { OwnerAnswer } from './owners.js';

const headersPassedOn = [
  'content-type',
  'content-length',
  'content-encoding',
  'vary',
  'content-disposition',
  'etag',
  'retry-after',
  'allow',
  'link',
  'content-security-policy',
  'x-frame-options',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
] as const;

/**
 * Streams the answer, in memory that does not grow with it, however long it takes: a caller that takes nothing of it for `idleMs` is
 * cut off, and an answer that breaks off ends the caller's connection before its end.
 */
export async function passOn(
  answer: OwnerAnswer,
  res: Response,
  { idleMs }: { idleMs: number },
): Promise<void> {
  res.status(answer.statusCode);
  for (const name of headersPassedOn) {
    const value = answer.headers[name];
    if (value !== undefined) res.setHeader(name, value);
  }
  if (res.req.method === 'HEAD') {
    await answer.body.dump();
    res.end();
    return;
  }
  try {
    await sendParts(res, answer.body, { idleMs });
  } catch (error) {
    if (res.headersSent) throw error;
    for (const name of headersPassedOn) res.removeHeader(name);
    throw new ProblemError(500, 'internal_error', 'The answer of the service ended too early.', {
      cause: error,
    });
  }
}

/** @throws ProblemError 404, as for an unknown link, when the link's OU has ended; 503 when that cannot be checked */
export async function refuseEndedUnit(
  answer: OwnerAnswer,
  unitHasEnded: (ouId: string) => Promise<boolean>,
): Promise<void> {
  const ouId = answer.headers[answerUnitHeader];
  if (typeof ouId !== 'string') return;
  const ended = await unitHasEnded(ouId).catch(async (error: unknown) => {
    await answer.body.dump();
    if (!isRetriable(error)) throw error;
    throw tryAgain('service_unavailable', 'The link cannot be checked now. Try again in a moment.', 2, error);
  });
  if (!ended) return;
  await answer.body.dump();
  throw problem(
    'share_not_found',
    'This link is unknown or was revoked. Check that it is complete, or ask its sender for a new one.',
  );
}
