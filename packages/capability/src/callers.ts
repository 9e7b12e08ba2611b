// The callers of commands: who they are, as a record's headers say it, and those whose answer is still to come.
import type { IncomingRecord } from '@lead-scoring/event-log';

/** The caller that waits for an answer. */
export interface Caller {
  readonly reply_to: string;
  readonly correlation_id: string;
}

/** The caller that a record names; null where nobody waits. */
export function callerOf({ headers }: Pick<IncomingRecord, 'headers'>): Caller | null {
  const { 'reply-to': reply_to, 'correlation-id': correlation_id } = headers;
  return reply_to !== undefined && correlation_id !== undefined ? { reply_to, correlation_id } : null;
}

/** The headers of a record whose answer is for this caller. */
export function callerHeaders(caller: Caller | null): Record<string, string> {
  return caller ? { 'reply-to': caller.reply_to, 'correlation-id': caller.correlation_id } : {};
}

/**
 * Commands whose work another command has started already: the decision that ends the work answers them. They are in memory
 * only. After the partition has moved, their callers get a timeout and repeat the command.
 */
export class WaitingCommands {
  readonly #byKey = new Map<string, IncomingRecord[]>();

  add(key: string, command: IncomingRecord): void {
    const others = this.#byKey.get(key);
    if (others) others.push(command);
    else this.#byKey.set(key, [command]);
  }

  /** Removes the commands that wait under this key, and returns them. */
  take(key: string): readonly IncomingRecord[] {
    const found = this.#byKey.get(key) ?? [];
    this.#byKey.delete(key);
    return found;
  }
}
