// The messages between the benchmark and the load generator's process.
import type { Latencies } from '../statistics.js';
import type { WorkloadPlan } from '../workload.js';
import type { Target } from './connection.js';
import type { ReadableBy } from './readable.js';

/** Sends without pause: on each connection the next request follows the answer to the last. */
export interface Flood {
  do: 'flood';
  target: Target;
  plan: WorkloadPlan;
  connections: number;
  /** Sends the plan's events repeatedly for this time; absent: sends each once. */
  forMs?: number;
  /** Waits afterwards until all events are readable. */
  readable?: { by: ReadableBy; timeoutMs: number; acceptedBefore: number };
}

export interface FloodResult {
  events: number;
  requests: number;
  /** From the first request to the last answer. */
  acceptMs: number;
  /** From the first request until all events were readable. */
  readableMs: number | null;
  latencies: Latencies;
  /** Processor time of the load generator, as a share of one core. */
  generatorCores: number;
}

/** Sends the plan's events as one upload to POST /import, and waits until all of them are readable. */
export interface Import {
  do: 'import';
  target: Target;
  plan: WorkloadPlan;
  /** How often the upload has the plan's events; each counts again. */
  times: number;
  readable: { by: ReadableBy; timeoutMs: number };
}

export interface ImportResult {
  events: number;
  /** The bytes of the upload. */
  bytes: number;
  /** From the first byte of the request until all events were readable. */
  readableMs: number;
}

/**
 * Sends at a fixed rate without waiting for answers. A request's latency begins when it was due, so it includes the time by which a
 * server falls behind. Between the requests go probes, single events of new leads, timed until they are readable.
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
    /** Stops sending when a probe has not been readable for this time: the rate is not held. */
    giveUpAfterMs?: number;
  };
}

export interface PaceResult {
  events: number;
  /** The number of probes, which `events` does not include. */
  probes: number;
  /** Whether sending stopped because a probe was too late. */
  gaveUp: boolean;
  elapsedMs: number;
  latencies: Latencies;
  /** From POST to readable or, for a notifier, to the first byte of the notification. */
  probeLatencies: Latencies | null;
  generatorCores: number;
}

/** Reads paths in the given order; on each connection the next read follows the answer to the last. */
export interface Read {
  do: 'read';
  target: Target;
  paths: string[];
  connections: number;
  /** Ends after this time, but not before `atLeast` answers. */
  forMs: number;
  atLeast: number;
}

export interface ReadResult {
  latencies: Latencies;
  bytes: number;
}

export type Work = Flood | Import | Pace | Read;
export interface ResultOf {
  flood: FloodResult;
  import: ImportResult;
  pace: PaceResult;
  read: ReadResult;
}

export interface WorkMessage {
  number: number;
  work: Work;
}

export type ResultMessage = { number: number } & ({ result: ResultOf[Work['do']] } | { error: string });
