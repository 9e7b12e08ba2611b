// One write's place among the first answers: claimed by the request that works on it, and answered by that one.
import { randomUUID } from 'node:crypto';
import {
  defineCollection,
  isDuplicateKey,
  uuidToBinary,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { problem } from '../problem.js';

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

const keptForMs = 24 * 3_600_000;
/** Longer than any write takes: only one whose gateway died is still claimed then. */
const claimMs = 30_000;

export class WriteClaim {
  readonly #collection;
  readonly #id: Binary;
  readonly #claim = randomUUID();

  /** @param madeWith names what secrets are made with now; afterwards, what the first request made them with */
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
   * The answer that is there already; null when the write is ours to perform.
   * @throws ProblemError 422 when the id was used for another request, 409 while the first is being answered
   */
  async claimOrAnswer(): Promise<Answer | null> {
    const now = Date.now();
    if (await this.#insert(now)) return null;
    const found = await this.#collection.findOne({ _id: this.#id });
    // It has gone in between: refused, or a day old.
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
    // Our own insert, of which the driver did not hear and which it repeated.
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

  /** Claims what no request works on any more. */
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

  /** Gives the id free: the request changed nothing and may be sent again in another form. */
  async remove(): Promise<void> {
    await this.#collection.deleteOne({ _id: this.#id, claim: this.#claim });
  }

  /** Ends the claim; the id stays with this request. @param answer what repeats are answered from now on, where it is kept */
  async end(answer?: Answer): Promise<void> {
    await this.#collection.updateOne(
      { _id: this.#id, claim: this.#claim },
      { $set: { claim: null, ...(answer && { answer }) } },
    );
  }
}
