import { describe, expect, test } from '@jest/globals';
import { createMembershipLease, createSessionLease, isOwnershipLoss } from './session-lease.js';

describe('the membership lease', () => {
  const hold = createMembershipLease(8);
  test('lasts from the first answered request to a while after the last one', () => {
    expect(hold.until(100)).toBe(-Infinity);
    for (const sentAt of [100, 104, 111]) hold.confirmed(sentAt);
    expect(hold.until(100)).toBe(119);
    expect(hold.until(118)).toBe(119);
  });

  test('begins again after a gap, and never again for a session from before the gap', () => {
    hold.confirmed(119);
    expect(hold.until(118)).toBe(-Infinity);
    expect(hold.until(119)).toBe(127);
    hold.confirmed(126);
    expect(hold.until(118)).toBe(-Infinity);
    expect(hold.until(119)).toBe(134);
  });
});

describe('a session may write', () => {
  test('until the group may have reassigned its partition, and again once it is confirmed', () => {
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

  test('never again once its lease was ended; the first reason is thrown', async () => {
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

  test('is confirmed once every pending verification has settled', async () => {
    const lease = createSessionLease(() => Infinity);
    await lease.confirmed();
    let clear: () => void = () => undefined;
    let isConfirmed = false;
    lease.holdDecisionsUntil(new Promise<void>((resolve) => (clear = resolve)));
    lease.holdDecisionsUntil(Promise.reject(new Error('the verification has failed')));
    const confirmed = lease.confirmed().then(() => (isConfirmed = true));
    await new Promise(setImmediate);
    expect(isConfirmed).toBe(false);
    clear();
    await confirmed;
  });

  test('errors that imply another owner are recognised', () => {
    expect(isOwnershipLoss(Object.assign(new Error('x'), { code: 'checkpoint_superseded' }))).toBe(true);
    expect(isOwnershipLoss(Object.assign(new Error('x'), { code: 'database_unavailable' }))).toBe(false);
    expect(isOwnershipLoss(undefined)).toBe(false);
  });
});
