// First answers, kept for 24 hours under the id that the Idempotency-Key gives: the same request gets the same answer.
//
// The ids of everything a write makes come from the same key, so that a repeat has no second effect even where its
// answer was lost. What is kept here adds the answer itself, and the refusal of another request under the same key.
import { createHash, randomUUID } from 'node:crypto';
import {
  defineCollection,
  isDuplicateKey,
  isRetriable,
  uuidToBinary,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { DatabaseGate } from '../database-gate.js';
import { problem, tryAgain } from '../problem.js';

/** What a write is answered with. */
export interface Answer {
  status: number;
  /** JSON text. */
  body?: string;
}

interface AnswerDocument {
  _id: Binary;
  request_hash: string;
  /** Who works on it; null when nobody does. */
  claim: string | null;
  /** Milliseconds since 1970: whoever claimed it has died by then. */
  claimed_until: number;
  /** Absent until the first success, and when it shows a secret or is large: it is then made again. */
  answer?: Answer;
  /** What the first request made its secrets with. */
  made_with?: string;
  expires_at: Date;
}

export const answers = defineCollection<AnswerDocument>({ name: 'idempotent_answers', indexes: [] });

export interface IdempotentWrite {
  /** See `writeId`. */
  id: string;
  /** What makes two requests the same: path with query, OU, and the body's bytes. */
  request: readonly (string | Uint8Array)[];
  /** False for answers that show a secret. */
  keepAnswer: boolean;
  /** True for writes whose ids make a repeat harmless and that must work while MongoDB is away. */
  worksWithoutStore: boolean;
  /** Names what secrets are made with now. */
  madeWith?: string;
  /** @param madeWith what the first request made its secrets with, where that is known */
  perform(madeWith?: string): Promise<Answer>;
}

const keptForMs = 24 * 3_600_000;
/** Longer than any write takes: only one whose gateway died is still claimed then. */
const claimMs = 30_000;
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
  const collection = readModel.collection(answers);
  const _id = uuidToBinary(write.id);
  const request_hash = hashOf(write.request);
  const claim = randomUUID();
  let { madeWith } = write;
  let earlier: Answer | null;
  try {
    earlier = await gate.run(() => claimOrAnswer());
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
  const claimed = { _id, claim };
  let answer: Answer;
  try {
    answer = await write.perform(madeWith);
  } catch (error) {
    // A refusal (4xx) changed nothing and may be sent again in another form. After anything else the outcome is not
    // known: the key stays with this request.
    const refused = error instanceof Error && 'status' in error && Number(error.status) < 500;
    await letGo(() =>
      refused ? collection.deleteOne(claimed) : collection.updateOne(claimed, { $set: { claim: null } }),
    );
    throw error;
  }
  const kept = write.keepAnswer && (answer.body?.length ?? 0) <= maximumKeptBytes;
  await letGo(() => collection.updateOne(claimed, { $set: { claim: null, ...(kept && { answer }) } }));
  return { ...answer, repeated: false };

  /** Without it the claim ends by itself; the answer that is there must not be lost for it. */
  async function letGo(work: () => Promise<unknown>): Promise<void> {
    await gate.run(work).catch(() => undefined);
  }

  /** The answer that is there already; null when the write is ours to perform. */
  async function claimOrAnswer(): Promise<Answer | null> {
    const now = Date.now();
    const claimed_until = now + claimMs;
    try {
      await collection.insertOne({
        _id,
        request_hash,
        claim,
        claimed_until,
        ...(madeWith !== undefined && { made_with: madeWith }),
        expires_at: new Date(now + keptForMs),
      });
      return null;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const found = await collection.findOne({ _id });
    // It has gone in between: refused, or a day old.
    if (!found) return claimOrAnswer();
    if (found.expires_at.getTime() <= now) {
      await collection.deleteOne({ _id, expires_at: found.expires_at });
      return claimOrAnswer();
    }
    if (found.request_hash !== request_hash)
      throw problem(
        'idempotency_key_reused',
        'This Idempotency-Key was used for another request within 24 hours. Use a new key for a new request.',
      );
    if (found.answer) return found.answer;
    madeWith = found.made_with;
    // Our own insert, of which the driver did not hear and which it repeated.
    if (found.claim === claim) return null;
    if (found.claim === null || found.claimed_until <= now) {
      const taken = await collection.updateOne(
        { _id, claim: found.claim },
        { $set: { claim, claimed_until } },
      );
      if (taken.matchedCount === 1) return null;
    }
    throw problem(
      'request_in_progress',
      'A request with this Idempotency-Key is still being answered. Send it again in a moment.',
      { headers: { 'Retry-After': '1' } },
    );
  }
}

function hashOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(String(part.length)).update(':').update(part);
  return hash.digest('hex');
}
