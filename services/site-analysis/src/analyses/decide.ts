// Decides on requests for analyses and on their ends: pure; time, ids and the state of the world come with the command.
import type { JsonValue, records } from '@lead-scoring/contracts';
import type { AnalysisCommand, AnalysisDecision, AnalysisEvent, Caller, Conditions } from './messages.js';
import type { Analysis, RunningAnalysis } from './state.js';

/** How an analysis ends whose process went away: the one end after which the same request begins it anew. */
export const interrupted = {
  code: 'analysis_interrupted',
  message: 'The analysis was interrupted before it ended. Send the request again.',
} as const;

const tooMany = {
  code: 'too_many_analyses',
  message: 'As many sites are being analysed as this system takes at once. Try again in a few seconds.',
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

/** What the next command of a batch finds after these events. */
export function conditionsAfter(conditions: Conditions, events: readonly AnalysisEvent[]): Conditions {
  const begun = events.filter(({ type }) => type === 'SiteAnalysisRequested').length;
  return { ...conditions, room: conditions.room - begun };
}

/** An analysis that was asked for before is not begun again: its answer is the recorded one, or that which is to come. */
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

/** The first end counts; one of an earlier attempt does not. */
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

/** What callers are told of an analysis that has ended. */
function replyOf(ended: records.RecordSiteAnalysis['outcome']): records.CommandReplied {
  return ended.status === 'analyzed'
    ? { outcome: 'done', result: ended.result as unknown as JsonValue }
    : { outcome: 'rejected', code: ended.code, message: ended.message };
}
