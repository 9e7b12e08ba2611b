// A read by the id of a lead that has joined another says which lead its answer is about.
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ofMergedLead } from '../common.js';
import { routes } from './index.js';
import { leadParametersOf, type RouteDeclaration } from './route.js';

test('every read with a lead in its path, and no other answer, declares merged_into', () => {
  const declaring = (route: RouteDeclaration) => {
    const { schema } = route.responses[200] ?? {};
    return schema instanceof z.ZodObject && schema.shape.merged_into === ofMergedLead.merged_into;
  };
  const all: RouteDeclaration[] = Object.values(routes);
  const named = all.filter(
    (route) =>
      route.kind === 'query' &&
      leadParametersOf(route).path.length > 0 &&
      route.responses[200]?.contentType === undefined,
  );
  expect(named.length).toBeGreaterThanOrEqual(8);
  expect(all.filter(declaring).map(({ name }) => name)).toEqual(named.map(({ name }) => name));
});
