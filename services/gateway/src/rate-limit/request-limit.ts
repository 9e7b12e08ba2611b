// One limit on requests: the sender whose requests it counts, and their number.
import type { BucketLimits } from './token-bucket.js';

export interface RequestLimit {
  /** The name of the limit in the answer's headers. */
  policy: 'credential' | 'organisation' | 'address';
  /** The id of the credential or organisation, or the address. */
  id: string;
  limits: BucketLimits;
}

/** The id of the bucket from which the limit's requests are taken. */
export function bucketIdOf({ policy, id }: Pick<RequestLimit, 'policy' | 'id'>): string {
  return `${policy}:${id}`;
}
