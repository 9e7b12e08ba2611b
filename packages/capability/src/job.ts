// A job: a long piece of work in bounded steps. A step is a command that the service sends to itself in the transaction of the
// step before, so that other work comes in between and a new owner of the partition goes on where the log ends. Steps that take
// longer than a batch may are taken beside the log (`job-runs.ts`), and the command comes when one is done.
import pLimit from 'p-limit';
import type {
  JsonValue,
  PayloadOf,
  RecordDeclaration,
  records,
  ServiceWithJobs,
} from '@lead-scoring/contracts';
import type { IncomingRecord, RecordWriter } from '@lead-scoring/event-log';
import { findFields, packJson, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import type { AggregateDeclaration, AggregateShape, Rejection } from './aggregate.js';
import { aggregate } from './aggregate-capability.js';
import { storedAsDocuments } from './aggregate-storage.js';
import { callerOf } from './callers.js';
import type { Capability, PartitionScope, RecordTable } from './capability.js';
import { OpenEffect } from './effect.js';
import { findRunningJob, jobCollection, toJob, type AnyWork, type JobDocument } from './job-documents.js';
import {
  contextAfterStart,
  decideJob,
  evolveJob,
  jobAnswer,
  type Job,
  type JobCommand,
  type JobContext,
  type JobEvent,
  type JobFinding,
  type JobPart,
  type JobStep,
} from './job-model.js';
import { takeStep, type StepErrorListener } from './job-step.js';
import { JobRuns } from './job-runs.js';
import { OpenAggregate } from './open-aggregate.js';

/**
 * One kind of job.
 * @typeParam Start the command that asks for a job; its payload has `job_id`, `ou_id`, `requested_at` and perhaps `actor`
 * @typeParam Work what such a job is to do, as the event that starts it records it
 */
export interface JobKind<Start extends RecordDeclaration, Work> {
  /** Durable: `kind` in the job's work, and in answers. */
  readonly name: string;
  readonly command: Start;
  /** The work that a command asks for, or the reason why it is refused. */
  begin(
    start: PayloadOf<Start>,
    scope: PartitionScope,
  ): Promise<Rejection | { work: Work; total: number | null }>;
  /** Whether an organizational unit has at most one running job of this kind; another is refused (`job_running`). */
  readonly isExclusive?: boolean;
  /**
   * Whether a step may take longer than a batch: the owner of the partition takes it beside the log. A step that was not recorded is
   * taken again by the next owner.
   */
  readonly isBesideLog?: boolean;
  /** Whether a job of this kind goes on to its end whatever a caller asks: what it does is all or nothing. */
  readonly isIrrevocable?: boolean;
  /** Joins what a step has found out (`found`) to what earlier steps have. Default: the later one counts. */
  joined?(job: Job<Work>, found: JsonValue): JsonValue;
  /**
   * One bounded step, from the job's cursor on. Looks up what is to be done and writes nothing: the commands that it returns
   * are sent in the transaction that records the step. A step that throws ends the job as failed; one that throws a retriable
   * error is taken again.
   * @param signal of a step beside the log: aborted when the job is cancelled or the partition goes to another owner
   */
  step(job: Job<Work>, scope: PartitionScope, signal: AbortSignal): Promise<JobStep>;
  /** The answer to the command that asks for a job. */
  startedResult(job: Job<Work>): JsonValue;
}

/**
 * A kind of job that takes no steps: its work is done elsewhere, and a command reports each part. A job without a part for `idleMs`
 * ends as failed.
 * @typeParam Part the command that tells of a part; its payload has `job_id`, `ou_id`, `requested_at` and perhaps `actor`
 */
export interface FedJobKind<
  Start extends RecordDeclaration,
  Part extends RecordDeclaration,
  Work,
> extends Omit<JobKind<Start, Work>, 'step' | 'isBesideLog' | 'isExclusive'> {
  readonly feed: {
    readonly command: Part;
    partOf(part: PayloadOf<Part>): JobPart;
    /** Whether the command that asks for a job begins one anew that is there already. */
    beginsAnew(start: PayloadOf<Start>, job: Job<Work>): boolean;
    /** The answer to a part. */
    partResult(job: Job<Work>): JsonValue;
    /** Milliseconds without a part after which a running job ends with the error. */
    readonly idleMs: number;
    readonly idleError: records.JobError;
  };
}

interface Jobs extends AggregateShape {
  state: Job<AnyWork> | null;
  command: JobCommand;
  event: JobEvent;
  context: JobContext;
}

type AnySteppedKind = JobKind<RecordDeclaration, AnyWork> & { readonly feed?: undefined };
type AnyFedKind = FedJobKind<RecordDeclaration, RecordDeclaration, AnyWork> & {
  readonly isBesideLog?: undefined;
  readonly isExclusive?: undefined;
};
type AnyKind = AnySteppedKind | AnyFedKind;
type StartType<Kind> = Kind extends { command: RecordDeclaration<infer Type> } ? Type : never;
type PartType<Kind> = Kind extends { feed: { command: RecordDeclaration<infer Type> } } ? Type : never;

export type JobsCapability<StartCommand extends string> = Capability<
  StartCommand | 'ContinueJob' | 'CancelJob',
  'JobStarted' | 'JobAdvanced' | 'JobEnded' | 'JobCancelled'
>;

/**
 * Declares the jobs of a service, of all its kinds.
 * @param writer sends the service its own commands; needed where a kind is fed or takes its steps beside the log
 */
export function jobs<const Kind extends Pick<AnyKind, 'name' | 'command'>>({
  service,
  records: declared,
  kinds,
  writer,
  onStepError,
}: {
  readonly service: ServiceWithJobs;
  readonly records: records.JobRecords;
  readonly kinds: readonly Kind[];
  readonly writer?: Pick<RecordWriter, 'write'>;
  readonly onStepError: StepErrorListener;
}): JobsCapability<StartType<Kind> | PartType<Kind>> {
  if (!writer && kinds.some((kind) => 'feed' in kind || ('isBesideLog' in kind && kind.isBesideLog === true)))
    throw new Error('jobs that are fed, or take their steps beside the log, need a writer');
  const inTurn = pLimit(1);
  const jobKinds = new JobKinds(kinds as unknown as readonly AnyKind[], onStepError);
  const declaration = jobsDeclaration(service, declared, jobKinds, (scope) => scope.opened(capability));
  type Declared = JobsCapability<StartType<Kind> | PartType<Kind>>;
  const capability: Declared & { open(scope: PartitionScope): OpenJobs } = {
    ...(aggregate(declaration) as Declared),
    kind: 'job',
    open: (scope) =>
      new OpenJobs(
        new OpenAggregate(declaration, scope),
        new JobRuns({
          scope,
          records: declared,
          writer,
          kindOf: (job) => jobKinds.of(job),
          onStepError,
          inTurn,
        }),
      ),
  };
  return capability;
}

class OpenJobs extends OpenEffect<OpenAggregate<Jobs>> {
  constructor(
    decider: OpenAggregate<Jobs>,
    readonly runs: JobRuns,
  ) {
    super(decider, runs);
  }
}

function jobsDeclaration(
  service: ServiceWithJobs,
  declared: records.JobRecords,
  jobKinds: JobKinds,
  openIn: (scope: PartitionScope) => OpenJobs,
): AggregateDeclaration<Jobs> {
  return {
    name: 'jobs',
    commands: { ContinueJob: declared.continueJob, CancelJob: declared.cancelJob, ...jobKinds.commands },
    events: {
      JobStarted: declared.jobStarted,
      JobAdvanced: declared.jobAdvanced,
      JobEnded: declared.jobEnded,
      JobCancelled: declared.jobCancelled,
    },
    keyOf: ({ payload }) => payload.job_id,
    initial: () => null,
    commandFrom: (record) => commandFrom(record, jobKinds),
    contextOf: async (commands, scope) => ({
      service,
      partition: scope.partition,
      records: declared,
      findings: await jobKinds.findingsFor(commands, scope, openIn(scope)),
      isIrrevocable: (job) => jobKinds.of(job as Job<AnyWork>).isIrrevocable === true,
    }),
    contextAfter: contextAfterStart,
    decide: decideJob,
    evolve: (job, event) =>
      evolveJob(job, event, (before, found) =>
        jobKinds.joined(before as Job<AnyWork>, found),
      ) as Jobs['state'],
    resultOf: (command, job) => {
      if (!job || command.asks === 'step') return undefined;
      switch (command.asks) {
        case 'cancel':
          return jobAnswer(service, job, new Date(command.payload.requested_at)) as unknown as JsonValue;
        case 'part':
          return jobKinds.feedOf(command).partResult(job);
        case 'start':
          return jobKinds.startedBy(command).startedResult(job);
      }
    },
    stored: storedAsDocuments<Jobs['state'], JobDocument>({
      collection: jobCollection,
      idOf: uuidToBinary,
      toState: toJob,
      toDocument: (job, at) =>
        job && {
          _id: uuidToBinary(job.job_id),
          ou: uuidToBinary(job.ou_id),
          started_at: job.started_at,
          status: job.status,
          kind: job.work.kind,
          content: packJson(job as unknown as JsonValue),
          ...at,
        },
    }),
  };
}

/** The kinds of job that a service runs. */
class JobKinds {
  constructor(
    private readonly kinds: readonly AnyKind[],
    private readonly onStepError: StepErrorListener,
  ) {}

  get commands(): RecordTable {
    const commands = this.kinds.flatMap(({ command, feed }) => (feed ? [command, feed.command] : [command]));
    return Object.fromEntries(commands.map((command) => [command.type, command]));
  }

  isPart(type: string): boolean {
    return this.kinds.some(({ feed }) => feed?.command.type === type);
  }

  feedOf({ type }: JobCommand): AnyFedKind['feed'] {
    const kind = this.kinds.find(({ feed }) => feed?.command.type === type);
    if (!kind?.feed) throw new Error('the service has no such part of a job');
    return kind.feed;
  }

  startedBy({ type }: JobCommand): AnyKind {
    return known(this.kinds.find(({ command }) => command.type === type));
  }

  of({ work }: Job<AnyWork>): AnyKind {
    return known(this.kinds.find(({ name }) => name === work.kind));
  }

  joined(job: Job<AnyWork>, found: JsonValue): JsonValue {
    return this.of(job).joined?.(job, found) ?? found;
  }

  /** Looks up, for each command, the beginning of its job, its next step, or the partition of its job. */
  async findingsFor(
    commands: readonly JobCommand[],
    scope: PartitionScope,
    own: OpenJobs,
  ): Promise<Map<JobCommand, JobFinding>> {
    const states = await own.decider.load(commands.map(({ payload }) => payload.job_id));
    const findings = new Map<JobCommand, JobFinding>();
    for (const command of commands) {
      const job = states.get(command.payload.job_id)?.state ?? null;
      const finding = await this.#findingFor(command, job, { scope, runs: own.runs });
      if (finding) findings.set(command, finding);
    }
    return findings;
  }

  async #findingFor(
    command: JobCommand,
    job: Jobs['state'],
    { scope, runs }: { scope: PartitionScope; runs: JobRuns },
  ): Promise<JobFinding | null> {
    switch (command.asks) {
      case 'start':
        return job && !this.startedBy(command).feed ? null : this.#beginning(command, scope);
      case 'step': {
        if (job?.status !== 'running' || job.step !== command.payload.step) return null;
        const kind = this.of(job);
        // No part came in time: the owner of the partition sends this command then.
        if (kind.feed) return { of: 'step', step: { outcome: 'failed', error: kind.feed.idleError } };
        if (kind.isBesideLog === true) {
          const step = runs.taken(job);
          return step && { of: 'step', step, isBesideLog: true };
        }
        const { signal } = new AbortController();
        return {
          of: 'step',
          step: await takeStep(job, () => kind.step(job, scope, signal), this.onStepError),
        };
      }
      case 'part':
        return { of: 'part', part: this.feedOf(command).partOf(command.payload) };
      case 'cancel':
        return job
          ? null
          : { of: 'place', partition: await partitionOf(scope.readModel, command.payload.job_id) };
    }
  }

  async #beginning(
    command: Extract<JobCommand, { asks: 'start' }>,
    scope: PartitionScope,
  ): Promise<JobFinding> {
    const kind = this.startedBy(command);
    const { name, isExclusive = false, feed } = kind;
    const isBesideLog = kind.isBesideLog ?? feed !== undefined;
    const { ou_id } = command.payload;
    const begun = await kind.begin(command.payload, scope);
    const running = isExclusive ? await findRunningJob(scope.readModel, ou_id, name) : null;
    return {
      of: 'start',
      begun,
      isBesideLog,
      ...(isExclusive && { exclusive: { running } }),
      ...(feed && { beginsAnew: (job) => feed.beginsAnew(command.payload, job as Job<AnyWork>) }),
    };
  }
}

function commandFrom(record: IncomingRecord, kinds: JobKinds): JobCommand {
  const { type, payload, headers } = record;
  const asks =
    type === 'ContinueJob' ? 'step' : type === 'CancelJob' ? 'cancel' : kinds.isPart(type) ? 'part' : 'start';
  return { type, asks, payload, at: headers.time, caller: callerOf(record) } as JobCommand;
}

function known(kind: AnyKind | undefined): AnyKind {
  if (!kind) throw new Error('the service runs no jobs of this kind');
  return kind;
}

async function partitionOf(readModel: ReadModel, id: string): Promise<number | null> {
  const [found] = await findFields(readModel.collection(jobCollection), [uuidToBinary(id)], ['partition']);
  return found?.partition ?? null;
}
