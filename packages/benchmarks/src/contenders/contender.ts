// What takes part in a comparison: started fresh for every round, on topics and databases of its own.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import type { Target } from '../load/connection.js';
import type { ReadableBy } from '../load/readable.js';
import type { Scoring } from '../workload.js';

/** Ends the name of a contender that is an earlier checkout of the system, and begins as that of this one. */
export const beforeSuffix = ', before';

export interface Contender {
  /** As the tables name it. */
  name: string;
  start(endpoints: PlatformEndpoints): Promise<RunningContender>;
}

export interface RunningContender {
  /** Takes POST /ingest. */
  target: Target;
  /** Processor seconds that its own processes have used; servers are not counted. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** One whose leads can be read. */
export interface ScoringContender extends Contender {
  scoring: Scoring;
  start(endpoints: PlatformEndpoints): Promise<RunningScoringContender>;
}

export interface RunningScoringContender extends RunningContender {
  readable: ReadableBy;
  /** What all leads together hold. */
  totals(): Promise<Totals>;
}

export interface Totals {
  leads: number;
  events: number;
  score: number;
}
