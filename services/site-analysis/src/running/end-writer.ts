// Writes the ends of analyses to the log, as commands whose replies go to the callers of the analyses.
import { records, type ProblemCode } from '@lead-scoring/contracts';
import { callerHeaders } from '@lead-scoring/capability';
import { isRetriable, outgoing, type OutgoingRecord, type RecordWriter } from '@lead-scoring/event-log';
import { pause, type Logger } from '@lead-scoring/service';
import type { RunningAnalysis } from '../analyses/state.js';

export type AnalysisOutcome = records.RecordSiteAnalysis['outcome'];

/** The end of an analysis that failed because of this service and not of the site. */
export const fault = {
  code: 'internal_error',
  message: 'The analysis failed because of an internal error. Send the request again later.',
} as const satisfies { code: ProblemCode; message: string };

const pauseBetweenWritesMs = 500;

export interface EndWriterDependencies {
  writer: Pick<RecordWriter, 'write'>;
  now: () => Date;
  logger: Logger;
}

export class EndWriter {
  /** @param stopping aborts when nothing may be written any more */
  constructor(
    private readonly dependencies: EndWriterDependencies,
    private readonly stopping: AbortSignal,
  ) {}

  /** Writes the end of an analysis, and retries until the log has it: without it, the analysis would never be answered. */
  async write(analysis: RunningAnalysis, ended: AnalysisOutcome): Promise<void> {
    const { writer, now } = this.dependencies;
    const ended_at = now().toISOString();
    let outcome: AnalysisOutcome | null = ended;
    while (outcome && !this.stopping.aborted) {
      try {
        await writer.write([endOf(analysis, outcome, ended_at)]);
        return;
      } catch (error) {
        outcome = await this.#nextToWrite(analysis, outcome, error);
      }
    }
  }

  /** The outcome to write after a failed write: the same again, or a fault in place of a result that the log will never accept. */
  async #nextToWrite(
    { analysis_id }: RunningAnalysis,
    outcome: AnalysisOutcome,
    error: unknown,
  ): Promise<AnalysisOutcome | null> {
    const { logger } = this.dependencies;
    if (isRetriable(error)) {
      logger.warn({ err: error, analysis_id }, 'the end of an analysis cannot be written yet');
      await pause(pauseBetweenWritesMs, this.stopping);
      return outcome;
    }
    logger.error({ err: error, analysis_id }, 'the end of an analysis cannot be written');
    return outcome.status === 'failed' ? null : { status: 'failed', ...fault };
  }
}

function endOf(analysis: RunningAnalysis, outcome: AnalysisOutcome, ended_at: string): OutgoingRecord {
  const { ou_id, analysis_id, requested_at, caller } = analysis;
  return outgoing(records.recordSiteAnalysis, {
    key: ou_id,
    payload: { ou_id, analysis_id, requested_at, ended_at, outcome },
    ...(caller && { headers: callerHeaders(caller) }),
  });
}
