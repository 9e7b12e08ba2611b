// Whether events that a job has counted were deleted since it began.
import type { Job } from '@lead-scoring/capability';
import type { records } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { readDeletedTypes } from './documents.js';

type ReplayingJob = Pick<
  Job<{ readonly partitions: readonly records.ReplayedPartition[] }>,
  'ou_id' | 'work'
>;

export async function isOvertaken(
  readModel: Pick<ReadModel, 'collection'>,
  { ou_id, work: { partitions } }: ReplayingJob,
): Promise<boolean> {
  for (const [partition, types] of await readDeletedTypes(readModel, ou_id)) {
    const known = new Map(partitions[partition]?.deleted?.map(({ key, before }) => [key, before]));
    if (types.some(({ key, before }) => known.get(key) !== before)) return true;
  }
  return false;
}

/** The end of such a job. */
export const overtaken = {
  outcome: 'failed',
  error: {
    code: 'events_deleted',
    message:
      'Events of the organizational unit were deleted while the scores were computed, so that they would count deleted events. Start the job again.',
  },
} as const;
