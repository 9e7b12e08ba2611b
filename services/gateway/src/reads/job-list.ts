// The list of an OU's jobs: every service that runs jobs lists its own, newest first, and the gateway merges the lists.
import { cursorBehindJob } from '@lead-scoring/capability';
import {
  jobNamed,
  routes,
  servicesWithJobs,
  type routeDeclarations,
  type ServiceWithJobs,
} from '@lead-scoring/contracts';
import { parseOrProblem, ProblemError } from '@lead-scoring/service';
import type { z } from 'zod';
import { tryAgain } from '../problem.js';
import type { Ask, OwnerAnswer } from './owners.js';

type ListedJob = routeDeclarations.ListedJob;
type JobPage = z.output<(typeof routes.listJobs.responses)[200]['schema']>;
type JobQuery = z.output<typeof routes.listJobs.query>;

/** The answer of a service that refused to list its jobs. */
export class JobListRefused extends Error {
  override readonly name = 'JobListRefused';
  constructor(readonly answer: OwnerAnswer) {
    super(`a service answered ${String(answer.statusCode)} to a request for its jobs`);
  }
}

/**
 * The jobs of all services that answer, and the names of the others.
 * @throws JobListRefused where a service refuses the request; ProblemError 503 or 504 when no service answers
 */
export async function jobList(query: Readonly<Record<string, unknown>>, ask: Ask): Promise<JobPage> {
  const failures: unknown[] = [];
  const read: ReadJobs = async (service, wanted) => {
    const parameters = Object.entries(wanted).map(([name, value]) => [name, String(value)]);
    const path = `${routes.listJobs.path}?${new URLSearchParams(parameters).toString()}`;
    try {
      return await pageOf(await ask(service, path));
    } catch (error) {
      if (!(error instanceof ProblemError && error.status >= 500)) throw error;
      failures.push(error);
      return null;
    }
  };
  const list = await mergedJobs(parseOrProblem(routes.listJobs.query, query, 'query'), read);
  if (list.unavailable?.length === servicesWithJobs.length) throw failures[0];
  return list;
}

/** @throws ProblemError 503 for an answer that says that the service cannot answer now */
async function pageOf(answer: OwnerAnswer): Promise<JobPage> {
  if (answer.statusCode === 200) return routes.listJobs.responses[200].schema.parse(await answer.body.json());
  if (answer.statusCode < 500) throw new JobListRefused(answer);
  await answer.body.dump();
  throw tryAgain('service_unavailable', 'A service does not answer now. Try again in a moment.', 2);
}

/** The largest limit of a list. */
const largestLimit = 100;

type ReadJobs = (service: ServiceWithJobs, query: Omit<JobQuery, 'page'>) => Promise<JobPage | null>;

/**
 * One page of the merged lists. A page by its number reads the lists from their beginning; one by a cursor costs the same
 * wherever it is.
 * @param read reads a page of the list of one service; null when the service does not answer
 */
export async function mergedJobs(
  { page, limit, cursor, status }: JobQuery,
  read: ReadJobs,
  services: readonly ServiceWithJobs[] = servicesWithJobs,
): Promise<JobPage> {
  const skipped = cursor === undefined ? (page - 1) * limit : 0;
  // One more than the page shows whether there is a next one.
  const perRead = Math.min(largestLimit, skipped + limit + 1);
  const lists = await Promise.all(
    services.map((service) =>
      ServiceJobs.open(
        (from) =>
          read(service, {
            limit: perRead,
            ...(status && { status }),
            ...(from !== undefined && { cursor: from }),
          }),
        cursor,
      ),
    ),
  );
  const total = lists.reduce((sum, list) => sum + list.total, 0);
  const data: ListedJob[] = [];
  for (let passed = 0; skipped < total && data.length < limit; passed += 1) {
    const newest = await newestOf(lists);
    if (!newest) break;
    newest.list.take();
    if (passed >= skipped) data.push(newest.job);
  }
  const last = data.at(-1);
  const next_cursor =
    last && (await newestOf(lists)) && cursorBehindJob({ ...last, job_id: jobNamed(last.id).id });
  const unavailable = services.filter((_, index) => lists[index]?.isAway);
  return {
    data,
    total,
    page,
    limit,
    ...(next_cursor && { next_cursor }),
    ...(unavailable.length > 0 && { unavailable }),
  };
}

/** The jobs of one service, newest first, read a page at a time. */
class ServiceJobs {
  /** Those that are read and not taken. */
  #jobs: readonly ListedJob[] = [];
  #cursor: string | undefined;
  #total = 0;
  #isAway = false;

  private constructor(private readonly read: (cursor: string | undefined) => Promise<JobPage | null>) {}

  static async open(
    read: (cursor: string | undefined) => Promise<JobPage | null>,
    cursor: string | undefined,
  ): Promise<ServiceJobs> {
    const list = new ServiceJobs(read);
    await list.#readOn(cursor);
    return list;
  }

  async #readOn(cursor: string | undefined): Promise<void> {
    const found = await this.read(cursor);
    this.#isAway = found === null;
    this.#jobs = found?.data ?? [];
    this.#cursor = found?.next_cursor;
    this.#total = found?.total ?? this.#total;
  }

  /** Whether the service did not answer, so that jobs of it are missing. */
  get isAway(): boolean {
    return this.#isAway;
  }

  get total(): number {
    return this.#total;
  }

  async newest(): Promise<ListedJob | null> {
    if (this.#jobs.length === 0 && this.#cursor !== undefined) await this.#readOn(this.#cursor);
    return this.#jobs[0] ?? null;
  }

  take(): void {
    this.#jobs = this.#jobs.slice(1);
  }
}

/** The newest job that was not taken from any list; null when there is none. */
async function newestOf(
  lists: readonly ServiceJobs[],
): Promise<{ list: ServiceJobs; job: ListedJob } | null> {
  let newest: { list: ServiceJobs; job: ListedJob } | null = null;
  for (const list of lists) {
    const job = await list.newest();
    if (job && (!newest || isNewer(job, newest.job))) newest = { list, job };
  }
  return newest;
}

/** As the services sort: by the time of the start, then by the id of the job in its service. */
function isNewer(one: ListedJob, other: ListedJob): boolean {
  if (one.started_at !== other.started_at) return one.started_at > other.started_at;
  return jobNamed(one.id).id > jobNamed(other.id).id;
}
