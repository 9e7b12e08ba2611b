// One erasure, backup or restoration at a time: the process that does it is the only member of a consumer group. Kafka removes a killed process from the group
// after ten seconds, so it leaves no lock behind.
import type { Admin } from 'kafkajs';
import { EventLogError } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import { unavailable } from '../kafka/access-errors.js';
import { joinGroup } from '../kafka/membership.js';
import { pause } from '../timing.js';
import { lockedWork, lockTopic, type LockingWork } from './lock.js';

const lookEveryMs = 200;
const joinPatienceMs = 30_000;

/** The group of the erasing process: it has the name of the lock topic. */
export const erasingGroup = lockTopic;

/** The right to erase. */
export interface ErasureTurn {
  /** @throws EventLogError `log_in_use` when this process was away for so long that another one may erase */
  check(): void;
  end(): Promise<void>;
}

/**
 * Waits up to `patienceMs` for another erasure to end.
 * @throws EventLogError `log_in_use`
 */
export async function takeTurn(log: EventLog, admin: Admin, patienceMs: number): Promise<ErasureTurn> {
  const groupId = erasingGroup(log.config.namespace);
  for (const giveUpAt = Date.now() + patienceMs; (await membersOf(admin, groupId)) > 0;) {
    if (Date.now() > giveUpAt) throw otherRuns();
    await pause(lookEveryMs);
  }
  const failures: Error[] = [];
  const membership = await joinGroup(log, {
    groupId,
    // Nothing is fetched: a member has to name a topic that exists.
    topics: ['gateway.events'],
    onAssigned: () => undefined,
    onFatal: (error) => failures.push(error),
  });
  const turn = { end: () => membership.stop() };
  try {
    for (const giveUpAt = Date.now() + joinPatienceMs; !membership.joined();) {
      if (failures.length > 0 || Date.now() > giveUpAt)
        throw unavailable(`group ${groupId} cannot be joined`, failures[0], log.config);
      await pause(lookEveryMs);
    }
    // Of two that start at the same moment, none goes on.
    if ((await membersOf(admin, groupId)) > 1) throw otherRuns();
  } catch (error) {
    await turn.end();
    throw error;
  }
  const since = performance.now();
  return {
    ...turn,
    check: () => {
      if (performance.now() < membership.leasedUntil(since)) return;
      throw new EventLogError(
        'log_in_use',
        'Kafka has not heard of this process for several seconds, so another erasure, backup or restoration may have begun. Run the command again',
      );
    },
  };
}

/** An erasure or a restoration that is not ended. */
export interface LogMaintenance {
  readonly work: LockingWork;
  /** Whether a process does it; otherwise it was interrupted and has to be begun again. */
  readonly isRunning: boolean;
}

/** The erasure or restoration that keeps services from starting; null: there is none. */
export async function maintenanceOf(log: EventLog): Promise<LogMaintenance | null> {
  const admin = log[internals].kafka.admin();
  const { namespace } = log.config;
  try {
    await admin.connect();
    const work = lockedWork(new Set(await admin.listTopics()), namespace);
    return work && { work, isRunning: (await membersOf(admin, erasingGroup(namespace))) > 0 };
  } catch (error) {
    throw unavailable('whether the log is being erased or restored is not known', error, log.config);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

async function membersOf(admin: Admin, groupId: string): Promise<number> {
  const { groups } = await admin.describeGroups([groupId]);
  return groups.reduce((sum, { members }) => sum + members.length, 0);
}

function otherRuns(): EventLogError {
  return new EventLogError(
    'log_in_use',
    'another `lead-scoring erase`, `backup` or `restore` is running, or was killed less than ten seconds ago. One runs at a time: wait for it, then run the command again',
  );
}
