// A contender of a comparison. It is started anew for every round, on topics and databases of its own.
import type { PlatformEndpoints } from '@lead-scoring/platform';
import type { Target } from '../load/connection.js';
import type { ReadableBy } from '../load/readable.js';
import type { Scoring } from '../workload.js';

/** Appended to a contender's name to name the same contender of an earlier checkout. */
export const beforeSuffix = ', before';

export interface Contender {
  /** Its name in the tables. */
  name: string;
  start(endpoints: PlatformEndpoints): Promise<RunningContender>;
}

export interface RunningContender {
  /** The server that takes POST /ingest. */
  target: Target;
  /** Processor seconds that its own processes have used; servers are not counted. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** A contender that scores events, so that its leads are readable. */
export interface ScoringContender extends Contender {
  scoring: Scoring;
  start(endpoints: PlatformEndpoints): Promise<RunningScoringContender>;
}

export interface RunningScoringContender extends RunningContender {
  readable: ReadableBy;
  /** The totals over all its leads. */
  totals(): Promise<Totals>;
}

export interface Totals {
  leads: number;
  events: number;
  score: number;
}
