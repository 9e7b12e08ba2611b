// The stored claim of one write: the request that performs the write holds it, and then stores the first answer in it.
import { randomUUID } from 'node:crypto';
import {
  defineCollection,
  isDuplicateKey,
  uuidToBinary,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { problem } from '../problem.js';

/** The answer of a write. */
export interface Answer {
  status: number;
  /** JSON text. */
  body?: string;
}

interface AnswerDocument {
  _id: Binary;
  request_hash: string;
  /** The id of the request that performs the write; null when none does. */
  claim: string | null;
  /** The expiry of the claim, in milliseconds since 1970: its request has died by then. */
  claimed_until: number;
  /** Absent until the first success, and for answers that show a secret or are large, which are made again. */
  answer?: Answer;
  /** The id of the token secret of the first request. */
  made_with?: string;
  expires_at: Date;
}

export const answers = defineCollection<AnswerDocument>({
  name: 'idempotent_answers',
  indexes: [],
  isLasting: true,
});

const keptForMs = 24 * 3_600_000;
/** Longer than any write takes: a claim this old is from a gateway that died. */
const claimMs = 30_000;

export class WriteClaim {
  readonly #collection;
  readonly #id: Binary;
  readonly #claim = randomUUID();

  /** @param madeWith the id of the current token secret; after `claimOrAnswer`, that of the first request */
  constructor(
    readModel: ReadModel,
    id: string,
    private readonly requestHash: string,
    public madeWith: string | undefined,
  ) {
    this.#collection = readModel.collection(answers);
    this.#id = uuidToBinary(id);
  }

  /**
   * The stored answer; null when this request has claimed the write and must perform it.
   * @throws ProblemError 422 when the id was used for another request, 409 while the first is being answered
   */
  async claimOrAnswer(): Promise<Answer | null> {
    const now = Date.now();
    if (await this.#insert(now)) return null;
    const found = await this.#collection.findOne({ _id: this.#id });
    // It was deleted meanwhile: its request was refused, or it was a day old.
    if (!found) return this.claimOrAnswer();
    if (found.expires_at.getTime() <= now) {
      await this.#collection.deleteOne({ _id: this.#id, expires_at: found.expires_at });
      return this.claimOrAnswer();
    }
    if (found.request_hash !== this.requestHash)
      throw problem(
        'idempotency_key_reused',
        'This Idempotency-Key was used for another request within 24 hours. Use a new key for a new request.',
      );
    if (found.answer) return found.answer;
    this.madeWith = found.made_with;
    // It may be this request's own insert, whose answer the driver missed and which it then repeated.
    if (found.claim === this.#claim || (await this.#takeOver(found, now))) return null;
    throw problem(
      'request_in_progress',
      'A request with this Idempotency-Key is still being answered. Send it again in a moment.',
      { headers: { 'Retry-After': '1' } },
    );
  }

  /** @returns false when the id is there already */
  async #insert(now: number): Promise<boolean> {
    try {
      await this.#collection.insertOne({
        _id: this.#id,
        request_hash: this.requestHash,
        claim: this.#claim,
        claimed_until: now + claimMs,
        ...(this.madeWith !== undefined && { made_with: this.madeWith }),
        expires_at: new Date(now + keptForMs),
      });
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return false;
    }
  }

  /** Claims a write whose claim has ended or expired. */
  async #takeOver(
    { claim, claimed_until }: Pick<AnswerDocument, 'claim' | 'claimed_until'>,
    now: number,
  ): Promise<boolean> {
    if (claim !== null && claimed_until > now) return false;
    const taken = await this.#collection.updateOne(
      { _id: this.#id, claim },
      { $set: { claim: this.#claim, claimed_until: now + claimMs } },
    );
    return taken.matchedCount === 1;
  }

  /** Frees the id: the request has changed nothing, and a corrected one may use the id. */
  async remove(): Promise<void> {
    await this.#collection.deleteOne({ _id: this.#id, claim: this.#claim });
  }

  /** Ends the claim; the id stays with this request. @param answer the answer for repeats, if it is kept */
  async end(answer?: Answer): Promise<void> {
    await this.#collection.updateOne(
      { _id: this.#id, claim: this.#claim },
      { $set: { claim: null, ...(answer && { answer }) } },
    );
  }
}
