// Given an analysis, when it is asked for or ends, then it begins, is answered, or waits.
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
  test('begins an analysis, which remembers who waits for it', () => {
    const { decision, after } = when(null, request());
    expect(decision).toMatchObject({ outcome: 'unanswered', events: [{ type: 'SiteAnalysisRequested' }] });
    expect(after).toEqual({ status: 'running', ...analyzeSite('shop'), caller });
  });

  test('for an address that may not be asked for is refused with its reason, and nothing is recorded', () => {
    expect(when(null, request({ ...refusing, room: 0 }))).toMatchObject({
      event: null,
      decision: {
        outcome: 'rejected',
        ...wrong,
        errors: [{ path: 'body.url', message: wrong.message }],
      },
    });
  });

  test('beyond what runs at once is refused for now, and nothing is recorded', () => {
    const { decision, event } = when(null, request(full));
    expect(decision).toMatchObject({ outcome: 'rejected', code: 'too_many_analyses' });
    expect(problemTypeOf('too_many_analyses').status).toBe(503);
    expect(event).toBeNull();
  });

  test('leaves room for one less', () => {
    const { event } = when(null, request());
    expect(event && conditionsAfter(free, [event])).toEqual(full);
    const { event: ended } = when(given(request()), success);
    expect(ended && conditionsAfter(free, [ended])).toEqual(free);
  });

  test('for an analysis that runs waits for its end', () => {
    expect(when(given(request()), request()).decision).toEqual({ outcome: 'awaited' });
  });

  test('for one that has ended gets the answer that it had', () => {
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

  test('for one that was interrupted begins it anew', () => {
    const again = request(free, { requested_at: later });
    expect(when(given(request(), interruption), again).after).toMatchObject({
      status: 'running',
      requested_at: later,
    });
  });
});

describe('an end', () => {
  test('of a running analysis is recorded whole, and answered', () => {
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

  test('that comes second changes nothing, and gets the first as answer', () => {
    expect(when(given(request(), success), failure)).toMatchObject({
      event: null,
      decision: { reply: { outcome: 'done' } },
    });
  });

  test('of an attempt before the one that runs counts for nothing', () => {
    const anew = given(request(), interruption, request(free, { requested_at: later }));
    expect(when(anew, success).decision).toEqual({ outcome: 'unanswered', events: [] });
  });

  test('of an analysis that nobody asked for counts for nothing', () => {
    expect(when(null, success).decision).toEqual({ outcome: 'unanswered', events: [] });
  });
});

test('whatever comes in whatever order, twice in a row is as once, and ends and requests take turns', () => {
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
