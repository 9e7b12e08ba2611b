import { describe, expect, test } from '@jest/globals';
import { createMembershipLease, createSessionLease, isOwnershipLoss } from './session-lease.js';

describe('the group counts a member in', () => {
  const hold = createMembershipLease(8);
  test('from what it has answered first, for a while after what it has answered last', () => {
    expect(hold.until(100)).toBe(-Infinity);
    for (const sentAt of [100, 104, 111]) hold.confirmed(sentAt);
    expect(hold.until(100)).toBe(119);
    expect(hold.until(118)).toBe(119);
  });

  test('anew after a break, and whoever began before it never again', () => {
    hold.confirmed(119);
    expect(hold.until(118)).toBe(-Infinity);
    expect(hold.until(119)).toBe(127);
    hold.confirmed(126);
    expect(hold.until(118)).toBe(-Infinity);
    expect(hold.until(119)).toBe(134);
  });
});

describe('a session may write', () => {
  test('until the group may have given its partition away, and again once it has not', () => {
    let leasedUntil = 100;
    let now = 99;
    const lease = createSessionLease(
      () => leasedUntil,
      () => now,
    );
    lease.check();
    now = 100;
    expect(() => {
      lease.check();
    }).toThrow(/opened again/);
    leasedUntil = 101;
    lease.check();
  });

  test('never again once it was ended, for the reason that was given first', async () => {
    const lease = createSessionLease(() => Infinity);
    expect(lease.hasEnded()).toBe(false);
    lease.end(new Error('first'));
    expect(lease.hasEnded()).toBe(true);
    lease.end(new Error('second'));
    expect(() => {
      lease.check();
    }).toThrow('first');
    await expect(lease.confirmed()).rejects.toThrow('first');
  });

  test('what is in doubt is confirmed once every doubt has ended, however it ended', async () => {
    const lease = createSessionLease(() => Infinity);
    await lease.confirmed();
    let clear: () => void = () => undefined;
    let isConfirmed = false;
    lease.doubt(new Promise<void>((resolve) => (clear = resolve)));
    lease.doubt(Promise.reject(new Error('the look has failed')));
    const confirmed = lease.confirmed().then(() => (isConfirmed = true));
    await new Promise(setImmediate);
    expect(isConfirmed).toBe(false);
    clear();
    await confirmed;
  });

  test('what tells of another owner is told from other errors', () => {
    expect(isOwnershipLoss(Object.assign(new Error('x'), { code: 'checkpoint_superseded' }))).toBe(true);
    expect(isOwnershipLoss(Object.assign(new Error('x'), { code: 'database_unavailable' }))).toBe(false);
    expect(isOwnershipLoss(undefined)).toBe(false);
  });
});
