// One analysis of a website, from its request to its end.
import type { SiteAnalysis } from '@lead-scoring/contracts';
import type { Caller } from './messages.js';

interface Requested {
  readonly ou_id: string;
  readonly analysis_id: string;
  readonly url: string;
  readonly requested_at: string;
}

export interface RunningAnalysis extends Requested {
  readonly status: 'running';
  readonly caller: Caller | null;
}

export interface FinishedAnalysis extends Requested {
  readonly status: 'analyzed';
  readonly at: string;
  readonly result: SiteAnalysis;
}

export interface FailedAnalysis extends Requested {
  readonly status: 'failed';
  readonly at: string;
  readonly code: string;
  readonly message: string;
}

export type Analysis = RunningAnalysis | FinishedAnalysis | FailedAnalysis;
