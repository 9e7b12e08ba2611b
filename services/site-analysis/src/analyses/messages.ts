// The commands, events and decisions of an analysis.
import type { ProblemCode, records } from '@lead-scoring/contracts';

/** The caller that waits for a result, as the headers of its command name it. */
export interface Caller {
  reply_to: string;
  correlation_id: string;
}

export type AnalysisCommand =
  | { type: 'AnalyzeSite'; payload: records.AnalyzeSite; caller: Caller | null }
  | { type: 'RecordSiteAnalysis'; payload: records.RecordSiteAnalysis };

export type AnalysisEvent =
  | { type: 'SiteAnalysisRequested'; payload: records.SiteAnalysisRequested; caller: Caller | null }
  | { type: 'SiteAnalyzed'; payload: records.SiteAnalyzed }
  | { type: 'SiteAnalysisFailed'; payload: records.SiteAnalysisFailed };

/** The reason why an analysis is not started, or has ended without a result. */
export interface Refusal {
  code: ProblemCode;
  message: string;
}

/** The context of a decision besides the state of the analysis. */
export interface Conditions {
  /** The reason why an address may not be requested, judged by its text; null when it may. */
  refusalOf: (url: string) => Refusal | null;
  /** The number of analyses that may still start now. */
  room: number;
}

export type AnalysisDecision =
  /** The analysis starts; or, without an event, the command belongs to no running analysis. */
  | { outcome: 'unanswered'; events: AnalysisEvent[] }
  /** The analysis is running: the answer comes when it ends. */
  | { outcome: 'awaited' }
  | { outcome: 'answered'; events: AnalysisEvent[]; reply: records.CommandReplied }
  | {
      outcome: 'rejected';
      code: ProblemCode;
      message: string;
      errors?: { path: string; message: string }[];
    };
