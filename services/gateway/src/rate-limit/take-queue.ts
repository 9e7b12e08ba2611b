// The requests of one bucket that this instance has not taken from the database yet. Requests that arrive during an update are taken
// together in the next one.
import type { BucketLimits, TakeOutcome } from './token-bucket.js';

/** The time after which requests that were granted ahead are taken from the database. */
const settleEveryMs = 100;

/** Puts returned requests back and then takes n requests. @returns an outcome for each of the n */
export type Settle = (limits: BucketLimits, n: number, returned: number) => Promise<readonly TakeOutcome[]>;

export class TakeQueue {
  #waiting: ((outcome: TakeOutcome) => void)[] = [];
  /** The requests that the next update puts back. */
  #returned = 0;
  /** The requests granted ahead that the next update takes. */
  #ahead = 0;
  /** The requests granted ahead that the current update takes. */
  #settling = 0;
  #isRunning = false;
  /** Ends the pause before the next update. */
  #hurry: () => void = () => undefined;

  /** @param onSettled called when nothing is left to settle: the queue can then be dropped */
  constructor(
    public limits: BucketLimits,
    private readonly settle: Settle,
    private readonly onSettled: () => void,
  ) {}

  /** The granted requests that the database has not taken yet. */
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

  /** Adds a request that is granted already; the next update takes it from the bucket. */
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

  /** Resolves when requests granted ahead are due to be taken, or a request waits for the database's answer. */
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
