// The jobs of a service as stored, and the look-ups in them.
import {
  defineCollection,
  encodeCursor,
  equals,
  findByIds,
  findPage,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type Page,
  type PageRequest,
  type ReadModel,
} from '@lead-scoring/read-model';
import { listedJob, type Job } from './job-model.js';

export interface AnyWork {
  readonly kind: string;
}

export interface JobDocument extends GuardedDocument {
  /** The id of the job in its service. */
  _id: Binary;
  ou: Binary;
  started_at: string;
  status: Job<AnyWork>['status'];
  /** Of its work; absent in documents of before. */
  kind?: string;
  /** JSON text of the job. */
  content: string;
}

/** The jobs of a service. */
export const jobCollection = defineCollection<JobDocument>({
  name: 'jobs',
  indexes: [{ key: { ou: 1, started_at: -1 } }, { key: { status: 1, partition: 1 } }],
});
const newestFirst = { field: 'started_at', direction: 'descending' } as const;

/** A job of an OU, of any partition, as it is stored; null where the OU has none with this id. */
export async function findJob(readModel: ReadModel, ouId: string, id: string): Promise<Job<AnyWork> | null> {
  const [found] = await findByIds(readModel.collection(jobCollection), [uuidToBinary(id)]);
  const job = found ? toJob(found) : null;
  return job?.ou_id === ouId ? job : null;
}

export interface JobsRequest extends PageRequest {
  readonly status?: Job<AnyWork>['status'] | undefined;
  /** Default: of all kinds. */
  readonly kind?: string;
}

/** A page of an OU's jobs, the newest first. @throws InvalidCursor */
export function findJobs(
  readModel: ReadModel,
  ouId: string,
  { status, kind, ...request }: JobsRequest,
): Promise<Page<Job<AnyWork>>> {
  return findPage(readModel.collection(jobCollection), {
    filter: {
      ou: uuidToBinary(ouId),
      ...(status && { status: equals(status) }),
      ...(kind !== undefined && { kind: equals(kind) }),
    },
    sort: newestFirst,
    request,
    toItem: toJob,
  });
}

/** The same as GET /jobs shows it at a moment. @throws InvalidCursor */
export async function findListedJobs(
  readModel: ReadModel,
  ouId: string,
  request: JobsRequest,
  {
    service,
    now,
    countsOf,
  }: {
    readonly service: Parameters<typeof listedJob>[0];
    readonly now: Date;
    /** Fields that jobs of some kinds have besides. */
    readonly countsOf?: (job: Job<AnyWork>) => Partial<ReturnType<typeof listedJob>>;
  },
): Promise<Page<ReturnType<typeof listedJob>>> {
  const { data, ...page } = await findJobs(readModel, ouId, request);
  return { ...page, data: data.map((job) => ({ ...listedJob(service, job, now), ...countsOf?.(job) })) };
}

/** The cursor with which a list goes on behind a job; the same in the lists of all services. */
export function cursorBehindJob(job: Pick<Job<unknown>, 'job_id' | 'started_at'>): string {
  return encodeCursor({ value: job.started_at, id: uuidToBinary(job.job_id) }, newestFirst);
}

export function toJob({ content }: JobDocument): Job<AnyWork> {
  return unpackJson(content) as unknown as Job<AnyWork>;
}

/** The running jobs of a partition. */
export async function findRunningJobs(readModel: ReadModel, partition: number): Promise<Job<AnyWork>[]> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(jobCollection).find({ status: 'running', partition }).toArray(),
  );
  return found.map(toJob);
}

/** The id of a running job of an OU and of a kind; null where there is none. */
export async function findRunningJob(
  readModel: ReadModel,
  ouId: string,
  kind: string,
): Promise<string | null> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(jobCollection)
      .find({ ou: uuidToBinary(ouId), status: 'running' })
      .toArray(),
  );
  return found.map(toJob).find(({ work }) => work.kind === kind)?.job_id ?? null;
}
