// While topics are rewritten, nobody may write them or read them on: finds the consumer groups that still have members.
import kafkajs, { type Admin } from 'kafkajs';
import { EventLogError } from '../errors.js';
import { pause } from '../timing.js';
import { erasingGroup } from './turn.js';

const lookEveryMs = 500;

/** Every consumer group of the cluster. */
export async function groupIds(admin: Admin): Promise<string[]> {
  const { groups } = await admin.listGroups();
  return groups.map(({ groupId }) => groupId);
}

/**
 * Waits up to `patienceMs` for the members to leave.
 * @param topics wire names
 * @throws EventLogError `log_in_use` when a group of the system, or one that reads these topics, has members
 */
export async function assertNobodyReads(
  admin: Admin,
  namespace: string,
  topics: readonly string[],
  patienceMs: number,
): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    const active = await activeGroups(admin, namespace, new Set(topics));
    if (active.length === 0) return;
    if (Date.now() > giveUpAt)
      throw new EventLogError(
        'log_in_use',
        `these consumer groups have members: ${active.join(', ')}. Stop the services, and the consumers of public topics, first`,
      );
    await pause(lookEveryMs);
  }
}

async function activeGroups(admin: Admin, namespace: string, topics: ReadonlySet<string>): Promise<string[]> {
  const ids = await groupIds(admin);
  if (ids.length === 0) return [];
  const { groups } = await admin.describeGroups(ids);
  return groups
    .filter(({ groupId, members }) => members.length > 0 && groupId !== erasingGroup(namespace))
    .filter(
      ({ groupId, members }) =>
        groupId.startsWith(`${namespace}.`) ||
        members.some(({ memberAssignment }) =>
          assignedTopics(memberAssignment).some((topic) => topics.has(topic)),
        ),
    )
    .map(({ groupId }) => groupId)
    .sort();
}

function assignedTopics(assignment: Buffer): string[] {
  if (assignment.length === 0) return [];
  return Object.keys(kafkajs.AssignerProtocol.MemberAssignment.decode(assignment)?.assignment ?? {});
}
