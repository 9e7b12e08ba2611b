// The takes of one bucket that this instance has not settled with the database. Those that arrive while an update is under
// way go together in the next one.
import type { BucketLimits, TakeOutcome } from './token-bucket.js';

/** How long requests that were granted ahead stay untaken, in milliseconds. */
const settleEveryMs = 100;

/** Takes n requests, and before them puts back what was returned. @returns an outcome for each of the n */
export type Settle = (limits: BucketLimits, n: number, returned: number) => Promise<readonly TakeOutcome[]>;

export class TakeQueue {
  #waiting: ((outcome: TakeOutcome) => void)[] = [];
  /** Requests to be put back with the next update. */
  #returned = 0;
  /** Requests that were granted ahead and are taken with the next update. */
  #ahead = 0;
  /** Requests that were granted ahead and are being taken by the update under way. */
  #settling = 0;
  #isRunning = false;
  /** Ends the pause before the next update. */
  #hurry: () => void = () => undefined;

  /** @param onSettled called when nothing is left to settle: the queue is then done with */
  constructor(
    public limits: BucketLimits,
    private readonly settle: Settle,
    private readonly onSettled: () => void,
  ) {}

  /** Requests that were granted and that the database does not know to be taken. */
  get ahead(): number {
    return this.#ahead + this.#settling;
  }

  take(): Promise<TakeOutcome> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#serve();
    });
  }

  giveBack(): void {
    this.#returned += 1;
    this.#serve();
  }

  /** Notes a request that is granted already; it is taken from the bucket soon. */
  grantAhead(): void {
    this.#ahead += 1;
    if (!this.#isRunning) void this.#run();
  }

  #serve(): void {
    if (this.#isRunning) this.#hurry();
    else void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length + this.#returned + this.#ahead > 0) {
      if (this.#waiting.length + this.#returned === 0) await this.#untilDue();
      const waiting = this.#waiting.splice(0);
      const returned = this.#returned - this.#ahead;
      this.#settling = this.#ahead;
      this.#returned = 0;
      this.#ahead = 0;
      const outcomes = await this.settle(this.limits, waiting.length, returned);
      this.#settling = 0;
      waiting.forEach((resolve, index) => {
        const outcome = outcomes[index];
        if (outcome) resolve(outcome);
      });
    }
    this.onSettled();
  }

  /** Until requests that were granted ahead are to be taken, or a request waits for an answer of the database. */
  #untilDue(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, settleEveryMs);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
