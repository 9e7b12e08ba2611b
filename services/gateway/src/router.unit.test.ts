// The router is made from the declarations, and the process does not start when a declared route has no handler.
import { expect, test } from '@jest/globals';
import { routes } from '@lead-scoring/contracts';
import { createRouter, type RouterDependencies } from './router.js';
import { commandBuilders } from './commands/commands.js';

const dependencies = (without?: string): RouterDependencies => ({
  authenticator: {
    authenticate: () => Promise.reject(new Error()),
    orgUnit: () => Promise.reject(new Error()),
  },
  lastUses: { used: () => undefined },
  calls: { count: () => Promise.resolve() },
  quotas: { take: () => Promise.resolve(), takeTable: () => Promise.resolve(() => undefined) },
  refusals: { refused: () => undefined },
  limitCaller: (_req, _res, next) => {
    next();
  },
  limitInFlight: (_req, _res, next) => {
    next();
  },
  limitAddress: (_req, _res, next) => {
    next();
  },
  chargeAddress: () => Promise.resolve(() => undefined),
  findWriteKey: () => (_req, _res, next) => {
    next();
  },
  handlerOf: ({ name }) => (name === without ? undefined : () => Promise.resolve(undefined)),
});

test('a declared route without a handler keeps the gateway from starting, and the error names it', () => {
  expect(() => createRouter(dependencies('explainScore'))).toThrow('explainScore');
  expect(() => createRouter(dependencies())).not.toThrow();
});

test('every command route has a builder, and every builder a route', () => {
  const declared = Object.values(routes).flatMap((route) => (route.kind === 'command' ? [route.name] : []));
  expect(Object.keys(commandBuilders).sort()).toEqual([...declared].sort());
});
