// Given an analysis, when it is asked for or ends, then it begins, is answered, or waits.
import { describe, expect, test } from '@jest/globals';
import { problemTypeOf, records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { analyzed, analyzeSite, later, recordEnd, unreachable } from '../testing/builders.js';
import { decideEnd, decideRequest, interrupted } from './decide.js';
import type { AnalysisEvent, Caller, Conditions } from './events.js';
import { evolveAnalysis } from './evolve.js';
import type { Analysis } from './state.js';

const caller: Caller = { reply_to: 'gateway', correlation_id: 'request' };
const free: Conditions = { refusal: null, full: false };
const wrong = { code: 'port_not_allowed', message: 'Leave the port out.' } as const;

type Command =
  | { type: 'request'; payload: records.AnalyzeSite; conditions: Conditions }
  | { type: 'end'; payload: records.RecordSiteAnalysis };

const request = (conditions: Conditions = free, more: Partial<records.AnalyzeSite> = {}): Command => ({
  type: 'request',
  payload: analyzeSite('shop', more),
  conditions,
});
const success: Command = {
  type: 'end',
  payload: recordEnd('shop', { status: 'analyzed', result: analyzed('shop') }),
};
const failure: Command = { type: 'end', payload: recordEnd('shop', { status: 'failed', ...unreachable }) };
const interruption: Command = {
  type: 'end',
  payload: recordEnd('shop', { status: 'failed', ...interrupted }),
};

function when(known: Analysis | null, command: Command) {
  const decision =
    command.type === 'request'
      ? decideRequest(command.payload, caller, known, command.conditions)
      : decideEnd(command.payload, known);
  const event: AnalysisEvent | null = 'event' in decision ? decision.event : null;
  return { decision, event, after: event ? evolveAnalysis(event) : known };
}

const given = (...commands: Command[]): Analysis | null =>
  commands.reduce<Analysis | null>((known, command) => when(known, command).after, null);

describe('a request', () => {
  test('begins an analysis, which remembers who waits for it', () => {
    const { decision, after } = when(null, request());
    expect(decision).toMatchObject({ outcome: 'started', event: { type: 'SiteAnalysisRequested' } });
    expect(after).toEqual({ status: 'running', ...analyzeSite('shop'), caller });
  });

  test('for an address that may not be asked for is refused with its reason, and nothing is recorded', () => {
    expect(when(null, request({ refusal: wrong, full: true }))).toMatchObject({
      event: null,
      decision: {
        reply: {
          outcome: 'rejected',
          ...wrong,
          errors: [{ path: 'body.url', message: wrong.message }],
        },
      },
    });
  });

  test('beyond what runs at once is refused for now, and nothing is recorded', () => {
    const { decision, event } = when(null, request({ refusal: null, full: true }));
    expect(decision).toMatchObject({ reply: { outcome: 'rejected', code: 'too_many_analyses' } });
    expect(problemTypeOf('too_many_analyses').status).toBe(503);
    expect(event).toBeNull();
  });

  test('for an analysis that runs waits for its end', () => {
    expect(when(given(request()), request()).decision).toEqual({ outcome: 'awaited' });
  });

  test('for one that has ended gets the answer that it had', () => {
    expect(when(given(request(), success), request()).decision).toEqual({
      outcome: 'answered',
      reply: { outcome: 'done', result: analyzed('shop') },
    });
    expect(when(given(request(), failure), request()).decision).toEqual({
      outcome: 'answered',
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
    const { event, after } = when(given(request()), success);
    expect(records.siteAnalyzed.schema.parse(event?.payload)).toEqual({
      ...analyzeSite('shop'),
      at: later,
      result: analyzed('shop'),
    });
    expect(after).toMatchObject({ status: 'analyzed', at: later });
    expect(when(given(request()), failure).after).toMatchObject({ status: 'failed', ...unreachable });
  });

  test('that comes second changes nothing, and gets the first as answer', () => {
    expect(when(given(request(), success), failure)).toMatchObject({
      event: null,
      decision: { reply: { outcome: 'done' } },
    });
  });

  test('of an attempt before the one that runs counts for nothing', () => {
    const anew = given(request(), interruption, request(free, { requested_at: later }));
    expect(when(anew, success)).toMatchObject({ event: null, decision: { outcome: 'ignored' } });
  });

  test('of an analysis that nobody asked for counts for nothing', () => {
    expect(when(null, success).decision).toEqual({ outcome: 'ignored' });
  });
});

test('whatever comes in whatever order, twice in a row is as once, and ends and requests take turns', () => {
  const commands = fc.array(
    fc.constantFrom(
      request(),
      request({ refusal: wrong, full: false }),
      request({ refusal: null, full: true }),
      request(free, { requested_at: later }),
      success,
      failure,
      interruption,
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(commands, (sequence) => {
      let known: Analysis | null = null;
      const events: AnalysisEvent[] = [];
      for (const command of sequence) {
        const { after, event } = when(known, command);
        expect(when(after, command).event).toBeNull();
        if (event) events.push(event);
        known = after;
      }
      for (const [index, { type }] of events.entries())
        expect(type === 'SiteAnalysisRequested').toBe(index % 2 === 0);
      expect(events.filter(({ type }) => type === 'SiteAnalyzed').length).toBeLessThanOrEqual(1);
    }),
  );
});
