// Problem codes: one meaning each, and one for every status that a route can answer.
import { expect, test } from '@jest/globals';
import { problem } from './common.js';
import { problemCodesOf, problemTypeOf, problemTypes } from './rejections.js';
import { routes } from './routes/index.js';
import { problemsOf, type RouteDeclaration } from './routes/route.js';

test('every status that a route can answer with a problem has a code', () => {
  const statuses = new Set(Object.values(routes).flatMap((route: RouteDeclaration) => problemsOf(route)));
  for (const status of statuses) expect([status, problemCodesOf(status).length > 0]).toEqual([status, true]);
});

test('every code is one that a problem can carry', () => {
  for (const [code, { status, title }] of Object.entries(problemTypes)) {
    const body = { type: 'about:blank', title, status, detail: title, code, request_id: 'r' };
    expect([code, problem.safeParse(body).success]).toEqual([code, true]);
  }
});

test('a code that nobody declared is a fault of ours', () => {
  expect(problemTypeOf('toString').status).toBe(500);
  expect(problemTypeOf('rule_not_found').status).toBe(404);
});
