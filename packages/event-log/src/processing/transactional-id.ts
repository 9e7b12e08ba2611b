// The transactional ids of processes, `GROUP.PROCESS.RANDOM`. They name the owners of partitions.
import { randomUUID } from 'node:crypto';
import { isOfDeadProcess, processName } from '../process-name.js';

/** A new id of this process: each is used by one producer only. */
export const newTransactionalId = (groupId: string) => `${groupId}.${processName}.${randomUUID()}`;

/** Whether the process with this transactional id was on this machine and has ended: it writes nothing more. */
export const isOfDeadOwner = (id: string) => isOfDeadProcess(id.split('.').at(-2) ?? '');
