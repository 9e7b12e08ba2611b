// AskedLeads remembers the leads of a step once the job has gone on from that step, and forgets the leads of all other steps.
import { expect, test } from '@jest/globals';
import { AskedLeads } from './asked-leads.js';

const at = (step: number, cursor: string | null, job_id = 'job') => ({ job_id, step, cursor });

test('the leads of a step are remembered once the job has gone on from it', () => {
  const asked = new AskedLeads();
  expect(asked.before(at(1, 'a'))).toEqual(new Set());
  asked.after(at(1, 'a'), 'b', ['ada', 'bob']);
  // Steps that only wait have the same cursor.
  expect(asked.before(at(4, 'b'))).toEqual(new Set(['ada', 'bob']));
  expect(asked.before(at(4, 'b'))).toEqual(new Set(['ada', 'bob']));
  asked.after(at(4, 'b'), 'c', ['eve']);
  expect(asked.before(at(5, 'c'))).toEqual(new Set(['ada', 'bob', 'eve']));
  expect(asked.before(at(5, 'c', 'other'))).toEqual(new Set());
});

test('the leads of a step that is taken again are not remembered, and nothing of a job that another process has led on', () => {
  const asked = new AskedLeads();
  asked.after(at(1, 'a'), 'b', ['ada']);
  expect(asked.before(at(1, 'a'))).toEqual(new Set());
  asked.after(at(1, 'a'), 'c', ['bob']);
  expect(asked.before(at(2, 'c'))).toEqual(new Set(['bob']));
  asked.after(at(2, 'c'), 'd', ['eve']);
  expect(asked.before(at(3, 'elsewhere'))).toEqual(new Set());
  expect(asked.before(at(4, 'd'))).toEqual(new Set());
});

test('an ended job is forgotten', () => {
  const asked = new AskedLeads();
  asked.after(at(1, 'a'), 'end b', ['ada']);
  expect(asked.before(at(2, 'end b'))).toEqual(new Set());
});
