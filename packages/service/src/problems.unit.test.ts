import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { problem } from '@lead-scoring/contracts';
import { asProblem, problemBody, ProblemError, requestIdOf } from './problems.js';

describe('problems', () => {
  test('a body is as declared in contracts, whatever was said', () => {
    const errors = Array.from({ length: 150 }, (_, index) => ({
      path: `body[${String(index)}]${'x'.repeat(2_000)}`,
      message: '😀'.repeat(900),
    }));
    const body = problemBody(new ProblemError(400, 'invalid_request', 'd'.repeat(9_000), { errors }), 'r');
    expect(problem.parse(body)).toEqual(body);
    expect(body.errors).toHaveLength(100);
    expect(JSON.stringify(body).isWellFormed()).toBe(true);
  });

  test('what was thrown unexpectedly is 500 without a word about it', () => {
    for (const thrown of [
      new Error('secret internals'),
      'secret internals',
      { detail: 'secret internals' },
      null,
    ]) {
      const body = problemBody(asProblem(thrown), 'r');
      expect(body).toMatchObject({ status: 500, code: 'internal_error' });
      expect(JSON.stringify(body)).not.toContain('secret');
    }
  });

  test('what passes by itself is 503 with Retry-After, and its text stays inside', () => {
    const away = Object.assign(new Error('mongodb://internal-host'), { retriable: true });
    expect(asProblem(away)).toMatchObject({
      status: 503,
      code: 'service_unavailable',
      headers: { 'Retry-After': '1' },
    });
    expect(JSON.stringify(problemBody(asProblem(away), 'r'))).not.toContain('internal-host');
  });

  test("a request's id is the caller's if it is fit for a log, else a new one, and does not change", () => {
    const request = (id?: string) =>
      ({ headers: id === undefined ? {} : { 'x-request-id': id } }) as unknown as IncomingMessage;
    expect(requestIdOf(request('abc-1'))).toBe('abc-1');
    for (const unfit of [undefined, '', 'a b', 'x'.repeat(129), 'a\nb', '${jndi}']) {
      const req = request(unfit);
      const id = requestIdOf(req);
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(requestIdOf(req)).toBe(id);
    }
  });
});
