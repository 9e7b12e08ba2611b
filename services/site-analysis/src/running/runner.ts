// Runs analyses beside the processor, a bounded number at once, and sends what came out of each to the log as a command.
// Nothing of it is kept: what was running when the process ends is run again by whoever takes the partition over.
import { records, type ProblemCode, type SiteAnalysis } from '@lead-scoring/contracts';
import { isRetriable, outgoing, type OutgoingRecord, type RecordWriter } from '@lead-scoring/event-log';
import { defineComponent, type Component, type Logger } from '@lead-scoring/service';
import { interrupted } from '../analyses/decide.js';
import type { Refusal } from '../analyses/events.js';
import type { RunningAnalysis } from '../analyses/state.js';

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

export interface RunnerDependencies {
  /**
   * Analyses the site; once the signal aborts, answers what was found by then, soon.
   * @throws Error that `failureOf` explains
   */
  analyze: (url: string, signal: AbortSignal) => Promise<SiteAnalysis>;
  /** What the caller is told of an error of `analyze`; null for one that is a fault of ours. */
  failureOf: (error: unknown) => Refusal | null;
  writer: Pick<RecordWriter, 'write'>;
  now: () => Date;
  logger: Logger;
}

export interface RunnerConfiguration {
  maximumAtOnce: number;
  budgetMs: number;
}

type Outcome = records.RecordSiteAnalysis['outcome'];

const fault = {
  code: 'internal_error',
  message: 'Something went wrong on our side while the site was analysed. Send the request again later.',
} as const satisfies { code: ProblemCode; message: string };
const pauseBetweenWritesMs = 500;

export function createAnalysisRunner(
  { analyze, failureOf, writer, now, logger }: RunnerDependencies,
  { maximumAtOnce, budgetMs }: RunnerConfiguration,
): Component<AnalysisRunner> {
  return defineComponent('analyses', () => {
    const stopping = new AbortController();
    const stopped = () => stopping.signal.aborted;
    /** By `attemptOf`: those that run, and those that wait. */
    const known = new Set<string>();
    const waiting: (() => void)[] = [];
    const working = new Set<Promise<void>>();
    let running = 0;

    async function outcomeOf({ url, analysis_id }: RunningAnalysis, budget: number): Promise<Outcome> {
      try {
        const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(budget)]);
        return { status: 'analyzed', result: await analyze(url, signal) };
      } catch (error) {
        const failure = failureOf(error);
        if (!failure && !stopped()) logger.error({ err: error, analysis_id, url }, 'an analysis has failed');
        return { status: 'failed', ...(failure ?? fault) };
      }
    }

    /** Until the log has it: without its end, an analysis would never be answered. */
    async function record(analysis: RunningAnalysis, ended: Outcome): Promise<void> {
      const ended_at = now().toISOString();
      let outcome = ended;
      while (!stopped()) {
        try {
          await writer.write([endOf(analysis, outcome, ended_at)]);
          return;
        } catch (error) {
          const { analysis_id } = analysis;
          if (isRetriable(error)) {
            logger.warn({ err: error, analysis_id }, 'the end of an analysis cannot be written yet');
            await pause(pauseBetweenWritesMs, stopping.signal);
          } else {
            logger.error({ err: error, analysis_id }, 'the end of an analysis cannot be written');
            if (outcome.status === 'failed') return;
            outcome = { status: 'failed', ...fault };
          }
        }
      }
    }

    async function run(analysis: RunningAnalysis, budget: number): Promise<void> {
      const outcome = await outcomeOf(analysis, budget);
      // What a stopping process makes of it is not what the site is like.
      if (!stopped()) await record(analysis, outcome);
    }

    function inBackground(work: Promise<void>): void {
      working.add(work);
      void work.finally(() => working.delete(work));
    }

    const runner: AnalysisRunner = {
      room: () => Math.max(0, maximumAtOnce - running - waiting.length),
      start: (analysis, atMostMs = budgetMs) => {
        const attempt = attemptOf(analysis);
        if (stopped() || known.has(attempt)) return;
        known.add(attempt);
        const begin = () => {
          running += 1;
          inBackground(
            run(analysis, Math.min(budgetMs, atMostMs)).finally(() => {
              running -= 1;
              known.delete(attempt);
              waiting.shift()?.();
            }),
          );
        };
        if (running < maximumAtOnce) begin();
        else waiting.push(begin);
      },
      giveUp: (analysis) => {
        if (!known.has(attemptOf(analysis)))
          inBackground(record(analysis, { status: 'failed', ...interrupted }));
      },
    };
    return Promise.resolve({
      value: runner,
      stop: async () => {
        stopping.abort();
        waiting.length = 0;
        await Promise.all(working);
      },
    });
  });
}

function attemptOf({ analysis_id, requested_at }: RunningAnalysis): string {
  return `${analysis_id} ${requested_at}`;
}

/** The command that ends an analysis; its reply goes to the caller of the analysis. */
function endOf(analysis: RunningAnalysis, outcome: Outcome, ended_at: string): OutgoingRecord {
  const { ou_id, analysis_id, requested_at, caller } = analysis;
  return outgoing(records.recordSiteAnalysis, {
    key: ou_id,
    payload: { ou_id, analysis_id, requested_at, ended_at, outcome },
    ...(caller && {
      headers: { 'reply-to': caller.reply_to, 'correlation-id': caller.correlation_id },
    }),
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
