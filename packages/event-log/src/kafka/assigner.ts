// Shares partition numbers among the members of a group: each number goes to one member, for all topics at once.
import kafkajs, { type Assigner, type PartitionAssigner } from 'kafkajs';

/** What a member of the group tells before partitions are shared out. */
export interface Member {
  id: string;
  /** The partition numbers that it has had until now. */
  owned: readonly number[];
}

/**
 * Shares out the partition numbers 0 to count - 1: every number to one member, no member more than one ahead of another,
 * and as many as possible to who had them before, because a handed-over partition costs a catch-up. The same input gives
 * the same result on every member.
 */
export function shareOut(count: number, members: readonly Member[]): Map<string, number[]> {
  const sorted = [...members].sort((a, b) => (a.id < b.id ? -1 : 1));
  const shares = new Map<string, number[]>(sorted.map(({ id }) => [id, []]));
  if (sorted.length === 0) return shares;
  // Who has the most gets one more than the others where the count does not divide evenly.
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
 * kafkajs' form of it. `owned` tells what this member has now; it travels in the join request's user data.
 * All topics have the same number of partitions, which prepare() has checked.
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
      const shares = shareOut(
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

/** What a member says that it had; nothing when it says something else. */
function ownedIn(metadata: Buffer): number[] {
  try {
    const userData = kafkajs.AssignerProtocol.MemberMetadata.decode(metadata)?.userData;
    const said: unknown = userData && userData.length > 0 ? JSON.parse(userData.toString()) : [];
    return Array.isArray(said) ? said.filter((one): one is number => Number.isInteger(one)) : [];
  } catch {
    return [];
  }
}
