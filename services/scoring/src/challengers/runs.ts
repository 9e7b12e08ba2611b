// Keeps the figures of a partition's challengers up to date. The owner of the partition looks at its challengers one after the other, again
// and again, and computes the figures of those for which something has come. All challengers of a process take turns, and rest after
// each computation, so that they take a tenth of one processor at most.
import type { ChangedState, EffectWork, PartitionScope } from '@lead-scoring/capability';
import { isRetriable, pause } from '@lead-scoring/event-log';
import type { ReplayDependencies } from '../jobs/replay-plan.js';
import type { Challenger, ChallengerEvent, Challengers } from './decide.js';
import { deleteOtherFigures, readAllChallengers } from './documents.js';
import { refresh } from './refresh.js';

export interface ChallengerDependencies extends ReplayDependencies {
  readonly now: () => Date;
  /** Gets the error of a computation that has failed; it is repeated with the next look. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between two looks. Default 5,000. */
  readonly lookEveryMs?: number | undefined;
  /** The rest after a computation, as a multiple of the time that it took. Default 9. */
  readonly restFactor?: number | undefined;
}

const defaultLookEveryMs = 5_000;
const defaultRestFactor = 9;

type ChangedChallengers = ChangedState<Challengers, ChallengerEvent>;

export class ChallengerRuns implements EffectWork<readonly ChangedChallengers[]> {
  /** By OU. */
  readonly #known = new Map<string, readonly Challenger[]>();
  readonly #closing = new AbortController();
  /** Whether figures may be stored of challengers that have ended. */
  #hasEnded = true;

  /** @param inTurn one computation at a time in a process: its memory is that of one group of leads */
  constructor(
    private readonly dependencies: ChallengerDependencies,
    private readonly scope: PartitionScope,
    private readonly inTurn: (compute: () => Promise<void>) => Promise<void>,
  ) {}

  async takeUp(): Promise<void> {
    for (const state of await readAllChallengers(this.scope.readModel, this.scope.partition))
      this.#note(state);
    void this.#run();
  }

  changed(changes: readonly ChangedChallengers[]): void {
    for (const { state } of changes) this.#note(state);
    this.#hasEnded = true;
  }

  /**
   * Nobody waits for the loop, which may be waiting for its turn: a partition goes to its next owner at once. What is being computed comes
   * to nothing, and writes of an owner that has gone are refused.
   */
  stop(): Promise<void> {
    this.#closing.abort();
    return Promise.resolve();
  }

  #note({ ou_id, running }: Challengers): void {
    if (running.length > 0) this.#known.set(ou_id, running);
    else this.#known.delete(ou_id);
  }

  async #run(): Promise<void> {
    const { lookEveryMs = defaultLookEveryMs } = this.dependencies;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#attempted(() => this.#deleteEnded());
      for (const [ouId, challengers] of [...this.#known])
        for (const challenger of challengers)
          if (this.#isRunning(ouId, challenger)) await this.#attempted(() => this.#refresh(ouId, challenger));
      await pause(lookEveryMs, signal);
    }
  }

  async #refresh(ouId: string, challenger: Challenger): Promise<void> {
    const { restFactor = defaultRestFactor } = this.dependencies;
    const { signal } = this.#closing;
    await this.inTurn(async () => {
      if (signal.aborted) return;
      const begun = performance.now();
      const hasComputed = await refresh(ouId, challenger, {
        ...this.dependencies,
        scope: this.scope,
        signal,
      });
      // It may have ended meanwhile.
      this.#hasEnded ||= !this.#isRunning(ouId, challenger);
      if (hasComputed) await pause(restFactor * (performance.now() - begun), signal);
    });
  }

  #isRunning(ouId: string, { challenger_id }: Challenger): boolean {
    return this.#known.get(ouId)?.some((one) => one.challenger_id === challenger_id) === true;
  }

  async #deleteEnded(): Promise<void> {
    if (!this.#hasEnded) return;
    this.#hasEnded = false;
    const running = [...this.#known.values()].flat().map(({ challenger_id }) => challenger_id);
    await deleteOtherFigures(this.scope.readModel, this.scope.partition, running);
  }

  /**
   * The next look repeats a computation that failed because a server was away. After the end of the partition's lease, each of its writes
   * fails: another process or edition has the partition, and the session closes it soon. That is no error of the computation.
   */
  async #attempted(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const isRefused = this.scope.readModel.lease?.hasEnded() === true;
      if (!isRetriable(error) && !isRefused && !this.#closing.signal.aborted)
        this.dependencies.onError(error);
    }
  }
}
