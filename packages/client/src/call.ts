// What a caller gives to and gets from each route, as types, from the declarations in contracts.
import type { RouteName, routes } from '@lead-scoring/contracts';
import type { z } from 'zod';

type Declarations = typeof routes;

type InputOf<Route, Part extends string> =
  Route extends Record<Part, infer Schema> ? (Schema extends z.ZodType ? z.input<Schema> : never) : never;

/** Path parameters, query and body of a route; a part that the route has not is absent. */
export type CallInput<Name extends RouteName> = (Declarations[Name] extends { parameters: z.ZodType }
  ? { parameters: InputOf<Declarations[Name], 'parameters'> }
  : object) &
  (Declarations[Name] extends { query: z.ZodType }
    ? { query?: InputOf<Declarations[Name], 'query'> }
    : object) &
  (Declarations[Name] extends { body: z.ZodType } ? { body: InputOf<Declarations[Name], 'body'> } : object);

type SuccessOf<Responses> = {
  [Status in keyof Responses]: Status extends 200 | 201 | 202
    ? Responses[Status] extends { schema: infer Schema extends z.ZodType }
      ? z.output<Schema>
      : string
    : Status extends 204
      ? undefined
      : never;
}[keyof Responses];

/** What the route answers when it succeeds. */
export type CallResult<Name extends RouteName> = SuccessOf<Declarations[Name]['responses']>;
