// Topics that exist only while the log is being erased or restored. A topic is made and deleted at once or not at all, and every process sees it, so
// they say how far an erasure has come, also after it was killed.
import type { TopicName } from '@lead-scoring/contracts';
import { EventLogError } from '../errors.js';

/** Exists from the beginning of an erasure to its end: no service starts meanwhile. */
export function lockTopic(namespace: string): string {
  return `${namespace}.erasure`;
}

/** The copy of a topic without the erased records, at the same offsets. */
export function copyTopic(namespace: string, topic: TopicName): string {
  return `${lockTopic(namespace)}.${topic}`;
}

/** Exists while the copy of a topic is whole and checked, and the topic itself may be away or incomplete. */
export function copiedMark(namespace: string, topic: TopicName): string {
  return `${copyTopic(namespace, topic)}.copied`;
}

/** Exists from the beginning of a restoration to its end: no service starts meanwhile. */
export function restorationTopic(namespace: string): string {
  return `${namespace}.restoration`;
}

/** Work on the whole log, from whose beginning to its end no service starts. */
export type LockingWork = 'erasure' | 'restoration';

/** The work whose lock is among the topics; a restoration before an erasure. null: services may start. */
export function lockedWork(topics: ReadonlySet<string>, namespace: string): LockingWork | null {
  if (topics.has(restorationTopic(namespace))) return 'restoration';
  return topics.has(lockTopic(namespace)) ? 'erasure' : null;
}

/** The code and the message of the error while a work is not ended. */
const unfinished = {
  restoration: [
    'restore_unfinished',
    'a backup is being restored, or that was interrupted: nothing may read or write the log until `lead-scoring restore` has ended. ' +
      'Run it again if it does not run: docs/runbooks/backup.md',
  ],
  erasure: [
    'erasure_unfinished',
    'records are being erased from the log, or that was interrupted: nothing may read or write it until `lead-scoring erase` has ended. ' +
      'Run it again if it does not run: docs/runbooks/erasure.md',
  ],
} as const;

/**
 * @param own the work that the caller does: its own lock does not refuse it, because an erasure or a restoration finishes the interrupted one
 * @throws EventLogError `restore_unfinished` or `erasure_unfinished` where another work has locked the log
 */
export function assertUnlocked(
  topics: ReadonlySet<string>,
  namespace: string,
  own: LockingWork | null = null,
): void {
  const work = lockedWork(topics, namespace);
  if (work === null || work === own) return;
  const [code, message] = unfinished[work];
  throw new EventLogError(code, message);
}
