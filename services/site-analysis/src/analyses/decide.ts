// Decides on requests for analyses and on their ends. Pure: time, ids and conditions come with the command.
import type { JsonValue, records } from '@lead-scoring/contracts';
import type { AnalysisCommand, AnalysisDecision, AnalysisEvent, Caller, Conditions } from './messages.js';
import type { Analysis, RunningAnalysis } from './state.js';

/** The end of an analysis whose process stopped. After this end, and no other, a repeated request starts the analysis again. */
export const interrupted = {
  code: 'analysis_interrupted',
  message: 'The analysis was interrupted before it ended. Send the request again.',
} as const;

const tooMany = {
  code: 'too_many_analyses',
  message:
    'The system is analysing the largest number of sites that it allows at a time. Try again in a few seconds.',
} as const;

export function decideAnalysis(
  command: AnalysisCommand,
  known: Analysis | null,
  conditions: Conditions,
): AnalysisDecision {
  switch (command.type) {
    case 'AnalyzeSite':
      return decideRequest(command.payload, command.caller, known, conditions);
    case 'RecordSiteAnalysis':
      return decideEnd(command.payload, known);
  }
}

/** The conditions for the next command of a batch, after these events. */
export function conditionsAfter(conditions: Conditions, events: readonly AnalysisEvent[]): Conditions {
  const begun = events.filter(({ type }) => type === 'SiteAnalysisRequested').length;
  return { ...conditions, room: conditions.room - begun };
}

/** A repeated request starts no second analysis: it gets the recorded answer, or waits for the end. */
function decideRequest(
  command: records.AnalyzeSite,
  caller: Caller | null,
  known: Analysis | null,
  { refusalOf, room }: Conditions,
): AnalysisDecision {
  if (known?.status === 'running') return { outcome: 'awaited' };
  if (known && !(known.status === 'failed' && known.code === interrupted.code))
    return { outcome: 'answered', events: [], reply: replyOf(known) };
  const refusal = refusalOf(command.url);
  if (refusal)
    return {
      outcome: 'rejected',
      ...refusal,
      errors: [{ path: 'body.url', message: refusal.message.slice(0, 1_000) }],
    };
  if (room <= 0) return { outcome: 'rejected', ...tooMany };
  return { outcome: 'unanswered', events: [{ type: 'SiteAnalysisRequested', payload: command, caller }] };
}

/** Records the first end of the current attempt; an end of an earlier attempt is ignored. */
function decideEnd(command: records.RecordSiteAnalysis, known: Analysis | null): AnalysisDecision {
  if (known?.requested_at !== command.requested_at) return { outcome: 'unanswered', events: [] };
  if (known.status !== 'running') return { outcome: 'answered', events: [], reply: replyOf(known) };
  const event = endOf(known, command);
  return { outcome: 'answered', events: [event], reply: replyOf(command.outcome) };
}

function endOf(known: RunningAnalysis, { ended_at, outcome }: records.RecordSiteAnalysis): AnalysisEvent {
  const { ou_id, analysis_id, url, requested_at } = known;
  const ended = { ou_id, analysis_id, url, requested_at, at: ended_at };
  if (outcome.status === 'analyzed')
    return { type: 'SiteAnalyzed', payload: { ...ended, result: outcome.result } };
  const { code, message } = outcome;
  return { type: 'SiteAnalysisFailed', payload: { ...ended, code, message } };
}

/** The reply to the callers of an analysis that has ended. */
function replyOf(ended: records.RecordSiteAnalysis['outcome']): records.CommandReplied {
  return ended.status === 'analyzed'
    ? { outcome: 'done', result: ended.result as unknown as JsonValue }
    : { outcome: 'rejected', code: ended.code, message: ended.message };
}
