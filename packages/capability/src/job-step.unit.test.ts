// A step of a job that throws.
import { describe, expect, test } from '@jest/globals';
import type { JobStep } from './job-model.js';
import { takeStep } from './job-step.js';

const job = { job_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e', step: 2 };
const advanced: JobStep = { outcome: 'advanced', cursor: null, done: 1, commands: [] };

describe('a step of a job', () => {
  test('that succeeds is passed on', async () => {
    const step = await takeStep(job, () => Promise.resolve(advanced), fail);
    expect(step).toBe(advanced);
  });

  test('that throws ends its job as failed; the service’s log gets the error, and the job an error without internals', async () => {
    const error = new TypeError('secret of the service');
    const heard: unknown[] = [];
    const step = await takeStep(
      job,
      () => Promise.reject(error),
      (one, { job_id }) => heard.push(one, job_id),
    );
    expect(step).toMatchObject({
      outcome: 'failed',
      error: { code: 'step_failed', message: expect.stringContaining('Step 3 failed') },
    });
    expect(JSON.stringify(step)).not.toContain('secret');
    expect(heard).toEqual([error, job.job_id]);
  });

  test('that meets an absent server throws its error on, so that the step is taken again', async () => {
    const absent = Object.assign(new Error('no database'), { retriable: true });
    await expect(takeStep(job, () => Promise.reject(absent), fail)).rejects.toBe(absent);
  });
});

function fail(): void {
  throw new Error('no error was expected');
}
