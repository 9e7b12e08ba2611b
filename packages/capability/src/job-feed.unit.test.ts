// The decisions on a job whose parts come from outside. The laws: each part counts once and in order, also when parts come twice; a part that
// comes after the end of the job counts; and only parts of the source that feeds the job now count.
import { describe, expect, test } from '@jest/globals';
import { nameBasedId, records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { decideJob, evolveJob, type Job, type JobCommand, type JobFinding } from './job-model.js';

const ou_id = nameBasedId('00000000-0000-0000-0000-000000000000', 'ou');
const job_id = nameBasedId(ou_id, 'job');
const at = (second: number) => new Date(Date.UTC(2026, 0, 31, 9, 0, second)).toISOString();
const asked = { caller: null, at: at(1) };
const payload = { job_id, ou_id, requested_at: at(0) };
type Known = Job<unknown> | null;
type Asked = readonly [JobCommand, JobFinding | undefined];

const feedOf = (job: Job<unknown>) => (job.work as { feed: string }).feed;
const start = (feed: string): Asked => [
  { ...asked, type: 'Start', asks: 'start', payload },
  {
    of: 'start',
    begun: { work: { kind: 'fed', feed } as { kind: string }, total: null },
    isBesideLog: true,
    beginsAnew: (job) => feedOf(job) !== feed && job.status !== 'completed',
  },
];
const part = (feed: string, step: number, ends?: 'completed' | 'failed'): Asked => [
  { ...asked, type: 'Part', asks: 'part', payload },
  {
    of: 'part',
    part: {
      step,
      isOf: (job) => feedOf(job) === feed,
      taken:
        ends === 'failed'
          ? { outcome: 'failed', error: { code: 'broken', message: 'It broke.' } }
          : { outcome: 'advanced', cursor: ends ? null : 'on', done: 10, failed: 1, commands: [] },
    },
  },
];
const cancel: Asked = [{ ...asked, type: 'CancelJob', asks: 'cancel', payload }, undefined];
const unfed = (step: number): Asked => [
  { ...asked, type: 'ContinueJob', asks: 'step', payload: { job_id, ou_id, step } },
  { of: 'step', step: { outcome: 'failed', error: { code: 'unfed', message: 'Nothing came.' } } },
];

function decide([command, finding]: Asked, job: Known) {
  const findings = new Map(finding ? [[command, finding]] : []);
  return decideJob(command, job, {
    service: 'ingest',
    partition: 0,
    records: records.ingestJobs,
    findings,
  });
}

const after = (asking: readonly Asked[], from: Known = null): Known =>
  asking.reduce<Known>((job, one) => {
    const decision = decide(one, job);
    const events = 'events' in decision ? decision.events : [];
    return events.reduce<Known>((known, event) => evolveJob(known, event), job);
  }, from);

describe('a job that is fed', () => {
  test('sends itself no step, counts its parts, and knows its total at the end', () => {
    expect(decide(start('a'), null)).not.toHaveProperty('commands');
    expect(after([start('a'), part('a', 0), part('a', 1, 'completed')])).toMatchObject({
      status: 'completed',
      total: 20,
      done: 20,
      failed: 2,
    });
  });

  test('ends as failed when a part says so, or when none has come: not when one came meanwhile', () => {
    expect(after([start('a'), part('a', 0), part('a', 1, 'failed')])).toMatchObject({
      status: 'failed',
      done: 10,
      errors: [{ code: 'broken' }],
    });
    expect(after([start('a'), part('a', 0), unfed(0)])).toMatchObject({ status: 'running' });
    expect(after([start('a'), part('a', 0), unfed(1)])).toMatchObject({
      status: 'failed',
      errors: [{ code: 'unfed' }],
    });
  });

  test('refuses a part before which one is missing', () => {
    expect(decide(part('a', 1), after([start('a')]))).toMatchObject({
      outcome: 'rejected',
      code: 'log_unavailable',
    });
  });

  test('counts what was done also when it was cancelled meanwhile, and stays cancelled', () => {
    expect(after([start('a'), cancel, part('a', 0), part('a', 1, 'completed')])).toMatchObject({
      status: 'cancelled',
      done: 20,
    });
  });

  test('begins anew with other food, of which alone parts count then; one that is completed does not', () => {
    const anew = after([start('a'), part('a', 0), start('b'), part('b', 0)]);
    expect(anew).toMatchObject({ status: 'running', step: 1, done: 10 });
    expect(decide(part('a', 1), anew)).toMatchObject({ outcome: 'rejected', code: 'job_ended' });
    const completed = after([start('a'), part('a', 0, 'completed')]);
    expect(after([start('b'), part('b', 0)], completed)).toEqual(completed);
  });

  test('law: whatever comes again, each part counts once', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 60 }), (asks) => {
        const coming = asks.map((step) => part('a', step));
        let next = 0;
        for (const step of asks) if (step === next) next += 1;
        expect(after([start('a'), ...coming])).toMatchObject({ step: next, done: next * 10 });
      }),
    );
  });
});
