// A job: a long piece of work in bounded steps. A step is a command that the service sends to itself in the transaction of the
// step before, so that other work comes in between and a new owner of the partition goes on where the log ends.
import type {
  JsonValue,
  PayloadOf,
  RecordDeclaration,
  records,
  ServiceWithJobs,
} from '@lead-scoring/contracts';
import type { IncomingRecord } from '@lead-scoring/event-log';
import {
  defineCollection,
  encodeCursor,
  equals,
  findByIds,
  findFields,
  findPage,
  packJson,
  unpackJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
  type Page,
  type PageRequest,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { AggregateShape, Rejection } from './aggregate.js';
import { aggregate, type Aggregate } from './aggregate-capability.js';
import { storedAsDocuments } from './aggregate-storage.js';
import { callerOf } from './callers.js';
import type { Capability, PartitionScope, RecordTable } from './capability.js';
import {
  decideJob,
  evolveJob,
  jobAnswer,
  type Job,
  type JobCommand,
  type JobContext,
  type JobEvent,
  type JobFinding,
  type JobStep,
} from './job-model.js';
import { takeStep, type StepErrorListener } from './job-step.js';
import type { OpenAggregate } from './open-aggregate.js';

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
  /**
   * One bounded step, from the job's cursor on. Looks up what is to be done and writes nothing: the commands that it returns
   * are sent in the transaction that records the step. A step that throws ends the job as failed; one that throws a retriable
   * error is taken again.
   */
  step(job: Job<Work>, scope: PartitionScope): Promise<JobStep>;
  /** The answer to the command that asks for a job. */
  startedResult(job: Job<Work>): JsonValue;
}

interface AnyWork {
  readonly kind: string;
}

interface Jobs extends AggregateShape {
  state: Job<AnyWork> | null;
  command: JobCommand;
  event: JobEvent;
  context: JobContext;
}

interface JobDocument extends GuardedDocument {
  /** The id of the job in its service. */
  _id: Binary;
  ou: Binary;
  started_at: string;
  status: Job<AnyWork>['status'];
  /** JSON text of the job. */
  content: string;
}

/** The jobs of a service. */
export const jobCollection = defineCollection<JobDocument>({
  name: 'jobs',
  indexes: [{ key: { ou: 1, started_at: -1 } }],
});
const newestFirst = { field: 'started_at', direction: 'descending' } as const;

/** A job of an OU, of any partition, as it is stored; null where the OU has none with this id. */
export async function findJob(readModel: ReadModel, ouId: string, id: string): Promise<Job<AnyWork> | null> {
  const [found] = await findByIds(readModel.collection(jobCollection), [uuidToBinary(id)]);
  const job = found ? toJob(found) : null;
  return job?.ou_id === ouId ? job : null;
}

/** A page of an OU's jobs, the newest first. @throws InvalidCursor */
export function findJobs(
  readModel: ReadModel,
  ouId: string,
  { status, ...request }: PageRequest & { readonly status?: Job<AnyWork>['status'] | undefined },
): Promise<Page<Job<AnyWork>>> {
  return findPage(readModel.collection(jobCollection), {
    filter: { ou: uuidToBinary(ouId), ...(status && { status: equals(status) }) },
    sort: newestFirst,
    request,
    toItem: toJob,
  });
}

/** The cursor with which a list goes on behind a job; the same in the lists of all services. */
export function cursorBehindJob(job: Pick<Job<unknown>, 'job_id' | 'started_at'>): string {
  return encodeCursor({ value: job.started_at, id: uuidToBinary(job.job_id) }, newestFirst);
}

function toJob({ content }: JobDocument): Job<AnyWork> {
  return unpackJson(content) as unknown as Job<AnyWork>;
}

type AnyKind = JobKind<RecordDeclaration, AnyWork>;
type StartType<Kind> = Kind extends { command: RecordDeclaration<infer Type> } ? Type : never;

export type JobsCapability<StartCommand extends string> = Capability<
  StartCommand | 'ContinueJob' | 'CancelJob',
  'JobStarted' | 'JobAdvanced' | 'JobEnded' | 'JobCancelled'
>;

/** Declares the jobs of a service, of all its kinds. */
export function jobs<const Kind extends Pick<AnyKind, 'name' | 'command'>>({
  service,
  records: declared,
  kinds,
  onStepError,
}: {
  readonly service: ServiceWithJobs;
  readonly records: records.JobRecords;
  readonly kinds: readonly Kind[];
  readonly onStepError: StepErrorListener;
}): JobsCapability<StartType<Kind>> {
  const jobKinds = new JobKinds(kinds as unknown as readonly AnyKind[], onStepError);
  const capability: Aggregate<Jobs> = {
    ...aggregate<Jobs>({
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
      commandFrom,
      contextOf: async (commands, scope) => ({
        partition: scope.partition,
        records: declared,
        findings: await jobKinds.findingsFor(commands, scope, scope.opened(capability)),
      }),
      decide: decideJob,
      evolve: (job, event) => evolveJob(job, event) as Jobs['state'],
      resultOf: (command, job) => {
        if (!job || command.asks === 'step') return undefined;
        return command.asks === 'cancel'
          ? jobAnswer(service, job, new Date(command.payload.requested_at))
          : jobKinds.startedBy(command).startedResult(job);
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
            content: packJson(job as unknown as JsonValue),
            ...at,
          },
      }),
    }),
    kind: 'job',
  };
  return capability;
}

/** The kinds of job that a service runs. */
class JobKinds {
  constructor(
    private readonly kinds: readonly AnyKind[],
    private readonly onStepError: StepErrorListener,
  ) {}

  get commands(): RecordTable {
    return Object.fromEntries(this.kinds.map(({ command }) => [command.type, command]));
  }

  startedBy({ type }: JobCommand): AnyKind {
    return known(this.kinds.find(({ command }) => command.type === type));
  }

  /** Looks up, for each command, the beginning of its job, its next step, or the partition of its job. */
  async findingsFor(
    commands: readonly JobCommand[],
    scope: PartitionScope,
    own: OpenAggregate<Jobs>,
  ): Promise<Map<JobCommand, JobFinding>> {
    const states = await own.load(commands.map(({ payload }) => payload.job_id));
    const findings = new Map<JobCommand, JobFinding>();
    for (const command of commands) {
      const job = states.get(command.payload.job_id)?.state ?? null;
      const finding = await this.#findingFor(command, job, scope);
      if (finding) findings.set(command, finding);
    }
    return findings;
  }

  async #findingFor(
    command: JobCommand,
    job: Jobs['state'],
    scope: PartitionScope,
  ): Promise<JobFinding | null> {
    switch (command.asks) {
      case 'start':
        return job
          ? null
          : { of: 'start', begun: await this.startedBy(command).begin(command.payload, scope) };
      case 'step': {
        if (job?.status !== 'running' || job.step !== command.payload.step) return null;
        const kind = known(this.kinds.find(({ name }) => name === job.work.kind));
        return { of: 'step', step: await takeStep(job, () => kind.step(job, scope), this.onStepError) };
      }
      case 'cancel':
        return job
          ? null
          : { of: 'place', partition: await partitionOf(scope.readModel, command.payload.job_id) };
    }
  }
}

function commandFrom(record: IncomingRecord): JobCommand {
  const { type, payload, headers } = record;
  const asks = type === 'ContinueJob' ? 'step' : type === 'CancelJob' ? 'cancel' : 'start';
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
