// The state of a job, and the decisions on its commands: pure. The findings of a step come in with the context.
import {
  jobIdOf,
  records,
  type JsonValue,
  type routeDeclarations,
  type ServiceWithJobs,
} from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import type { Rejection } from './aggregate.js';
import { callerHeaders, type Caller } from './callers.js';

/** The work of a job, and its progress. */
export interface Job<Work> {
  readonly job_id: string;
  readonly ou_id: string;
  readonly work: Work;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled';
  /** Items that there are to do; null: not known. */
  readonly total: number | null;
  /** Items that were dealt with, failed ones included. */
  readonly done: number;
  readonly failed: number;
  /** The first ones; of a failed job the last one says why it ended. */
  readonly errors: readonly records.JobError[];
  /** Steps that are done. */
  readonly step: number;
  /** Where the next step goes on; null: at the beginning. */
  readonly cursor: string | null;
  /** The findings of all steps so far, joined by the kind of job; absent: none. */
  readonly found?: JsonValue;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly actor: records.CancelJob['actor'];
}

/** The items that one bounded step has found, and the cursor of the next step. */
export type JobStep =
  | {
      readonly outcome: 'advanced';
      /** At most 200 characters; null: this was the last step. */
      readonly cursor: string | null;
      /** Items that the step deals with, failed ones included. */
      readonly done: number;
      /** One for each failed item, unless `failed` says how many there are; the first are kept. */
      readonly errors?: readonly records.JobError[];
      readonly failed?: number;
      /** The step's findings for the result of the job; they are recorded with the step. */
      readonly found?: JsonValue;
      /** Sent in the transaction that records the step. */
      readonly commands: readonly OutgoingRecord[];
    }
  | { readonly outcome: 'failed'; readonly error: records.JobError };

/** The fields of every command that asks for a job. */
export type JobRequest = Pick<records.CancelJob, 'job_id' | 'ou_id' | 'requested_at' | 'actor'>;

interface Asked {
  /** The type of the command's record. */
  readonly type: string;
  /** When the record was written. */
  readonly at: string;
  readonly caller: Caller | null;
}
export type JobCommand =
  | (Asked & { readonly asks: 'start'; readonly payload: JobRequest })
  | (Asked & { readonly asks: 'step'; readonly payload: records.ContinueJob })
  | (Asked & { readonly asks: 'part'; readonly payload: JobRequest })
  | (Asked & { readonly asks: 'cancel'; readonly payload: records.CancelJob });

export type JobEvent =
  | { readonly type: 'JobStarted'; readonly payload: records.JobStarted<unknown> }
  | { readonly type: 'JobAdvanced'; readonly payload: records.JobAdvanced & { readonly found?: JsonValue } }
  | { readonly type: 'JobEnded'; readonly payload: records.JobEnded }
  | { readonly type: 'JobCancelled'; readonly payload: records.JobCancelled };

/** A part of the work of a job that is fed from outside. */
export interface JobPart {
  /** Parts that the job has taken before it. */
  readonly step: number;
  /** The part as a step of the job. It has no commands, because the work of the part is done already. */
  readonly taken: JobStep;
  /** Whether the part comes from the source that feeds the job now, for example the latest upload under one key. */
  isOf(job: Job<unknown>): boolean;
}

/** The result of the look-up for one command. */
export type JobFinding =
  | {
      readonly of: 'start';
      readonly begun: Rejection | { work: { readonly kind: string }; total: number | null };
      /** The job of the same kind and OU that is running; absent where several may run. */
      readonly exclusive?: { readonly running: string | null };
      readonly isBesideLog?: boolean;
      /** Whether the command begins a job anew that is there already. */
      readonly beginsAnew?: (job: Job<unknown>) => boolean;
    }
  | { readonly of: 'part'; readonly part: JobPart }
  /** `isBesideLog`: the owner of the partition takes each step beside the log, without a command that asks for it. */
  | { readonly of: 'step'; readonly step: JobStep; readonly isBesideLog?: boolean }
  /** The partition that another partition's job is in; null: no partition has stored the job. */
  | { readonly of: 'place'; readonly partition: number | null };

export interface JobContext {
  readonly service: ServiceWithJobs;
  readonly partition: number;
  readonly records: records.JobRecords;
  readonly findings: ReadonlyMap<JobCommand, JobFinding>;
  /** Whether a job cannot be cancelled. Default: none. */
  readonly isIrrevocable?: (job: Job<unknown>) => boolean;
  /** Jobs that earlier commands of the batch have started, by `exclusiveName`. */
  readonly started?: ReadonlyMap<string, string>;
}

/** Jobs of one name exclude each other, where their kind says so. */
function exclusiveName(ouId: string, kind: string): string {
  return `${ouId} ${kind}`;
}

/** The context of the next command of the batch. */
export function contextAfterStart(context: JobContext, events: readonly JobEvent[]): JobContext {
  const started = new Map(context.started);
  for (const { type, payload } of events)
    if (type === 'JobStarted') {
      const { kind } = payload.work as { kind: string };
      started.set(exclusiveName(payload.ou_id, kind), payload.job_id);
    }
  return { ...context, started };
}

type JobDecision =
  | Rejection
  | {
      readonly outcome: 'done' | 'unanswered';
      readonly events: readonly JobEvent[];
      readonly commands?: readonly OutgoingRecord[];
    };

const nothing: JobDecision = { outcome: 'unanswered', events: [] };
/** The refusal of a request that names a job which the OU does not have. */
export const jobNotFound: Rejection = {
  outcome: 'rejected',
  code: 'job_not_found',
  message: 'There is no job with this id in the organizational unit.',
};

export function decideJob(command: JobCommand, job: Job<unknown> | null, context: JobContext): JobDecision {
  const finding = context.findings.get(command);
  switch (command.asks) {
    case 'start':
      // A job is started once, however often its command comes.
      if (job && !(finding?.of === 'start' && finding.beginsAnew?.(job) === true))
        return { outcome: 'done', events: [] };
      return finding?.of === 'start' ? decideStart(command.payload, finding, context) : nothing;
    case 'step':
      // A step that is done already, or of a job that has ended, has no finding, or one that is out of date.
      return finding?.of === 'step' && job?.status === 'running' && job.step === command.payload.step
        ? decideStep(job, finding, { at: command.at, context })
        : nothing;
    case 'part':
      return finding?.of === 'part' ? decidePart(command, job, finding.part, context) : nothing;
    case 'cancel':
      return job ? decideCancel(command.payload, job, context) : forward(command, finding, context);
  }
}

function decideStart(
  { job_id, ou_id, requested_at, actor }: JobRequest,
  { begun, exclusive, isBesideLog = false }: Extract<JobFinding, { of: 'start' }>,
  context: JobContext,
): JobDecision {
  if ('outcome' in begun) return begun;
  if (exclusive) {
    const running = context.started?.get(exclusiveName(ou_id, begun.work.kind)) ?? exclusive.running;
    if (running !== null) return isRunning(jobIdOf(context.service, running), begun.work.kind);
  }
  const payload = { job_id, ou_id, ...begun, at: requested_at, actor };
  return {
    outcome: 'done',
    events: [{ type: 'JobStarted', payload }],
    ...(!isBesideLog && { commands: [continuation({ job_id, ou_id, step: 0 }, context)] }),
  };
}

function isRunning(id: string, kind: string): Rejection {
  return {
    outcome: 'rejected',
    code: 'job_running',
    message: `The job ${id} (${kind}) of this organizational unit is running. Wait until it has ended (GET /jobs/${id}), or cancel it (POST /jobs/${id}/cancel).`,
    errors: [{ path: 'job_id', message: id }],
  };
}

function decideStep(
  { job_id, ou_id, step }: Job<unknown>,
  { step: taken, isBesideLog = false }: Extract<JobFinding, { of: 'step' }>,
  { at, context }: { at: string; context: JobContext },
): Exclude<JobDecision, Rejection> {
  const name = { job_id, ou_id };
  if (taken.outcome === 'failed') {
    const payload = { ...name, outcome: 'failed' as const, error: taken.error, at };
    return { outcome: 'unanswered', events: [{ type: 'JobEnded', payload }] };
  }
  const { cursor, done, errors = [], failed = errors.length, found, commands } = taken;
  const advanced: JobEvent = {
    type: 'JobAdvanced',
    payload: {
      ...name,
      step,
      ...(cursor !== null && { cursor }),
      done,
      failed,
      errors: errors.slice(0, records.maximumJobErrors),
      ...(found !== undefined && { found }),
      at,
    },
  };
  const ended: JobEvent = { type: 'JobEnded', payload: { ...name, outcome: 'completed', at } };
  if (cursor === null) return { outcome: 'unanswered', events: [advanced, ended], commands };
  const next = isBesideLog ? [] : [continuation({ ...name, step: step + 1 }, context)];
  return { outcome: 'unanswered', events: [advanced], commands: [...commands, ...next] };
}

const notCancellable: Rejection = {
  outcome: 'rejected',
  code: 'job_not_cancellable',
  message:
    'This job goes on to its end, because half of what it does would be wrong. GET /jobs/{id} says how far it is.',
};

/** Counts a part once. The work of a part is done when its command comes, so the part counts also when the job has ended meanwhile. */
function decidePart(
  { payload: { ou_id }, at }: JobCommand,
  job: Job<unknown> | null,
  part: JobPart,
  context: JobContext,
): JobDecision {
  if (job?.ou_id !== ou_id) return jobNotFound;
  if (!part.isOf(job)) return job.status === 'completed' ? { outcome: 'done', events: [] } : isFedOtherwise;
  if (part.step < job.step) return { outcome: 'done', events: [] };
  if (part.step > job.step) return partIsMissing;
  const decision = decideStep(job, { of: 'step', step: part.taken, isBesideLog: true }, { at, context });
  if (job.status === 'running') return { ...decision, outcome: 'done' };
  return { outcome: 'done', events: decision.events.filter(({ type }) => type === 'JobAdvanced') };
}

const isFedOtherwise: Rejection = {
  outcome: 'rejected',
  code: 'job_ended',
  message: 'The same work was begun anew meanwhile, and goes on from its beginning.',
};
const partIsMissing: Rejection = {
  outcome: 'rejected',
  code: 'log_unavailable',
  message: 'A part before this one has not arrived. Begin again.',
};

/** A job that has ended stays as it is. */
function decideCancel(
  { job_id, ou_id, requested_at, actor }: records.CancelJob,
  job: Job<unknown>,
  { isIrrevocable }: Pick<JobContext, 'isIrrevocable'>,
): JobDecision {
  if (job.ou_id !== ou_id) return jobNotFound;
  if (job.status !== 'running') return { outcome: 'done', events: [] };
  if (isIrrevocable?.(job) === true) return notCancellable;
  return {
    outcome: 'done',
    events: [{ type: 'JobCancelled', payload: { job_id, ou_id, at: requested_at, actor } }],
  };
}

/** Sends the cancellation to the partition of the job, which replies. */
function forward(
  { payload, caller }: { payload: records.CancelJob; caller: Caller | null },
  finding: JobFinding | undefined,
  { partition: own, records: { cancelJob } }: JobContext,
): JobDecision {
  const partition = finding?.of === 'place' ? finding.partition : null;
  if (partition === null || partition === own) return jobNotFound;
  const headers = callerHeaders(caller);
  return {
    outcome: 'unanswered',
    events: [],
    commands: [outgoing(cancelJob, { key: payload.job_id, partition, payload, headers })],
  };
}

/** The command to do the next step, sent to the partition of the job. */
export function continuation(
  payload: records.ContinueJob,
  { partition, records: { continueJob } }: Pick<JobContext, 'partition' | 'records'>,
): OutgoingRecord {
  return outgoing(continueJob, { key: payload.job_id, partition, payload });
}

/**
 * Folds an event into a job.
 * @param joined joins the findings of a step to those of the steps before it
 */
export function evolveJob(
  before: Job<unknown> | null,
  event: JobEvent,
  joined: (job: Job<unknown>, found: JsonValue) => JsonValue = (_job, found) => found,
): Job<unknown> | null {
  if (event.type === 'JobStarted') {
    const { job_id, ou_id, work, total, at, actor } = event.payload;
    return {
      job_id,
      ou_id,
      work,
      status: 'running',
      total,
      done: 0,
      failed: 0,
      errors: [],
      step: 0,
      cursor: null,
      started_at: at,
      ended_at: null,
      actor,
    };
  }
  if (!before) return null;
  switch (event.type) {
    case 'JobAdvanced': {
      const { step, cursor = null, done, failed, errors, found } = event.payload;
      return {
        ...before,
        step: step + 1,
        cursor,
        ...(found !== undefined && { found: joined(before, found) }),
        done: before.done + done,
        failed: before.failed + failed,
        errors: [...before.errors, ...errors].slice(0, records.maximumJobErrors),
      };
    }
    case 'JobEnded': {
      const { outcome, error, at } = event.payload;
      const errors = error ? [...before.errors.slice(0, records.maximumJobErrors - 1), error] : before.errors;
      // The source of a fed job does not say how many parts it has: the total is known when the job ends.
      const total = outcome === 'completed' ? (before.total ?? before.done) : before.total;
      return { ...before, status: outcome, total, errors, ended_at: at };
    }
    case 'JobCancelled':
      return { ...before, status: 'cancelled', ended_at: event.payload.at };
  }
}

/** A job as answers show it at a moment, without the result that jobs of some kinds have. */
export function jobAnswer(
  service: ServiceWithJobs,
  job: Job<{ readonly kind: string }>,
  now: Date,
): Omit<routeDeclarations.Job, 'result'> {
  return { ...listedJob(service, job, now), errors: [...job.errors] };
}

/** A job as lists show it at a moment: with their errors, a page of 100 jobs could be too large. */
export function listedJob(
  service: ServiceWithJobs,
  job: Job<{ readonly kind: string }>,
  now: Date,
): routeDeclarations.ListedJob {
  const { work, status, total, done, failed, started_at, ended_at } = job;
  const rate = rateOf(job, now);
  const secondsLeft = total === null || !rate ? null : Math.max(0, total - done) / rate;
  return {
    id: jobIdOf(service, job.job_id),
    kind: work.kind,
    status,
    total,
    done,
    failed,
    rate,
    eta:
      status === 'running' && secondsLeft !== null
        ? new Date(now.getTime() + secondsLeft * 1_000).toISOString()
        : null,
    started_at,
    ended_at,
  };
}

/** Items a second, to three places; null before the first. */
function rateOf({ done, started_at, ended_at }: Job<unknown>, now: Date): number | null {
  if (done === 0) return null;
  const end = ended_at === null ? now.getTime() : Date.parse(ended_at);
  const seconds = Math.max(0.001, (end - Date.parse(started_at)) / 1_000);
  return Math.round((done / seconds) * 1_000) / 1_000;
}
