// The notes while events wait for the rate limit, without a terminal.
import { expect, test } from '@jest/globals';
import { RequestFailed, ServiceUnreachable } from '@lead-scoring/client';
import { eventsIn, waitingNotes } from './waiting-notes.js';

function noting(terminal: NodeJS.WriteStream | null) {
  const notes: string[] = [];
  let time = 0;
  const output = { write: () => undefined, note: (text: string) => void notes.push(text), terminal };
  const note = waitingNotes(
    output,
    () => 3_000,
    () => time,
  );
  return { notes, note, later: (ms: number) => (time += ms) };
}

const limited = Object.assign(Object.create(RequestFailed.prototype) as RequestFailed, { status: 429 });
const away = Object.create(ServiceUnreachable.prototype) as ServiceUnreachable;

test('the rate limit, the wait and the count of events are said, once in ten seconds', () => {
  const { notes, note, later } = noting(null);
  note(limited, 12_400);
  note(limited, 12_400);
  later(10_000);
  note(away, 200);
  expect(notes).toEqual([
    'The rate limit is reached: waiting 12s. 3,000 events are in.\n',
    'The system does not take events now: waiting 1s. 3,000 events are in.\n',
  ]);
});

test('with a terminal the progress bar says enough', () => {
  const { notes, note } = noting({} as NodeJS.WriteStream);
  note(limited, 12_400);
  expect(notes).toEqual([]);
});

test('one event is one', () => {
  expect([eventsIn(1), eventsIn(0)]).toEqual(['1 event is in.', '0 events are in.']);
});
