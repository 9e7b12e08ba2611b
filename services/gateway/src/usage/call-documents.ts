// The stored counts of API calls: one document for each credential, day and gateway process, with the calls of each hour by route group.
import { defineCollection, uuidToBinary, type Binary, type Document } from '@lead-scoring/read-model';

/** Calls by route group. */
export type CallsByGroup = Record<string, number>;

export interface CallCountDocument {
  /** Day, credential and process: the process is the document's only writer. */
  _id: string;
  organisation_id: Binary;
  /** `token:<id>`, `service_account:<id>` or `member:<id>`. */
  credential: string;
  /** The beginning of the day, in UTC. */
  day: Date;
  /** By the hour of the day, 0 to 23. */
  hours: Record<string, CallsByGroup>;
  /** When the document may go. */
  expires_at: Date;
}

export const callCounts = defineCollection<CallCountDocument>({
  name: 'call_counts',
  indexes: [{ key: { organisation_id: 1, day: 1 } }],
  isLasting: true,
});

/** The time for which calls stay counted: a year, and a month in which it can be read. */
const keptMs = 400 * 86_400_000;

/** The calls of one credential on one day, as one process has counted them. */
export interface CallTally {
  readonly organisationId: string;
  readonly credential: string;
  /** The beginning of the day, in milliseconds since 1970. */
  readonly day: number;
  /** By hour and route group. */
  readonly hours: Map<number, Map<string, number>>;
}

/** The write that makes the stored counts of one tally those of the process. */
export interface CountWrite {
  filter: { _id: string };
  update: Document;
}

/**
 * The counts only grow and `$max` is taken of each, so a write may be repeated after an unknown outcome, and one that arrives late lowers
 * nothing.
 */
export function writeOf(
  { organisationId, credential, day, hours }: CallTally,
  processId: string,
): CountWrite {
  const counts: Record<string, number> = {};
  for (const [hour, groups] of hours)
    for (const [group, calls] of groups) counts[`hours.${String(hour)}.${group}`] = calls;
  return {
    filter: { _id: `${String(day)} ${credential} ${processId}` },
    update: {
      $max: counts,
      $setOnInsert: {
        organisation_id: uuidToBinary(organisationId),
        credential,
        day: new Date(day),
        expires_at: new Date(day + keptMs),
      },
    },
  };
}
