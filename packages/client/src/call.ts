// Types of the input and the answer of each route, derived from the declarations in contracts.
import type { RouteName, routes } from '@lead-scoring/contracts';
import type { z } from 'zod';

type Route<Name extends RouteName> = (typeof routes)[Name];

/** A coerced query parameter accepts any input in its schema; here the caller must pass the output type. */
type LooseInput<Input, Output> = {
  [Key in keyof Input]: unknown extends Input[Key]
    ? Key extends keyof Output
      ? Output[Key]
      : never
    : Input[Key];
};

type ParametersOf<R> = R extends { parameters: infer S extends z.ZodType }
  ? { parameters: z.input<S> }
  : unknown;
type QueryOf<R> = R extends { query: infer S extends z.ZodType }
  ? Partial<z.input<S>> extends z.input<S>
    ? { query?: LooseInput<z.input<S>, z.output<S>> }
    : { query: LooseInput<z.input<S>, z.output<S>> }
  : unknown;
type BodyOf<R> = R extends { body: infer S extends z.ZodType }
  ? Partial<z.input<S>> extends z.input<S>
    ? { body?: z.input<S> }
    : { body: z.input<S> }
  : unknown;

export interface CallOptions {
  /** Default for writes: a random key, the same for all tries of the call, so that a write may be sent again. */
  idempotencyKey?: string;
  /** An ETag: the change is refused (412) when the resource has a later version. Only for routes that take If-Match. */
  ifMatch?: string;
  requestId?: string;
  signal?: AbortSignal;
}

/** The input of a call of the route. */
export type CallInput<Name extends RouteName> = ParametersOf<Route<Name>> &
  QueryOf<Route<Name>> &
  BodyOf<Route<Name>> &
  CallOptions;

type Successes = 200 | 201 | 202 | 204;
type AnswerOf<Responses> = {
  [Status in keyof Responses & Successes]: Responses[Status] extends { schema: infer S extends z.ZodType }
    ? z.output<S>
    : Responses[Status] extends { contentType: string }
      ? string
      : undefined;
}[keyof Responses & Successes];

/** The answer of a call of the route: the body of its 2xx answer. */
export type CallAnswer<Name extends RouteName> = AnswerOf<Route<Name>['responses']>;
