// Runs analyses beside the processor, a bounded number at once, and sends what came out of each to the log as a command.
// Nothing of it is kept: what was running when the process ends is run again by the next owner of the partition.
import type { SiteAnalysis } from '@lead-scoring/contracts';
import { defineComponent, type Component } from '@lead-scoring/service';
import { interrupted } from '../analyses/decide.js';
import type { Refusal } from '../analyses/messages.js';
import type { RunningAnalysis } from '../analyses/state.js';
import { EndWriter, fault, type AnalysisOutcome, type EndWriterDependencies } from './end-writer.js';

export interface AnalysisRunner {
  /** How many more can start now. */
  room(): number;
  /**
   * Runs it in the background, unless this process does already. When as many run as may, it waits for one to end.
   * @param atMostMs of its budget, after which what was found by then is the result
   */
  start(analysis: RunningAnalysis, atMostMs?: number): void;
  /** Records that it was interrupted. */
  giveUp(analysis: RunningAnalysis): void;
}

export interface RunnerDependencies extends EndWriterDependencies {
  /**
   * Analyses the site; once the signal aborts, answers what was found by then, soon.
   * @throws Error that `failureOf` explains
   */
  analyze: (url: string, signal: AbortSignal) => Promise<SiteAnalysis>;
  /** What the caller is told of an error of `analyze`; null for one that is a fault of ours. */
  failureOf: (error: unknown) => Refusal | null;
}

export interface RunnerConfiguration {
  maximumAtOnce: number;
  budgetMs: number;
}

export function createAnalysisRunner(
  dependencies: RunnerDependencies,
  configuration: RunnerConfiguration,
): Component<AnalysisRunner> {
  return defineComponent('analyses', () => {
    const runner = new BoundedRunner(dependencies, configuration);
    return Promise.resolve({ value: runner, stop: () => runner.stop() });
  });
}

class BoundedRunner implements AnalysisRunner {
  readonly #stopping = new AbortController();
  readonly #ends: EndWriter;
  /** By `attemptOf`: those that run, and those that wait. */
  readonly #known = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #running = 0;

  constructor(
    private readonly dependencies: RunnerDependencies,
    private readonly configuration: RunnerConfiguration,
  ) {
    this.#ends = new EndWriter(dependencies, this.#stopping.signal);
  }

  room(): number {
    return Math.max(0, this.configuration.maximumAtOnce - this.#running - this.#waiting.length);
  }

  start(analysis: RunningAnalysis, atMostMs = this.configuration.budgetMs): void {
    const attempt = attemptOf(analysis);
    if (this.#isStopping() || this.#known.has(attempt)) return;
    this.#known.add(attempt);
    const begin = () => {
      this.#begin(analysis, Math.min(this.configuration.budgetMs, atMostMs));
    };
    if (this.#running < this.configuration.maximumAtOnce) begin();
    else this.#waiting.push(begin);
  }

  giveUp(analysis: RunningAnalysis): void {
    if (this.#known.has(attemptOf(analysis))) return;
    this.#inBackground(this.#ends.write(analysis, { status: 'failed', ...interrupted }));
  }

  /** Ends what runs, and records nothing of it. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting.length = 0;
    await Promise.all(this.#underWay);
  }

  #begin(analysis: RunningAnalysis, budgetMs: number): void {
    this.#running += 1;
    this.#inBackground(
      this.#run(analysis, budgetMs).finally(() => {
        this.#running -= 1;
        this.#known.delete(attemptOf(analysis));
        this.#waiting.shift()?.();
      }),
    );
  }

  async #run(analysis: RunningAnalysis, budgetMs: number): Promise<void> {
    const outcome = await this.#outcomeOf(analysis, budgetMs);
    // What a stopping process makes of it is not what the site is like.
    if (!this.#isStopping()) await this.#ends.write(analysis, outcome);
  }

  async #outcomeOf({ url, analysis_id }: RunningAnalysis, budgetMs: number): Promise<AnalysisOutcome> {
    const { analyze, failureOf, logger } = this.dependencies;
    try {
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(budgetMs)]);
      return { status: 'analyzed', result: await analyze(url, signal) };
    } catch (error) {
      const failure = failureOf(error);
      if (!failure && !this.#isStopping())
        logger.error({ err: error, analysis_id, url }, 'an analysis has failed');
      return { status: 'failed', ...(failure ?? fault) };
    }
  }

  #inBackground(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }
}

function attemptOf({ analysis_id, requested_at }: RunningAnalysis): string {
  return `${analysis_id} ${requested_at}`;
}
