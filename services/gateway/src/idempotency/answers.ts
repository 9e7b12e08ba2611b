// Keeps first answers for 24 hours under the id from the Idempotency-Key: the same request gets the same answer.
//
// The ids of everything that a write creates also come from the key, so that a repeat has no second effect even when its answer was
// lost. This store adds the answer itself, and the refusal of another request under the same key.
import { createHash } from 'node:crypto';
import { isRetriable, type ReadModel } from '@lead-scoring/read-model';
import type { DatabaseGate } from '../database-gate.js';
import { tryAgain } from '../problem.js';
import { WriteClaim, type Answer } from './write-claim.js';

export interface IdempotentWrite {
  /** See `writeId`. */
  id: string;
  /** The parts that must be equal for two requests to be the same: path with query, OU, and the body's bytes. */
  request: readonly (string | Uint8Array)[];
  /** False for answers that show a secret. */
  keepAnswer: boolean;
  /** True for writes that must work while MongoDB is away; their ids make a repeat harmless. */
  worksWithoutStore: boolean;
  /** The id of the current token secret, from which secrets are derived. */
  madeWith?: string;
  /** @param madeWith the id of the token secret of the first request, where that is known */
  perform(madeWith?: string): Promise<Answer>;
}

const maximumKeptBytes = 1_000_000;

/**
 * Performs the write once.
 * @returns the first answer, and whether it is a repeated one
 * @throws ProblemError 422 when the key was used for another request, 409 while the first is being answered
 */
export async function performOnce(
  { readModel, gate }: { readModel: ReadModel; gate: DatabaseGate },
  write: IdempotentWrite,
): Promise<Answer & { repeated: boolean }> {
  const claim = new WriteClaim(readModel, write.id, hashOf(write.request), write.madeWith);
  let earlier: Answer | null;
  try {
    earlier = await gate.run(() => claim.claimOrAnswer());
  } catch (error) {
    if (!isRetriable(error)) throw error;
    if (write.worksWithoutStore) return { ...(await write.perform()), repeated: false };
    throw tryAgain(
      'database_unavailable',
      'The Idempotency-Key cannot be checked now. Try again in a moment.',
      2,
      error,
    );
  }
  if (earlier) return { ...earlier, repeated: true };
  return { ...(await performClaimed(write, claim, gate)), repeated: false };
}

async function performClaimed(
  write: IdempotentWrite,
  claim: WriteClaim,
  gate: DatabaseGate,
): Promise<Answer> {
  /** Ends the claim. A failure is ignored: the claim expires by itself, and the answer must not be lost. */
  const releaseClaim = async (work: () => Promise<void>): Promise<void> => {
    await gate.run(work).catch(() => undefined);
  };
  let answer: Answer;
  try {
    answer = await write.perform(claim.madeWith);
  } catch (error) {
    // After a refusal (4xx) nothing has changed, and the corrected request may use the key again. After any other error the
    // outcome is unknown: the key stays with this request.
    const isRefused = error instanceof Error && 'status' in error && Number(error.status) < 500;
    await releaseClaim(() => (isRefused ? claim.remove() : claim.end()));
    throw error;
  }
  const isKept = write.keepAnswer && (answer.body?.length ?? 0) <= maximumKeptBytes;
  await releaseClaim(() => claim.end(isKept ? answer : undefined));
  return answer;
}

function hashOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(String(part.length)).update(':').update(part);
  return hash.digest('hex');
}
