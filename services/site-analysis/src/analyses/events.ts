// What happens to an analysis, and what asks for it.
import type { ProblemCode, records } from '@lead-scoring/contracts';

/** Who waits for the result, as the headers of its command say. */
export interface Caller {
  reply_to: string;
  correlation_id: string;
}

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
  /** Why this address cannot be asked for; null when it can. */
  refusal: Refusal | null;
  /** Whether as many analyses run as may. */
  full: boolean;
}

export type RequestDecision =
  | { outcome: 'started'; event: AnalysisEvent }
  /** It is running: the answer comes when it ends. */
  | { outcome: 'awaited' }
  | { outcome: 'answered'; reply: records.CommandReplied };

export type EndDecision =
  | { outcome: 'ended'; event: AnalysisEvent }
  /** It had ended already. */
  | { outcome: 'answered'; reply: records.CommandReplied }
  /** Nothing is known of it, or it was begun anew since. */
  | { outcome: 'ignored' };
