// The callers that records name, and the commands that wait for what is under way.
import { describe, expect, test } from '@jest/globals';
import type { IncomingRecord } from '@lead-scoring/event-log';
import { callerHeaders, callerOf, WaitingCommands } from './callers.js';

const caller = { reply_to: 'gateway', correlation_id: 'request' };

test('the headers that name a caller are read back as the same caller; one of them alone names nobody', () => {
  expect(callerOf({ headers: callerHeaders(caller) as IncomingRecord['headers'] })).toEqual(caller);
  expect(callerHeaders(null)).toEqual({});
  expect(callerOf({ headers: { 'reply-to': 'gateway' } as unknown as IncomingRecord['headers'] })).toBeNull();
});

describe('commands that wait', () => {
  const command = (name: string) => ({ type: name }) as IncomingRecord;

  test('are taken once, in the order in which they came, and by their own key alone', () => {
    const waiting = new WaitingCommands();
    const [first, second, other] = ['first', 'second', 'other'].map(command) as [
      IncomingRecord,
      IncomingRecord,
      IncomingRecord,
    ];
    waiting.add('a', first);
    waiting.add('b', other);
    waiting.add('a', second);
    expect(waiting.take('a')).toEqual([first, second]);
    expect(waiting.take('a')).toEqual([]);
    expect(waiting.take('b')).toEqual([other]);
  });
});
