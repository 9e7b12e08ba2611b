// Takes the error of a sender's clock off the times of its messages, as Segment does.
import { utcTime } from '@lead-scoring/contracts';

/**
 * The milliseconds to add to times by a sender's clock, so that a message is as old when it comes as it was when it was sent.
 * @param sentAt when the messages were sent, by the sender's clock: a valid time
 * @param receivedAt when they came, by the receiver's clock
 */
export function clockSkewMs(sentAt: string, receivedAt: string): number {
  return Date.parse(receivedAt) - epochMs(sentAt);
}

/**
 * The time of a message by the receiver's clock.
 * @param timestamp when it happened, by the sender's clock: a valid time
 * @returns `timestamp` as it is where the corrected time would lie outside of the years 0000 to 9999
 */
export function correctedTime(timestamp: string, skewMs: number): string {
  const corrected = new Date(epochMs(timestamp) + skewMs);
  if (Number.isNaN(corrected.getTime())) return timestamp;
  const text = corrected.toISOString();
  return text.length === utcLength ? text : timestamp;
}

/** The length of a time in the years 0000 to 9999: ISO 8601 UTC with milliseconds. */
const utcLength = 24;

function epochMs(time: string): number {
  return Date.parse(utcTime(time) ?? '');
}
