// Problem codes: each has one meaning, and every status that a route can answer has at least one code.
import { expect, test } from '@jest/globals';
import { problem } from './common.js';
import { problemTypeOf, problemTypes, type ProblemCode } from './rejections.js';
import { routes } from './routes/index.js';
import { problemCodesOfRoute } from './routes/route-problems.js';
import type { RouteDeclaration } from './routes/route.js';

test('every code is declared by a route, or is of what comes before a route is found', () => {
  const declared = new Set(
    Object.values(routes).flatMap((route: RouteDeclaration) => problemCodesOfRoute(route)),
  );
  const others = Object.keys(problemTypes).filter((code) => !declared.has(code as ProblemCode));
  expect(others.sort()).toEqual([
    'internal_authorization_invalid',
    'malformed_request',
    'method_not_allowed',
    'route_not_found',
  ]);
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
