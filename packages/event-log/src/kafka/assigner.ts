// Assigns partition numbers to the members of a group: each number goes to one member, for all topics at once.
import kafkajs, { type Assigner, type PartitionAssigner } from 'kafkajs';

/** A member's metadata in the join request. */
export interface Member {
  id: string;
  /** The partition numbers assigned to it so far. */
  owned: readonly number[];
}

/**
 * Assigns the partition numbers 0 to count - 1: every number to one member, with shares that differ by at most one, and
 * as many numbers as possible to their previous members, because a handover costs a catch-up. All members compute the
 * same result.
 */
export function assignPartitions(count: number, members: readonly Member[]): Map<string, number[]> {
  const sorted = [...members].sort((a, b) => (a.id < b.id ? -1 : 1));
  const shares = new Map<string, number[]>(sorted.map(({ id }) => [id, []]));
  if (sorted.length === 0) return shares;
  // The members that own most get one more when the count does not divide evenly.
  const byOwned = [...sorted].sort((a, b) => b.owned.length - a.owned.length || (a.id < b.id ? -1 : 1));
  const quota = new Map(
    byOwned.map(({ id }, rank) => [
      id,
      Math.floor(count / sorted.length) + (rank < count % sorted.length ? 1 : 0),
    ]),
  );
  const free = new Set(Array.from({ length: count }, (_, number) => number));
  for (const { id, owned } of byOwned) {
    const share = shares.get(id) ?? [];
    for (const number of [...owned].sort((a, b) => a - b)) {
      if (share.length < (quota.get(id) ?? 0) && free.delete(number)) share.push(number);
    }
  }
  for (const [id, share] of shares) {
    for (const number of free) {
      if (share.length >= (quota.get(id) ?? 0)) break;
      free.delete(number);
      share.push(number);
    }
    share.sort((a, b) => a - b);
  }
  return shares;
}

/**
 * The assigner for kafkajs. `owned` returns this member's current partition numbers, which travel in the join request's
 * user data. All topics have the same number of partitions, which prepare() has checked.
 */
export function createAssigner(count: number, owned: () => readonly number[]): PartitionAssigner {
  const name = 'co-partitioned';
  return (): Assigner => ({
    name,
    version: 1,
    protocol({ topics }) {
      return {
        name,
        metadata: kafkajs.AssignerProtocol.MemberMetadata.encode({
          version: 1,
          topics,
          userData: Buffer.from(JSON.stringify(owned())),
        }),
      };
    },
    assign({ members, topics }) {
      const shares = assignPartitions(
        count,
        members.map(({ memberId, memberMetadata }) => ({ id: memberId, owned: ownedIn(memberMetadata) })),
      );
      return Promise.resolve(
        [...shares].map(([memberId, numbers]) => ({
          memberId,
          memberAssignment: kafkajs.AssignerProtocol.MemberAssignment.encode({
            version: 1,
            assignment:
              numbers.length === 0 ? {} : Object.fromEntries(topics.map((topic) => [topic, numbers])),
            userData: Buffer.alloc(0),
          }),
        })),
      );
    },
  });
}

/** The partition numbers that a member reports as owned; none when its user data has another form. */
function ownedIn(metadata: Buffer): number[] {
  try {
    const userData = kafkajs.AssignerProtocol.MemberMetadata.decode(metadata)?.userData;
    const reported: unknown = userData && userData.length > 0 ? JSON.parse(userData.toString()) : [];
    return Array.isArray(reported) ? reported.filter((one): one is number => Number.isInteger(one)) : [];
  } catch {
    return [];
  }
}
