// Takes what a sender's clock is wrong by off the time of a message, as Segment does.
import { utcTime } from '@lead-scoring/contracts';

/**
 * The time of a message by the receiver's clock: it is as old on arrival as it was when it was sent.
 * @param timestamp when it happened, by the sender's clock; a valid time
 * @param sentAt when it was sent, by the same clock; null: unknown, and nothing is corrected
 * @param receivedAt when it came, by the receiver's clock
 * @returns `timestamp` as it is where the corrected time would lie outside of the years 0000 to 9999
 */
export function correctedTime(timestamp: string, sentAt: string | null, receivedAt: string): string {
  if (sentAt === null) return timestamp;
  const corrected = new Date(Date.parse(receivedAt) - (epochMs(sentAt) - epochMs(timestamp)));
  if (Number.isNaN(corrected.getTime())) return timestamp;
  const text = corrected.toISOString();
  return text.length === utcLength ? text : timestamp;
}

/** The length of a time in the years 0000 to 9999: ISO 8601 UTC with milliseconds. */
const utcLength = 24;

function epochMs(time: string): number {
  return Date.parse(utcTime(time) ?? '');
}
