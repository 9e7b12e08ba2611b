// Says on the log that a process has a partition. Attempts that it recorded before, or that the owner before it did, are decided
// on before the announcement comes back.
import { records } from '@lead-scoring/contracts';
import { outgoing, type RecordWriter } from '@lead-scoring/event-log';
import type { Logger } from '@lead-scoring/service';
import type { Clock } from './clock.js';

const pauseBetweenWritesMs = 500;

/** Tries until it is written, or the signal is aborted. */
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
      logger.warn({ err: error, partition }, 'deliveries cannot begin yet');
      await new Promise((resolve) => setTimeout(resolve, pauseBetweenWritesMs));
    }
  }
}
