// Runs analyses beside the processor, a bounded number at a time, and sends the outcome of each to the log as a command. It stores
// nothing: the next owner of the partition runs the unfinished analyses of a process that stopped.
import type { SiteAnalysis } from '@lead-scoring/contracts';
import { defineComponent, type Component } from '@lead-scoring/service';
import { interrupted } from '../analyses/decide.js';
import type { Refusal } from '../analyses/messages.js';
import type { RunningAnalysis } from '../analyses/state.js';
import { EndWriter, fault, type AnalysisOutcome, type EndWriterDependencies } from './end-writer.js';

export interface AnalysisRunner {
  /** The number of analyses that can start now. */
  room(): number;
  /**
   * Runs an analysis in the background, unless this process runs it already. At the limit, it waits until another one ends.
   * @param atMostMs the longest time that it may take; the pages found so far are then the result
   */
  start(analysis: RunningAnalysis, atMostMs?: number): void;
  /** Records that the analysis was interrupted. */
  giveUp(analysis: RunningAnalysis): void;
}

export interface RunnerDependencies extends EndWriterDependencies {
  /**
   * Analyses the site; soon after the signal aborts, resolves with the pages found so far.
   * @throws Error that `failureOf` explains
   */
  analyze: (url: string, signal: AbortSignal) => Promise<SiteAnalysis>;
  /** The answer to the caller for an error of `analyze`; null for an internal error. */
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
  /** The running and the waiting analyses, by `attemptOf`. */
  readonly #known = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  readonly #work = new Set<Promise<void>>();
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

  /** Ends the running analyses, and records no outcome of them. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting.length = 0;
    await Promise.all(this.#work);
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
    // The outcome of an analysis that was stopped says nothing about the site.
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
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }
}

function attemptOf({ analysis_id, requested_at }: RunningAnalysis): string {
  return `${analysis_id} ${requested_at}`;
}
