// What waits for one channel, in hand: a bounded part of it, in the order in which it is to be sent.
import type { ChannelHealth } from './state.js';
import { nothingSpent, type Spending } from './limits.js';
import type { WaitingNotification } from './waiting-notification.js';

export interface Lane {
  readonly channel_id: string;
  readonly ou_id: string;
  /** Ordered by time, then by place in the log. */
  entries: WaitingNotification[];
  /** Tests wait for nothing. */
  tests: WaitingNotification[];
  /** The store may have more than is in hand, all of it later. */
  more: boolean;
  /** Attempts whose end is not on the log. */
  inFlight: number;
  /** Leads of which something is under way: what concerns one lead is sent in order. */
  readonly leads: Set<string>;
  /** Attempts under way, and those that have ended but are not folded yet. */
  readonly unrecorded: Set<string>;
  /** undefined: not looked up yet. */
  health: ChannelHealth | null | undefined;
  spent: Spending;
  /** Something about the channel has changed. */
  lookAgain: boolean;
}

/** Of what waits for a channel, so much is kept in hand. */
export const maximumInHand = 1_000;

export function emptyLane(channelId: string, ouId: string): Lane {
  return {
    channel_id: channelId,
    ou_id: ouId,
    entries: [],
    tests: [],
    more: false,
    inFlight: 0,
    leads: new Set(),
    unrecorded: new Set(),
    health: undefined,
    spent: nothingSpent,
    lookAgain: false,
  };
}

function comesBefore(a: WaitingNotification, b: WaitingNotification): boolean {
  return a.due === b.due ? a.offset < b.offset : a.due < b.due;
}

/** Puts it in its place; what is beyond the bound is left to the store. */
export function putIn(lane: Lane, waiting: WaitingNotification): void {
  if (waiting.test) {
    lane.tests.push(waiting);
    return;
  }
  const { entries } = lane;
  const last = entries.at(-1);
  if (lane.more && last && comesBefore(last, waiting)) return;
  let [from, to] = [0, entries.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const there = entries[middle];
    if (there && comesBefore(there, waiting)) from = middle + 1;
    else to = middle;
  }
  entries.splice(from, 0, waiting);
  if (entries.length > maximumInHand) {
    entries.pop();
    lane.more = true;
  }
}

export function takeOut(lane: Lane, notificationId: string): void {
  const at = lane.entries.findIndex(({ notification_id }) => notification_id === notificationId);
  if (at >= 0) lane.entries.splice(at, 1);
  lane.tests = lane.tests.filter(({ notification_id }) => notification_id !== notificationId);
}

export function isInHand(lane: Lane, notificationId: string): boolean {
  const is = ({ notification_id }: WaitingNotification) => notification_id === notificationId;
  return lane.entries.some(is) || lane.tests.some(is);
}

/** Nothing is to be done for the channel. */
export function isIdle(lane: Lane): boolean {
  return (
    lane.entries.length === 0 &&
    lane.tests.length === 0 &&
    !lane.more &&
    lane.inFlight === 0 &&
    lane.unrecorded.size === 0
  );
}

/** The first that is due and of whose lead nothing is under way. */
export function firstDue(lane: Lane, now: number): WaitingNotification | null {
  for (const entry of lane.entries) {
    if (entry.due > now) return null;
    if (entry.lead_id === null || !lane.leads.has(entry.lead_id)) return entry;
  }
  return null;
}

/** When the next of those that are not due yet is; null for none. */
export function nextDue(lane: Lane, now: number): number | null {
  return lane.entries.find(({ due }) => due > now)?.due ?? null;
}
