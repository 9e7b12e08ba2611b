// Reads of topics that brokers may not have heard of yet.
import { EventLogUnavailable } from '../errors.js';
import { pause } from '../timing.js';
import { protocolErrorType } from './kafka-errors.js';

const notYetKnown = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE']);

/** Each broker learns of new topics at its own time: unknown topics are read again for up to 20 s. */
export async function whenKnown<Found>(read: () => Promise<Found>): Promise<Found> {
  const giveUpAt = Date.now() + 20_000;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const type = protocolErrorType(error);
      const isTransient =
        error instanceof EventLogUnavailable || (type !== undefined && notYetKnown.has(type));
      if (!isTransient || Date.now() > giveUpAt) throw error;
    }
    await pause(100);
  }
}
