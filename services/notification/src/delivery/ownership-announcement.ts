// Writes a command to the log that names the owner of a partition. When the owner decides on the command, it has decided on all
// attempts that it, or an earlier owner, wrote before.
import { records } from '@lead-scoring/contracts';
import { outgoing, type RecordWriter } from '@lead-scoring/event-log';
import { pause, type Logger } from '@lead-scoring/service';
import type { Clock } from './clock.js';

const pauseBetweenWritesMs = 500;

/** Repeats the write until it succeeds or the signal is aborted. */
export async function announceOwnership(
  { owner, partition, signal }: { owner: string; partition: number; signal: AbortSignal },
  { writer, clock, logger }: { writer: Pick<RecordWriter, 'write'>; clock: Clock; logger: Logger },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const requested_at = new Date(clock.now()).toISOString();
      await writer.write([
        outgoing(records.beginDelivery, { key: owner, partition, payload: { owner, requested_at } }),
      ]);
      return;
    } catch (error) {
      logger.warn(
        { err: error, partition },
        'deliveries cannot begin yet: the owner of the partition cannot be written to the log; the write is repeated',
      );
      await pause(pauseBetweenWritesMs, signal);
    }
  }
}
