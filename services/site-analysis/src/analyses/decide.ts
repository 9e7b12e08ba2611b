// Decides on requests for analyses and on their ends: pure; time, ids and the state of the world come with the command.
import type { JsonValue, records } from '@lead-scoring/contracts';
import type { Caller, Conditions, EndDecision, RequestDecision } from './events.js';
import type { Analysis, FailedAnalysis, FinishedAnalysis } from './state.js';

/** How an analysis ends whose process went away: the one end after which the same request begins it anew. */
export const interrupted = {
  code: 'analysis_interrupted',
  message: 'The analysis was interrupted before it ended. Send the request again.',
} as const;

const tooMany = {
  code: 'too_many_analyses',
  message: 'As many sites are being analysed as this system takes at once. Try again in a few seconds.',
} as const;

/** An analysis that was asked for before is not begun again: its answer is the recorded one, or that which is to come. */
export function decideRequest(
  command: records.AnalyzeSite,
  caller: Caller | null,
  known: Analysis | null,
  { refusal, full }: Conditions,
): RequestDecision {
  if (known?.status === 'running') return { outcome: 'awaited' };
  if (known && !(known.status === 'failed' && known.code === interrupted.code))
    return { outcome: 'answered', reply: replyOf(known) };
  if (refusal)
    return {
      outcome: 'answered',
      reply: {
        outcome: 'rejected',
        ...refusal,
        errors: [{ path: 'body.url', message: refusal.message.slice(0, 1_000) }],
      },
    };
  if (full) return { outcome: 'answered', reply: { outcome: 'rejected', ...tooMany } };
  return { outcome: 'started', event: { type: 'SiteAnalysisRequested', payload: command, caller } };
}

/** The first end counts; one of an earlier attempt does not. */
export function decideEnd(command: records.RecordSiteAnalysis, known: Analysis | null): EndDecision {
  if (!known) return { outcome: 'ignored' };
  if (known.requested_at !== command.requested_at) return { outcome: 'ignored' };
  if (known.status !== 'running') return { outcome: 'answered', reply: replyOf(known) };
  const { ou_id, analysis_id, url, requested_at } = known;
  const ended = { ou_id, analysis_id, url, requested_at, at: command.ended_at };
  if (command.outcome.status === 'analyzed')
    return {
      outcome: 'ended',
      event: { type: 'SiteAnalyzed', payload: { ...ended, result: command.outcome.result } },
    };
  const { code, message } = command.outcome;
  return { outcome: 'ended', event: { type: 'SiteAnalysisFailed', payload: { ...ended, code, message } } };
}

/** What the caller of an analysis that has ended is told. */
export function replyOf(analysis: FinishedAnalysis | FailedAnalysis): records.CommandReplied {
  return analysis.status === 'analyzed'
    ? { outcome: 'done', result: analysis.result as unknown as JsonValue }
    : { outcome: 'rejected', code: analysis.code, message: analysis.message };
}
