// The decisions on the commands of a job. The laws: a repeated command changes nothing, a step is done once and in order, no step
// follows the end, and a fold of the events is the job.
import { describe, expect, test } from '@jest/globals';
import { nameBasedId, records } from '@lead-scoring/contracts';
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
  type JobStep,
} from './job-model.js';

const ou_id = nameBasedId('00000000-0000-0000-0000-000000000000', 'ou');
const job_id = nameBasedId(ou_id, 'job');
const other = nameBasedId(ou_id, 'another unit');
const actor = { kind: 'token', id: '7' } as const;
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 31, 9, 0, seconds)).toISOString();
const declared = records.notificationJobs;
const work = { kind: 'redelivery', channel_id: other, since: at(0), undelivered_only: false };

const asked = { type: 'Count', caller: { reply_to: 'gateway', correlation_id: '1' } };
const start: JobCommand = {
  ...asked,
  asks: 'start',
  at: at(0),
  payload: { job_id, ou_id, requested_at: at(0), actor },
};
const step = (number: number): JobCommand => ({
  ...asked,
  asks: 'step',
  at: at(number + 1),
  payload: { job_id, ou_id, step: number },
});
const cancel = (ou = ou_id): JobCommand => ({
  ...asked,
  asks: 'cancel',
  at: at(30),
  payload: { job_id, ou_id: ou, requested_at: at(30), actor },
});
const advancing = (cursor: string | null, failed = 0): JobStep => ({
  outcome: 'advanced',
  cursor,
  done: 10,
  errors: Array.from({ length: failed }, (_, index) => ({ code: 'bad_item', message: String(index) })),
  commands: [],
});
const found = (of: JobStep): JobFinding => ({ of: 'step', step: of });
const begun: JobFinding = { of: 'start', begun: { work, total: 30 } };

function decide(command: JobCommand, job: Job<unknown> | null, finding?: JobFinding) {
  const findings = new Map(finding ? [[command, finding]] : []);
  return decideJob(command, job, { service: 'notification', partition: 3, records: declared, findings });
}

/** Decides on each command with its finding, and folds the events of the decision. */
function given(...asking: readonly (readonly [JobCommand, JobFinding?])[]): Job<{ kind: string }> {
  let job: Job<unknown> | null = null;
  for (const [command, finding] of asking) {
    const decision = decide(command, job, finding);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    job = decision.events.reduce<Job<unknown> | null>((known, event) => evolveJob(known, event), job);
  }
  if (!job) throw new Error('nothing was started');
  return job as Job<{ kind: string }>;
}

const types = (decision: ReturnType<typeof decide>) =>
  'events' in decision ? decision.events.map(({ type }) => type) : [decision.outcome];
const sent = (decision: ReturnType<typeof decide>) =>
  ('commands' in decision ? (decision.commands ?? []) : []).map(({ declaration, partition, payload }) => ({
    type: declaration.type,
    partition,
    payload,
  }));

describe('a job', () => {
  test('that is asked for begins, and sends itself the first step in its own partition', () => {
    const decision = decide(start, null, begun);
    expect(decision).toMatchObject({
      outcome: 'done',
      events: [{ type: 'JobStarted', payload: { job_id, ou_id, work, total: 30, at: at(0), actor } }],
    });
    expect(sent(decision)).toEqual([
      { type: 'ContinueJob', partition: 3, payload: { job_id, ou_id, step: 0 } },
    ]);
  });

  test('that is asked for twice begins once', () => {
    expect(decide(start, given([start, begun]))).toEqual({ outcome: 'done', events: [] });
  });

  test('that may not begin is refused', () => {
    const refusal = { outcome: 'rejected', code: 'job_not_found', message: 'No.' } as const;
    expect(decide(start, null, { of: 'start', begun: refusal })).toEqual(refusal);
  });

  test('does one step after the other, each once, and ends after the last one', () => {
    const first = decide(step(0), given([start, begun]), found(advancing('a')));
    expect(types(first)).toEqual(['JobAdvanced']);
    expect(sent(first)).toEqual([{ type: 'ContinueJob', partition: 3, payload: { job_id, ou_id, step: 1 } }]);

    const job = given([start, begun], [step(0), found(advancing('a'))]);
    expect(job).toMatchObject({ status: 'running', step: 1, cursor: 'a', done: 10 });
    // The first step once more: a dead letter of it that is sent again.
    expect(types(decide(step(0), job, found(advancing('a'))))).toEqual([]);

    const last = decide(step(1), job, found(advancing(null)));
    expect(types(last)).toEqual(['JobAdvanced', 'JobEnded']);
    expect(sent(last)).toEqual([]);
    const ended = given([start, begun], [step(0), found(advancing('a'))], [step(1), found(advancing(null))]);
    expect(ended).toMatchObject({ status: 'completed', done: 20, ended_at: at(2) });
    expect(types(decide(step(2), ended, found(advancing(null))))).toEqual([]);
  });

  test('keeps the first hundred errors, and counts all', () => {
    const job = given(
      [start, begun],
      [step(0), found(advancing('a', 70))],
      [step(1), found(advancing('b', 70))],
    );
    expect(job.failed).toBe(140);
    expect(job.errors).toHaveLength(100);
    const error = { code: 'job_not_found', message: 'It is gone.' };
    const ended = given(
      [start, begun],
      [step(0), found(advancing('a', 120))],
      [step(1), found({ outcome: 'failed', error })],
    );
    expect(ended).toMatchObject({ status: 'failed', failed: 120, ended_at: at(2) });
    expect(ended.errors).toHaveLength(100);
    expect(ended.errors.at(-1)).toEqual(error);
  });

  test('whose steps are taken beside the log sends itself no command: its owner does when a step is done', () => {
    const decision = decide(start, null, { of: 'start', begun: { work, total: 30 }, isBesideLog: true });
    expect(types(decision)).toEqual(['JobStarted']);
    expect(sent(decision)).toEqual([]);
    const advanced = decide(step(0), given([start, begun]), {
      of: 'step',
      step: advancing('a'),
      isBesideLog: true,
    });
    expect(types(advanced)).toEqual(['JobAdvanced']);
    expect(sent(advanced)).toEqual([]);
  });

  test('that another of its kind excludes is refused, and the refusal names the one that runs', () => {
    const finding = (running: string | null): JobFinding => ({
      of: 'start',
      begun: { work, total: 30 },
      exclusive: { running },
    });
    expect(types(decide(start, null, finding(null)))).toEqual(['JobStarted']);
    expect(decide(start, null, finding(other))).toMatchObject({
      outcome: 'rejected',
      code: 'job_running',
      errors: [{ message: `notification-${other}` }],
    });
  });

  test('is excluded by one of the same batch, and not by one of another unit', () => {
    const context: JobContext = {
      service: 'notification',
      partition: 3,
      records: declared,
      findings: new Map([[start, { of: 'start', begun: { work, total: 30 }, exclusive: { running: null } }]]),
    };
    const after = (ou: string) =>
      contextAfterStart(context, [
        { type: 'JobStarted', payload: { job_id: other, ou_id: ou, work, total: null, at: at(0) } },
      ]);
    expect(decideJob(start, null, after(ou_id))).toMatchObject({ code: 'job_running' });
    expect(types(decideJob(start, null, after(other)))).toEqual(['JobStarted']);
  });

  test('keeps what its steps find out, joined as its kind joins it', () => {
    const finding = (value: number): JobStep => ({
      outcome: 'advanced',
      cursor: 'a',
      done: 1,
      commands: [],
      found: value,
    });
    let job: Job<unknown> | null = given([start, begun]);
    for (const number of [0, 1, 2]) {
      const decision = decide(step(number), job, found(finding(number + 1)));
      if (!('events' in decision)) throw new Error('refused');
      job = decision.events.reduce<Job<unknown> | null>(
        (known, event) => evolveJob(known, event, ({ found: sum = 0 }, more) => Number(sum) + Number(more)),
        job,
      );
    }
    expect(job).toMatchObject({ found: 6, step: 3 });
  });

  test('every event of it is as it is declared', () => {
    const events: JobEvent[] = [];
    let job: Job<unknown> | null = null;
    const error = { code: 'gone', message: 'It is gone.' };
    for (const [command, finding] of [
      [start, begun],
      [step(0), found(advancing('a', 101))],
      [step(1), found({ outcome: 'failed', error })],
    ] as const) {
      const decision = decide(command, job, finding);
      if (!('events' in decision)) throw new Error('refused');
      events.push(...decision.events);
      job = decision.events.reduce<Job<unknown> | null>((known, event) => evolveJob(known, event), job);
    }
    events.push({ type: 'JobCancelled', payload: { job_id, ou_id, at: at(3), actor } });
    const byType = new Map(Object.values(declared).map((record) => [record.type as string, record.schema]));
    for (const { type, payload } of events)
      expect({ type, issues: byType.get(type)?.safeParse(payload).error?.issues }).toEqual({ type });
  });
});

describe('a cancellation', () => {
  test('ends a job that runs, and no further step is done', () => {
    const job = given([start, begun], [step(0), found(advancing('a'))], [cancel()]);
    expect(job).toMatchObject({ status: 'cancelled', done: 10, ended_at: at(30) });
    expect(types(decide(step(1), job, found(advancing('b'))))).toEqual([]);
    expect(decide(cancel(), job)).toEqual({ outcome: 'done', events: [] });
  });

  test('of a job of another unit is refused, as of one that is not there', () => {
    const refused = { outcome: 'rejected', code: 'job_not_found' };
    expect(decide(cancel(other), given([start, begun]))).toMatchObject(refused);
    expect(decide(cancel(), null, { of: 'place', partition: null })).toMatchObject(refused);
    // Stored as of this partition, but unknown to it: it was forgotten with a reset.
    expect(decide(cancel(), null, { of: 'place', partition: 3 })).toMatchObject(refused);
  });

  test('of a job of another partition goes there, and names the caller that waits', () => {
    const decision = decide(cancel(), null, { of: 'place', partition: 5 });
    expect(decision).toMatchObject({
      outcome: 'unanswered',
      events: [],
      commands: [
        {
          key: job_id,
          partition: 5,
          payload: { job_id, ou_id, actor },
          headers: { 'reply-to': 'gateway', 'correlation-id': '1' },
        },
      ],
    });
  });
});

describe('what an answer shows of a job', () => {
  test('is its rate and its expected end while it runs', () => {
    const job = given([start, begun], [step(0), found(advancing('a'))]);
    const answer = jobAnswer('notification', job, new Date(at(5)));
    expect(answer).toEqual({
      id: `notification-${job_id}`,
      kind: 'redelivery',
      status: 'running',
      total: 30,
      done: 10,
      failed: 0,
      errors: [],
      rate: 2,
      eta: at(15),
      started_at: at(0),
      ended_at: null,
    });
  });

  test('is null where nothing is known of them', () => {
    const now = new Date(at(5));
    expect(jobAnswer('notification', given([start, begun]), now)).toMatchObject({ rate: null, eta: null });
    const cancelled = given([start, begun], [step(0), found(advancing('a'))], [cancel()]);
    expect(jobAnswer('notification', cancelled, now)).toMatchObject({ eta: null, ended_at: at(30) });
  });
});

test('the limit of a record is that of the state', () => {
  expect(records.maximumJobErrors).toBe(100);
});
