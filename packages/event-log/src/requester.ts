// Sends a command and waits for its reply.
import type { records } from '@lead-scoring/contracts';
import type { Component } from './component.js';
import type { EventLog } from './event-log.js';
import type { OutgoingRecord } from './records.js';
import type { RecordWriter } from './writer.js';

export interface Requester {
  /**
   * Writes a command and resolves with the processor's reply.
   * @throws ReplyTimeout when none came in time: the command may still take effect.
   */
  request(record: OutgoingRecord, options: { timeoutMs: number }): Promise<records.CommandReplied>;
}

export function createRequester(log: EventLog, dependencies: { writer: RecordWriter }): Component<Requester> {
  throw new Error(`not yet: ${String(log)} ${String(dependencies)}`);
}
