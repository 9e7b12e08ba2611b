// One analysis of a website, from its request to its end.
import type { SiteAnalysis } from '@lead-scoring/contracts';
import type { Caller } from './messages.js';

interface AnalysisRequest {
  readonly ou_id: string;
  readonly analysis_id: string;
  readonly url: string;
  readonly requested_at: string;
}

export interface RunningAnalysis extends AnalysisRequest {
  readonly status: 'running';
  readonly caller: Caller | null;
}

export interface FinishedAnalysis extends AnalysisRequest {
  readonly status: 'analyzed';
  readonly at: string;
  readonly result: SiteAnalysis;
}

export interface FailedAnalysis extends AnalysisRequest {
  readonly status: 'failed';
  readonly at: string;
  readonly code: string;
  readonly message: string;
}

export type Analysis = RunningAnalysis | FinishedAnalysis | FailedAnalysis;
