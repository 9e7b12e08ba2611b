// The merged list of jobs: every job once, newest first, whichever service runs it and however it is paged.
import { expect, test } from '@jest/globals';
import { cursorBehindJob } from '@lead-scoring/capability';
import {
  jobIdOf,
  jobNamed,
  nameBasedId,
  type routeDeclarations,
  type ServiceWithJobs,
} from '@lead-scoring/contracts';
import fc from 'fast-check';
import { mergedJobs } from './job-list.js';

type ListedJob = routeDeclarations.ListedJob;
type Query = Parameters<typeof mergedJobs>[0];

const namespace = '0b6f8a52-7a0e-4c0b-9d8f-0b6f8a527a0e';
/** Jobs begin in few seconds, so that many begin in the same one. */
const jobOf = ([name, second]: readonly [number, number]): ListedJob => ({
  id: jobIdOf('notification', nameBasedId(namespace, String(name))),
  kind: 'redelivery',
  status: name % 2 === 0 ? 'completed' : 'running',
  total: null,
  done: 0,
  failed: 0,
  rate: null,
  eta: null,
  started_at: new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString(),
  ended_at: null,
});
const keyOf = ({ id, started_at }: ListedJob) => `${started_at} ${jobNamed(id).id}`;
const newestFirst = (jobs: readonly ListedJob[]) =>
  [...jobs].sort((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1));
const cursorOf = (job: ListedJob) =>
  cursorBehindJob({ job_id: jobNamed(job.id).id, started_at: job.started_at });

/** Services that each list their own jobs, as the query port of one does. */
function servicesWith(lists: readonly (readonly ListedJob[])[], away: readonly number[] = []) {
  const all = newestFirst(lists.flat());
  let reads = 0;
  const names = lists.map((_, index) => `service ${String(index)}` as unknown as ServiceWithJobs);
  const list = (query: Query) =>
    mergedJobs(
      query,
      (service, { status, limit, cursor }) => {
        reads += 1;
        if (away.includes(names.indexOf(service))) return Promise.resolve(null);
        const own = newestFirst(lists[names.indexOf(service)] ?? []).filter(
          (job) => status === undefined || job.status === status,
        );
        const behind = cursor === undefined ? -1 : all.findIndex((job) => cursorOf(job) === cursor);
        const rest = own.filter((job) => all.indexOf(job) > behind);
        const data = rest.slice(0, limit);
        const last = data.at(-1);
        return Promise.resolve({
          data,
          total: own.length,
          page: 1,
          limit,
          ...(last && rest.length > limit && { next_cursor: cursorOf(last) }),
        });
      },
      names,
    );
  return { all, list, names, reads: () => reads };
}

const jobLists = fc
  .uniqueArray(fc.tuple(fc.nat(10_000), fc.nat(5), fc.nat(2)), {
    selector: ([name]) => name,
    maxLength: 60,
  })
  .map((jobs) =>
    [0, 1, 2].map((service) =>
      jobs.filter(([, , of]) => of === service).map(([name, second]) => jobOf([name, second])),
    ),
  );

test('pages by number and pages by cursor show every job once, newest first', async () => {
  await fc.assert(
    fc.asyncProperty(jobLists, fc.integer({ min: 1, max: 20 }), async (lists, limit) => {
      const { all, list } = servicesWith(lists);
      const byNumber: ListedJob[] = [];
      for (let page = 1; (page - 1) * limit < all.length; page += 1) {
        const answer = await list({ page, limit });
        expect(answer).toMatchObject({ total: all.length, page, limit });
        byNumber.push(...answer.data);
      }
      expect(byNumber).toEqual(all);
      const byCursor: ListedJob[] = [];
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
        const answer = await list({ page: 1, limit, ...(cursor !== undefined && { cursor }) });
        byCursor.push(...answer.data);
        cursor = answer.next_cursor;
      }
      expect(byCursor).toEqual(all);
    }),
  );
});

test('a status is asked of every service, and counts in the total', async () => {
  const { all, list } = servicesWith([[jobOf([1, 1]), jobOf([2, 2])], [jobOf([3, 3])]]);
  const running = await list({ page: 1, limit: 25, status: 'running' });
  expect(running).toEqual({
    data: all.filter(({ status }) => status === 'running'),
    total: 2,
    page: 1,
    limit: 25,
  });
});

test('a page beyond the last job is empty, and reads each list once', async () => {
  const { list, reads } = servicesWith([[jobOf([1, 1])], [jobOf([2, 2])]]);
  expect(await list({ page: 1_000_000, limit: 100 })).toMatchObject({ data: [], total: 2 });
  expect(reads()).toBe(2);
});

test('jobs of services that answer are listed as if there were no others, which are named', async () => {
  await fc.assert(
    fc.asyncProperty(jobLists, fc.subarray([0, 1, 2], { minLength: 1 }), async (lists, away) => {
      const { list, names } = servicesWith(lists, away);
      const others = servicesWith(lists.map((jobs, index) => (away.includes(index) ? [] : jobs)));
      const query = { page: 1, limit: 10 };
      expect(await list(query)).toEqual({
        ...(await others.list(query)),
        unavailable: away.map((index) => names[index]),
      });
    }),
  );
});
