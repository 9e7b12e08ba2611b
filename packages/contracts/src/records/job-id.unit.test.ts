// Whatever is taken as the id of a job can be written into the records of that job.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { id } from '../common.js';
import { jobId, jobIdOf, jobNamed } from './job-id.js';

const hexadecimal = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${String(length)}}$`));
const likeUuid = fc.tuple(...[8, 4, 4, 4, 12].map(hexadecimal)).map((parts) => parts.join('-'));

test('the UUID in the id of a job is one that records take', () => {
  fc.assert(
    fc.property(likeUuid, (uuid) => {
      fc.pre(jobId.safeParse(jobIdOf('notification', uuid)).success);
      expect(id.safeParse(uuid).success).toBe(true);
    }),
  );
  expect(jobId.safeParse('notification-3372cc40-a509-03d9-7f96-00649aefafa5').success).toBe(false);
});

test('the id of a job names its service and its id there', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      expect(jobId.safeParse(jobIdOf('notification', uuid)).success).toBe(true);
      expect(jobNamed(jobIdOf('notification', uuid))).toEqual({ service: 'notification', id: uuid });
    }),
  );
});
