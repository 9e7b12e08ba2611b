// The event_id of a record that has none of its own: made of the record's place, so that a record that is read again has it again. The
// timestamp is part of it, because a topic that is made anew has other records at the same offsets. Pure.
import { hash } from 'node:crypto';

const longestPrefix = 80;

/** @returns the event_id by partition, offset and timestamp in milliseconds, for the records of one source */
export function recordIds(
  source: string,
  topic: string,
): (partition: number, offset: bigint, timestamp: number) => string {
  const whole = `${source}/${topic}`;
  const prefix = whole.length <= longestPrefix ? whole : hash('sha256', whole, 'base64url');
  return (partition, offset, timestamp) =>
    `${prefix}/${String(partition)}/${String(offset)}/${String(timestamp)}`;
}
