// What the runtime promises of jobs, on real servers: steps in order and each once, other work in between, a new owner that goes on
// where the log ends, and a cancellation from any partition. A job of this test counts to a number.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  capabilitiesOf,
  createServiceProcessor,
  cursorBehindJob,
  findJob,
  findJobs,
  jobCollection,
  jobs,
  policy,
  type Job,
} from '@lead-scoring/capability';
import { defineRecord, records, type ServiceWithJobs } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { z } from 'zod';
import { eventually, openServiceRig, type ServiceRig } from './service-rig.js';

const ouId = randomUUID();
/** A service that has no jobs of its own, so that nothing of it is declared twice. */
const service = 'site-analysis';
const onCommands = { topic: `${service}.commands`, key: 'ou_id' } as const;
const countTo = defineRecord({
  type: 'CountTo',
  ...onCommands,
  description: 'Count.',
  schema: z.strictObject({
    ...{ job_id: z.uuid(), ou_id: z.uuid(), requested_at: z.iso.datetime() },
    number: z.int(),
  }),
});
const addUp = defineRecord({
  type: 'AddUp',
  ...onCommands,
  description: 'Add up the numbers to a number.',
  schema: countTo.schema,
});
const say = defineRecord({
  type: 'Say',
  ...onCommands,
  description: 'Say a number.',
  schema: z.strictObject({ ou_id: z.uuid(), job_id: z.uuid(), number: z.int() }),
});
const said = defineRecord({
  type: 'Said',
  topic: `${service}.events`,
  key: 'ou_id',
  description: 'A number was said.',
  schema: say.schema,
});
const work = z.strictObject({ kind: z.enum(['count', 'add']), number: z.int() });
type Work = z.infer<typeof work>;
const jobRecords = records.jobRecords(service, work, z.int());

/** The cursors that steps of each job began at, in their order; and what a step has to wait for. */
const begun = new Map<string, (string | null)[]>();
let gateOf: (job: Job<Work>) => Promise<void> = () => Promise.resolve();

const stepErrors: unknown[] = [];

/** The steps of each job that are under way; and what the next of them waits for. */
const underWay = new Map<string, { cursor: string | null; signal: AbortSignal }[]>();
let additionOf: (job: Job<Work>, signal: AbortSignal) => Promise<void> = () => Promise.resolve();

/** Adds up beside the log, one at a time in a unit. */
const adding = {
  name: 'add',
  command: addUp,
  isExclusive: true,
  isBesideLog: true,
  begin: ({ number }: z.infer<typeof addUp.schema>) =>
    Promise.resolve({ work: { kind: 'add' as const, number }, total: number }),
  joined: ({ found = 0 }: Job<Work>, more: unknown) => Number(found) + Number(more),
  step: async (job: Job<Work>, _scope: unknown, signal: AbortSignal) => {
    const { job_id, cursor } = job;
    underWay.set(job_id, [...(underWay.get(job_id) ?? []), { cursor, signal }]);
    await additionOf(job, signal);
    const number = Number(cursor ?? 0) + 1;
    return {
      outcome: 'advanced' as const,
      cursor: number === job.work.number ? null : String(number),
      done: 1,
      found: number,
      commands: [],
    };
  },
  startedResult: ({ job_id }: Job<Work>) => job_id,
};
const counting = jobs({
  service: service as string as ServiceWithJobs,
  records: jobRecords,
  kinds: [
    {
      name: 'count',
      command: countTo,
      begin: ({ number }: z.infer<typeof countTo.schema>) =>
        Promise.resolve({ work: { kind: 'count', number }, total: number }),
      step: async (job: Job<Work>) => {
        const { job_id, ou_id, cursor } = job;
        begun.set(job_id, [...(begun.get(job_id) ?? []), cursor]);
        await gateOf(job);
        const number = Number(cursor ?? 0) + 1;
        return {
          outcome: 'advanced' as const,
          cursor: number === job.work.number ? null : String(number),
          done: 1,
          errors: number % 2 === 0 ? [{ code: 'even', message: String(number) }] : [],
          // To the partition of the OU, whichever that is.
          commands: [outgoing(say, { key: ou_id, payload: { ou_id, job_id, number } })],
        };
      },
      startedResult: ({ job_id }: Job<Work>) => job_id,
    },
    adding,
  ],
  writer: { write: (sent) => rig.writer.write(sent) },
  onStepError: (error) => stepErrors.push(error),
});
const saying = policy({
  name: 'saying',
  commands: { Say: say },
  events: { Said: said },
  collections: [],
  open: () => ({
    decide: (incoming) =>
      Promise.resolve({
        outcome: 'decided',
        events: incoming.map(({ payload }) =>
          outgoing(said, { key: ouId, payload: payload as z.infer<typeof say.schema> }),
        ),
        replies: incoming.map((to) => ({ to, reply: { outcome: 'done' } })),
      }),
  }),
});
/** Only what is made up here is named, not what the service declares. */
const made = capabilitiesOf(service, [counting, saying] as never);

let rig: ServiceRig;
let stopProcessor: () => Promise<void>;

async function startProcessor(): Promise<void> {
  const { log, readModel, logger, onFatal } = rig;
  stopProcessor = await rig.run(createServiceProcessor(log, made, { readModel, logger, onFatal }));
}

beforeAll(async () => {
  rig = await openServiceRig({
    service,
    collections: made.collections,
    ouId,
    partitions: 2,
    declarations: [countTo, addUp, say, said, ...Object.values(jobRecords)],
  });
  await startProcessor();
}, 120_000);
afterAll(() => rig.stop(), 60_000);

/** In the other partition than that of the OU. */
const partition = () => 1 - rig.log.partitionOf(ouId);
const start = (job_id: string, number: number) =>
  outgoing(countTo, {
    key: ouId,
    partition: partition(),
    payload: { job_id, ou_id: ouId, number, requested_at: new Date().toISOString() },
  });
const cancel = (job_id: string, at: number, ou_id = ouId) =>
  outgoing(jobRecords.cancelJob, {
    key: job_id,
    partition: at,
    payload: { job_id, ou_id, requested_at: new Date().toISOString() },
  });
const jobOf = (id: string) => findJob(rig.readModel, ouId, id);
const isEnded = async (id: string) => {
  const job = await jobOf(id);
  return job !== null && job.status !== 'running' && job;
};
const saidOf = async (id: string): Promise<number[]> =>
  (await rig.recordsOn(`${service}.events`))
    .filter(({ type }) => type === 'Said')
    .map(({ payload }) => payload as z.infer<typeof said.schema>)
    .filter(({ job_id }) => job_id === id)
    .map(({ number }) => number);

test('a job does its steps in order, each once, and its errors are kept', async () => {
  const id = randomUUID();
  const answer = { outcome: 'done', result: id };
  expect(await rig.request(start(id, 5))).toEqual(answer);
  expect(await eventually('it is done', () => isEnded(id))).toMatchObject({
    status: 'completed',
    total: 5,
    done: 5,
    failed: 2,
    errors: [
      { code: 'even', message: '2' },
      { code: 'even', message: '4' },
    ],
  });
  expect(begun.get(id)).toEqual([null, '1', '2', '3', '4']);
  expect(await rig.request(start(id, 5))).toEqual(answer);
  await eventually('all is said', async () => (await saidOf(id)).length === 5);
  expect(await saidOf(id)).toEqual([1, 2, 3, 4, 5]);
  expect(await findJob(rig.readModel, randomUUID(), id)).toBeNull();
});

test('a step that its owner did not end is done by the next owner, from the recorded cursor, and counts once', async () => {
  const id = randomUUID();
  let crash: (error: Error) => void = () => undefined;
  const crashed = new Promise<void>((_, reject) => (crash = reject));
  crashed.catch(() => undefined);
  gateOf = ({ cursor, job_id }) => (job_id === id && cursor === '2' ? crashed : Promise.resolve());
  await rig.request(start(id, 4));
  await eventually('the third step is under way', () => begun.get(id)?.includes('2'));
  const stopped = stopProcessor();
  // Retriable: an error of the environment, as a process meets it that ends.
  crash(Object.assign(new Error('the process has died'), { retriable: true }));
  await stopped;
  expect(await jobOf(id)).toMatchObject({ status: 'running', done: 2, cursor: '2' });
  gateOf = () => Promise.resolve();
  await startProcessor();
  expect(await eventually('it is done', () => isEnded(id))).toMatchObject({ status: 'completed', done: 4 });
  expect(begun.get(id)).toEqual([null, '1', '2', '2', '3']);
  await eventually('all is said', async () => (await saidOf(id)).length === 4);
  expect(await saidOf(id)).toEqual([1, 2, 3, 4]);
}, 60_000);

test('a job whose step throws has failed, with an error, and keeps what its earlier steps have done', async () => {
  const id = randomUUID();
  gateOf = ({ cursor, job_id }) =>
    job_id === id && cursor === '1' ? Promise.reject(new TypeError('broken')) : Promise.resolve();
  await rig.request(start(id, 4));
  expect(await eventually('it has failed', () => isEnded(id))).toMatchObject({
    status: 'failed',
    done: 1,
    errors: [{ code: 'step_failed' }],
  });
  gateOf = () => Promise.resolve();
  expect(stepErrors).toEqual([new TypeError('broken')]);
}, 60_000);

test('other work of the partition comes in between, and a job is cancelled from any partition', async () => {
  const id = randomUUID();
  await rig.request(start(id, 1_000_000));
  const other = outgoing(say, {
    key: ouId,
    partition: partition(),
    payload: { ou_id: ouId, job_id: randomUUID(), number: 1 },
  });
  expect(await rig.request(other)).toEqual({ outcome: 'done' });
  expect(await jobOf(id)).toMatchObject({ status: 'running' });
  const refused = { outcome: 'rejected', code: 'job_not_found' };
  for (const at of [0, 1]) expect(await rig.request(cancel(id, at, randomUUID()))).toMatchObject(refused);
  expect(await rig.request(cancel(id, 1 - partition()))).toMatchObject({
    outcome: 'done',
    result: { id: `${service}-${id}`, kind: 'count', status: 'cancelled' },
  });
  // Decided behind the step that was on its way when the job was cancelled.
  expect(await rig.request(other)).toEqual({ outcome: 'done' });
  const steps = begun.get(id)?.length;
  expect(await rig.request(other)).toEqual({ outcome: 'done' });
  expect(begun.get(id)).toHaveLength(steps ?? 0);
  const job = await jobOf(id);
  expect(job).toMatchObject({ status: 'cancelled' });
  await eventually('what was done is said', async () => (await saidOf(id)).length === job?.done);
  expect(await rig.request(cancel(randomUUID(), 0))).toMatchObject(refused);
}, 60_000);

describe('a job that takes its steps beside the log', () => {
  const add = (job_id: string, number: number, ou_id = ouId) =>
    outgoing(addUp, {
      key: ou_id,
      partition: partition(),
      payload: { job_id, ou_id, number, requested_at: new Date().toISOString() },
    });
  /** A step that waits until it is told that nothing becomes of it. */
  const abortionOf = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  const begunOf = (id: string) => underWay.get(id)?.map(({ cursor }) => cursor);

  test('does them in order, each once, and what they find out is joined', async () => {
    const id = randomUUID();
    expect(await rig.request(add(id, 4))).toEqual({ outcome: 'done', result: id });
    const job = await eventually('it is done', () => isEnded(id));
    expect(job).toMatchObject({ status: 'completed', total: 4, done: 4, found: 10 });
    expect(begunOf(id)).toEqual([null, '1', '2', '3']);
  });

  test('lets other work be decided while a step is under way, and refuses another of its kind in the unit', async () => {
    const [id, refused, elsewhere, otherUnit] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    additionOf = ({ job_id }) => (job_id === id ? ended : Promise.resolve());
    // Of two in one batch one begins.
    const answers = await Promise.all([rig.request(add(id, 1)), rig.request(add(refused, 1))]);
    expect(answers).toMatchObject([
      { outcome: 'done' },
      { outcome: 'rejected', code: 'job_running', errors: [{ message: `${service}-${id}` }] },
    ]);
    expect(await rig.request(add(refused, 1))).toMatchObject({ code: 'job_running' });
    expect(await rig.request(add(elsewhere, 1, otherUnit))).toMatchObject({ outcome: 'done' });
    expect(await rig.request(start(randomUUID(), 1))).toMatchObject({ outcome: 'done' });
    expect(await jobOf(id)).toMatchObject({ status: 'running' });
    end();
    await eventually('it is done', () => isEnded(id));
    expect(await rig.request(add(refused, 1))).toMatchObject({ outcome: 'done' });
    await eventually('the other one is done', () => isEnded(refused));
    await eventually('that of the other unit is done', async () => {
      const job = await findJob(rig.readModel, otherUnit, elsewhere);
      return job?.status === 'completed';
    });
  }, 60_000);

  test('is gone on with by the next owner, from the last recorded step', async () => {
    const id = randomUUID();
    let isHeld = true;
    additionOf = ({ job_id, cursor }, signal) =>
      isHeld && job_id === id && cursor === '1' ? abortionOf(signal) : Promise.resolve();
    await rig.request(add(id, 3));
    await eventually('the second step is under way', () => begunOf(id)?.includes('1'));
    await stopProcessor();
    expect(underWay.get(id)?.at(-1)?.signal.aborted).toBe(true);
    expect(await jobOf(id)).toMatchObject({ status: 'running', done: 1, cursor: '1', found: 1 });
    isHeld = false;
    await startProcessor();
    const job = await eventually('it is done', () => isEnded(id));
    expect(job).toMatchObject({ status: 'completed', done: 3, found: 6 });
    expect(begunOf(id)).toEqual([null, '1', '1', '2']);
  }, 60_000);

  test('that is cancelled takes no further step, and the step under way is told', async () => {
    const id = randomUUID();
    additionOf = ({ job_id, cursor }, signal) =>
      job_id === id && cursor === '1' ? abortionOf(signal) : Promise.resolve();
    await rig.request(add(id, 3));
    await eventually('the second step is under way', () => begunOf(id)?.includes('1'));
    expect(await rig.request(cancel(id, partition()))).toMatchObject({ result: { status: 'cancelled' } });
    expect(underWay.get(id)?.at(-1)?.signal.aborted).toBe(true);
    additionOf = () => Promise.resolve();
    expect(await jobOf(id)).toMatchObject({ status: 'cancelled', done: 1 });
  }, 60_000);
});

test('the jobs of an OU are listed newest first, paged and by status', async () => {
  const id = randomUUID();
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  gateOf = ({ job_id }) => (job_id === id ? ended : Promise.resolve());
  await rig.request(start(id, 1));
  const list = (more: Partial<Parameters<typeof findJobs>[2]> = {}, ou = ouId) =>
    findJobs(rig.readModel, ou, { page: 1, limit: 25, ...more });
  const all = await list();
  const startedAt = all.data.map(({ started_at }) => started_at);
  expect(startedAt).toEqual([...startedAt].sort().reverse());
  expect(all.data[0]).toMatchObject({ job_id: id, ou_id: ouId, status: 'running' });
  expect(all.total).toBe(all.data.length);
  for (const status of ['running', 'completed', 'failed', 'cancelled'] as const) {
    const { data, total } = await list({ status });
    expect(data).toEqual(all.data.filter((job) => job.status === status));
    expect(data.length).toBeGreaterThan(0);
    expect(total).toBe(data.length);
  }
  const [first, second] = all.data;
  expect((await list({ page: 2, limit: 1 })).data).toEqual([second]);
  const { next_cursor: cursor } = await list({ limit: 1 });
  expect(cursor).toBe(first && cursorBehindJob(first));
  expect((await list({ limit: 1, cursor })).data).toEqual([second]);
  expect(await list({}, randomUUID())).toMatchObject({ data: [], total: 0 });
  end();
  await eventually('it is done', () => isEnded(id));
  gateOf = () => Promise.resolve();
}, 60_000);

test('a rebuild gives the same jobs', async () => {
  const live = await rig.documents([jobCollection]);
  expect(Object.values(live).flat().length).toBeGreaterThan(2);
  await rig.rebuild();
  expect(await rig.documents([jobCollection])).toEqual(live);
}, 120_000);
