// The queue of one channel in memory: a bounded number of its pending notifications, in the order in which they are sent.
import type { ChannelHealth } from './state.js';
import { emptyBucket, type Bucket } from './limits.js';
import type { WaitingNotification } from './waiting-notification.js';

export interface ChannelQueue {
  readonly channel_id: string;
  readonly ou_id: string;
  /** Ordered by due time, then by offset. */
  entries: WaitingNotification[];
  /** Tests are sent at once, whatever the limits. */
  tests: WaitingNotification[];
  /** The store may have more pending notifications. After the queue was full, these are later than the queued ones. */
  hasMore: boolean;
  /** Number of attempts whose outcome is not on the log, without tests and cancellations: the channel's concurrency bounds it. */
  inFlight: number;
  /** Leads and accounts with an attempt under way: the notifications of each are sent one after the other. */
  readonly busySubjects: Set<string>;
  /** Ids of notifications whose attempt is under way, or has ended and is not folded yet. */
  readonly unrecorded: Set<string>;
  /** undefined: not read yet. */
  health: ChannelHealth | null | undefined;
  bucket: Bucket;
  /** The channel may have changed since it was read. */
  mustReloadChannel: boolean;
}

/** Maximum number of queued notifications. */
export const maximumQueued = 1_000;

export function emptyQueue(channelId: string, ouId: string): ChannelQueue {
  return {
    channel_id: channelId,
    ou_id: ouId,
    entries: [],
    tests: [],
    hasMore: false,
    inFlight: 0,
    busySubjects: new Set(),
    unrecorded: new Set(),
    health: undefined,
    bucket: emptyBucket,
    mustReloadChannel: false,
  };
}

function comesBefore(a: WaitingNotification, b: WaitingNotification): boolean {
  return a.due === b.due ? a.offset < b.offset : a.due < b.due;
}

/** Inserts a notification in order; beyond the bound the last one is left to the store. */
export function enqueue(queue: ChannelQueue, waiting: WaitingNotification): void {
  if (waiting.test) {
    queue.tests.push(waiting);
    return;
  }
  const { entries } = queue;
  const last = entries.at(-1);
  if (queue.hasMore && last && comesBefore(last, waiting)) return;
  let [from, to] = [0, entries.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const there = entries[middle];
    if (there && comesBefore(there, waiting)) from = middle + 1;
    else to = middle;
  }
  entries.splice(from, 0, waiting);
  if (entries.length > maximumQueued) {
    entries.pop();
    queue.hasMore = true;
  }
}

export function dequeue(queue: ChannelQueue, notificationId: string): void {
  const at = queue.entries.findIndex(({ notification_id }) => notification_id === notificationId);
  if (at >= 0) queue.entries.splice(at, 1);
  queue.tests = queue.tests.filter(({ notification_id }) => notification_id !== notificationId);
}

export function isQueued(queue: ChannelQueue, notificationId: string): boolean {
  const is = ({ notification_id }: WaitingNotification) => notification_id === notificationId;
  return queue.entries.some(is) || queue.tests.some(is);
}

/** Nothing is pending for the channel. */
export function isIdle(queue: ChannelQueue): boolean {
  return (
    queue.entries.length === 0 &&
    queue.tests.length === 0 &&
    !queue.hasMore &&
    queue.inFlight === 0 &&
    queue.unrecorded.size === 0
  );
}

/** The first due notification whose lead or account has no attempt under way. */
export function firstDue(queue: ChannelQueue, now: number): WaitingNotification | null {
  for (const entry of queue.entries) {
    if (entry.due > now) return null;
    if (entry.subject_id === null || !queue.busySubjects.has(entry.subject_id)) return entry;
  }
  return null;
}

/** Due time of the first notification that is not due yet; null for none. */
export function nextDue(queue: ChannelQueue, now: number): number | null {
  return queue.entries.find(({ due }) => due > now)?.due ?? null;
}
