// What happens to an analysis, what asks for it, and what is decided.
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

/** Why an analysis is not begun, or how it ended without a result. */
export interface Refusal {
  code: ProblemCode;
  message: string;
}

/** What is known at the moment of a request besides the analysis itself. */
export interface Conditions {
  /** Why an address cannot be asked for, as far as its text tells; null when it can. */
  refusalOf: (url: string) => Refusal | null;
  /** How many more analyses may begin now. */
  room: number;
}

export type AnalysisDecision =
  /** The analysis begins; or, without an event, the command is of no analysis that runs. */
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
