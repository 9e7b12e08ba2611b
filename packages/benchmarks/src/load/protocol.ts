// What the benchmark and the load generator's process say to each other.
import type { Latencies } from '../statistics.js';
import type { WorkloadPlan } from '../workload.js';
import type { Target } from './connection.js';
import type { ReadableBy } from './readable.js';

/** Sends as fast as the answers come: on each connection the next request follows the answer to the last. */
export interface Flood {
  do: 'flood';
  target: Target;
  plan: WorkloadPlan;
  connections: number;
  /** Send the plan's events over and over for that long; absent: send each once. */
  forMs?: number;
  /** Wait then until all is readable. */
  readable?: { by: ReadableBy; timeoutMs: number; acceptedBefore: number };
}

export interface FloodResult {
  events: number;
  requests: number;
  /** From the first request to the last answer. */
  acceptMs: number;
  /** From the first request until all was readable. */
  readableMs: number | null;
  latencies: Latencies;
  /** Processor time of the load generator in that time, as a share of one core. */
  generatorCores: number;
}

/**
 * Sends at a fixed rate, whether or not answers come: a request counts from the moment it was due, so a server that
 * falls behind is seen to. Between them go probes, single events of leads of their own, timed until readable.
 */
export interface Pace {
  do: 'pace';
  target: Target;
  plan: WorkloadPlan;
  connections: number;
  eventsPerSecond: number;
  forMs: number;
  probes?: {
    perSecond: number;
    eventType?: string;
    readable: ReadableBy;
    timeoutMs: number;
    /** Ends the sending once a probe was not readable for so many milliseconds: the rate is not held. */
    giveUpAfterMs?: number;
  };
}

export interface PaceResult {
  events: number;
  /** Single events sent as probes, which `events` does not count. */
  probes: number;
  /** Whether the sending was ended because a probe was too late. */
  gaveUp: boolean;
  elapsedMs: number;
  latencies: Latencies;
  /** From POST to readable, or to the first byte of its notification. */
  probeLatencies: Latencies | null;
  generatorCores: number;
}

/** Reads these paths in this order, the next as soon as an answer is in. */
export interface Ask {
  do: 'ask';
  target: Target;
  paths: string[];
  connections: number;
  /** Ends early after that long, but not before `atLeast` answers. */
  forMs: number;
  atLeast: number;
}

export interface AskResult {
  latencies: Latencies;
  bytes: number;
}

export type Work = Flood | Pace | Ask;
export interface ResultOf {
  flood: FloodResult;
  pace: PaceResult;
  ask: AskResult;
}

export interface WorkMessage {
  number: number;
  work: Work;
}

export type ResultMessage = { number: number } & ({ result: ResultOf[Work['do']] } | { error: string });
