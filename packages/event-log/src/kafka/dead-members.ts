// Removes from a consumer group the members whose process has died on this machine. The brokers would wait for the session timeout, and a
// killed process that is started again would wait with them.
import { isOfDeadProcess, processName } from '../process-name.js';
import type { KafkaConnection } from './kafka-connection.js';
import { protocolErrorType } from './kafka-errors.js';

/** The client id of this process in its consumer groups: `CLIENT/PROCESS`. */
export const memberClientId = (clientId: string) => `${clientId}/${processName}`;

/**
 * Removes the group's members with this client id whose process was on this machine and has ended.
 * @param clientId without the process
 * @returns the ids of the removed members
 */
export async function removeDeadMembers(
  connection: KafkaConnection,
  { groupId, clientId }: { groupId: string; clientId: string },
): Promise<string[]> {
  const prefix = `${clientId}/`;
  const coordinator = await connection.groupCoordinator(groupId);
  const { groups } = await coordinator.describeGroups({ groupIds: [groupId] });
  const dead = groups
    .flatMap(({ members }) => members)
    .filter(
      (member) => member.clientId.startsWith(prefix) && isOfDeadProcess(member.clientId.slice(prefix.length)),
    );
  for (const { memberId } of dead)
    await coordinator.leaveGroup({ groupId, memberId }).catch((error: unknown) => {
      // Another process was faster, or the session has ended.
      if (protocolErrorType(error) !== 'UNKNOWN_MEMBER_ID') throw error;
    });
  return dead.map(({ memberId }) => memberId);
}
