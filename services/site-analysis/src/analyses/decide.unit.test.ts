// Given an analysis, when it is requested or ends, then it starts, is answered, or waits.
import { describe, expect, test } from '@jest/globals';
import { problemTypeOf, records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { analyzed, analyzeSite, later, recordEnd, unreachable } from '../testing/builders.js';
import { conditionsAfter, decideAnalysis, interrupted } from './decide.js';
import type { AnalysisCommand, AnalysisEvent, Caller, Conditions } from './messages.js';
import { evolveAnalysis } from './evolve.js';
import type { Analysis } from './state.js';

const caller: Caller = { reply_to: 'gateway', correlation_id: 'request' };
const free: Conditions = { refusalOf: () => null, room: 1 };
const full: Conditions = { ...free, room: 0 };
const wrong = { code: 'port_not_allowed', message: 'Leave the port out.' } as const;
const refusing: Conditions = { refusalOf: () => wrong, room: 1 };

interface Step {
  command: AnalysisCommand;
  conditions: Conditions;
}

const request = (conditions = free, more: Partial<records.AnalyzeSite> = {}): Step => ({
  command: { type: 'AnalyzeSite', payload: analyzeSite('shop', more), caller },
  conditions,
});
const end = (outcome: records.RecordSiteAnalysis['outcome']): Step => ({
  command: { type: 'RecordSiteAnalysis', payload: recordEnd('shop', outcome) },
  conditions: free,
});
const success = end({ status: 'analyzed', result: analyzed('shop') });
const failure = end({ status: 'failed', ...unreachable });
const interruption = end({ status: 'failed', ...interrupted });

function when(known: Analysis | null, { command, conditions }: Step) {
  const decision = decideAnalysis(command, known, conditions);
  const events = 'events' in decision ? decision.events : [];
  expect(events.length).toBeLessThanOrEqual(1);
  const event = events[0] ?? null;
  return { decision, event, after: event ? evolveAnalysis(event) : known };
}

const given = (...steps: Step[]): Analysis | null =>
  steps.reduce<Analysis | null>((known, step) => when(known, step).after, null);

describe('a request', () => {
  test('starts an analysis, which holds the caller that waits for it', () => {
    const { decision, after } = when(null, request());
    expect(decision).toMatchObject({ outcome: 'unanswered', events: [{ type: 'SiteAnalysisRequested' }] });
    expect(after).toEqual({ status: 'running', ...analyzeSite('shop'), caller });
  });

  test('for a refused address is rejected with the reason, and nothing is recorded', () => {
    expect(when(null, request({ ...refusing, room: 0 }))).toMatchObject({
      event: null,
      decision: {
        outcome: 'rejected',
        ...wrong,
        errors: [{ path: 'body.url', message: wrong.message }],
      },
    });
  });

  test('above the limit of running analyses is rejected, and nothing is recorded', () => {
    const { decision, event } = when(null, request(full));
    expect(decision).toMatchObject({ outcome: 'rejected', code: 'too_many_analyses' });
    expect(problemTypeOf('too_many_analyses').status).toBe(503);
    expect(event).toBeNull();
  });

  test('takes one place of those that are left', () => {
    const { event } = when(null, request());
    expect(event && conditionsAfter(free, [event])).toEqual(full);
    const { event: ended } = when(given(request()), success);
    expect(ended && conditionsAfter(free, [ended])).toEqual(free);
  });

  test('for a running analysis waits for its end', () => {
    expect(when(given(request()), request()).decision).toEqual({ outcome: 'awaited' });
  });

  test('for an analysis that has ended gets the recorded answer', () => {
    expect(when(given(request(), success), request()).decision).toEqual({
      outcome: 'answered',
      events: [],
      reply: { outcome: 'done', result: analyzed('shop') },
    });
    expect(when(given(request(), failure), request()).decision).toEqual({
      outcome: 'answered',
      events: [],
      reply: { outcome: 'rejected', ...unreachable },
    });
  });

  test('for an interrupted analysis starts it again', () => {
    const again = request(free, { requested_at: later });
    expect(when(given(request(), interruption), again).after).toMatchObject({
      status: 'running',
      requested_at: later,
    });
  });
});

describe('an end', () => {
  test('of a running analysis is recorded completely, and answered', () => {
    const { decision, event, after } = when(given(request()), success);
    expect(decision).toMatchObject({ reply: { outcome: 'done', result: analyzed('shop') } });
    expect(records.siteAnalyzed.schema.parse(event?.payload)).toEqual({
      ...analyzeSite('shop'),
      at: later,
      result: analyzed('shop'),
    });
    expect(after).toMatchObject({ status: 'analyzed', at: later });
    expect(when(given(request()), failure)).toMatchObject({
      decision: { reply: { outcome: 'rejected', ...unreachable } },
      after: { status: 'failed', ...unreachable },
    });
  });

  test('that comes second changes nothing, and the answer is the first end', () => {
    expect(when(given(request(), success), failure)).toMatchObject({
      event: null,
      decision: { reply: { outcome: 'done' } },
    });
  });

  test('of an earlier attempt is ignored', () => {
    const anew = given(request(), interruption, request(free, { requested_at: later }));
    expect(when(anew, success).decision).toEqual({ outcome: 'unanswered', events: [] });
  });

  test('of an analysis that was never requested is ignored', () => {
    expect(when(null, success).decision).toEqual({ outcome: 'unanswered', events: [] });
  });
});

test('for any commands in any order, a command twice in a row has the effect of one, and requests and ends alternate', () => {
  const steps = fc.array(
    fc.constantFrom(
      request(),
      request(refusing),
      request(full),
      request(free, { requested_at: later }),
      success,
      failure,
      interruption,
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(steps, (sequence) => {
      let known: Analysis | null = null;
      const events: AnalysisEvent[] = [];
      for (const step of sequence) {
        const { after, event } = when(known, step);
        expect(when(after, step).event).toBeNull();
        if (event) events.push(event);
        known = after;
      }
      for (const [index, { type }] of events.entries())
        expect(type === 'SiteAnalysisRequested').toBe(index % 2 === 0);
      expect(events.filter(({ type }) => type === 'SiteAnalyzed').length).toBeLessThanOrEqual(1);
    }),
  );
});
