// An owner's answer on its way to the caller.
import { pipeline } from 'node:stream/promises';
import { isRetriable } from '@lead-scoring/read-model';
import { answerUnitHeader, ProblemError } from '@lead-scoring/service';
import type { Response } from 'express';
import { problem, tryAgain } from '../problem.js';
import type { OwnerAnswer } from './owners.js';

const passedOn = [
  'content-type',
  'content-length',
  'content-disposition',
  'retry-after',
  'allow',
  'link',
  'content-security-policy',
  'x-frame-options',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
] as const;

/** Streams it. */
export async function passOn(answer: OwnerAnswer, res: Response): Promise<void> {
  res.status(answer.statusCode);
  for (const name of passedOn) {
    const value = answer.headers[name];
    if (value !== undefined) res.setHeader(name, value);
  }
  if (res.req.method === 'HEAD') {
    await answer.body.dump();
    res.end();
    return;
  }
  try {
    await pipeline(answer.body, res);
  } catch (error) {
    // What has been sent cannot be taken back; cutting the connection tells that it is not whole.
    res.destroy();
    if (!res.headersSent)
      throw new ProblemError(500, 'internal_error', 'The answer broke off.', { cause: error });
  }
}

/** @throws ProblemError 404, as for a link that nobody made, when its OU has ended; 503 when that cannot be told */
export async function refuseOfEnded(
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
    'This link is unknown or was ended. Check that it is whole, or ask its sender for a new one.',
  );
}
