// Callers who asked again for a test that is under way. They are lost with the partition: such a caller gets 504.
import type { IncomingRecord } from '@lead-scoring/event-log';

export class AwaitedTests {
  /** By the test's notification, the commands that wait for its outcome. */
  readonly #commands = new Map<string, IncomingRecord[]>();

  add(notificationId: string, command: IncomingRecord): void {
    this.#commands.set(notificationId, [...(this.#commands.get(notificationId) ?? []), command]);
  }

  /** The commands that have waited for this test, which has ended. */
  take(notificationId: string): readonly IncomingRecord[] {
    const commands = this.#commands.get(notificationId) ?? [];
    this.#commands.delete(notificationId);
    return commands;
  }
}
