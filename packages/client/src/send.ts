// Sends a request with credentials, a timeout for each try, and further tries where they can help.
import { setTimeout as wait } from 'node:timers/promises';
import type { Problem } from '@lead-scoring/contracts';
import { RequestFailed, ServiceUnreachable } from './errors.js';
import { defaultSchedule, delayAfter, isWorthRetrying, type RetrySchedule } from './retry.js';

export interface ClientOptions {
  /** Base URL of the API, such as `https://scoring.example.com`. */
  baseUrl: string;
  /** A personal access token (`lsp_…`) or a JSON Web Token. */
  token?: string;
  /** A service account, in place of a token. */
  clientId?: string;
  clientSecret?: string;
  /** The organizational unit to work in, in place of the credential's active one. */
  ouId?: string;
  /** Default: the global fetch. Streamed uploads do not use it. */
  fetch?: typeof fetch;
  retries?: RetrySchedule;
  /** Timeout of one try, and of each part of an opened answer; default 30 s. */
  timeoutMs?: number;
}

/** An HTTP request of any route. */
export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
  signal: AbortSignal | undefined;
  /** Called before each further try. */
  onRetry?: (why: RequestFailed | ServiceUnreachable, waitMs: number) => void;
}

/** A 2xx answer. */
export interface WireAnswer {
  body: unknown;
  /** The service repeated its first answer to this Idempotency-Key: the request had no effect this time. */
  isReplayed: boolean;
}

/** Sends a request, with further tries where they can help. Resolves with the 2xx answer. */
export type Send = (request: WireRequest) => Promise<WireAnswer>;

export function sender(options: ClientOptions): Send {
  const { base, fetchOf, headers, timeoutMs } = settingsOf(options);
  const schedule = options.retries ?? defaultSchedule;
  return async (request) => {
    for (let tried = 1; ; tried += 1) {
      const outcome = await attempt(fetchOf, base, headers, request, timeoutMs);
      // After a retry, the repeated answer belongs to an earlier try of this same request.
      if (!('failure' in outcome)) return { ...outcome, isReplayed: outcome.isReplayed && tried === 1 };
      const { failure, retriable, retryAfter } = outcome;
      if (!retriable || tried >= schedule.attempts) throw failure;
      const waitMs = delayAfter(tried, schedule, retryAfter, Math.random());
      request.onRetry?.(failure, waitMs);
      await wait(waitMs, undefined, request.signal ? { signal: request.signal } : {});
    }
  };
}

/** Opens an answer of any size; one try. Resolves when the answer begins. */
export type Open = (request: WireRequest) => Promise<AsyncIterable<Uint8Array>>;

export function opener(options: ClientOptions): Open {
  const settings = settingsOf(options);
  return async (request) => {
    const { base, fetchOf, headers, timeoutMs } = settings;
    const idle = new AbortController();
    const unreachable = (error: unknown) => {
      request.signal?.throwIfAborted();
      const why = idle.signal.aborted ? `nothing for ${timeoutMs / 1_000} s` : reasonOf(error);
      return new ServiceUnreachable(`the answer of ${base} broke off: ${why}`, { cause: error });
    };
    const stop = () => {
      idle.abort();
    };
    let timer = setTimeout(stop, timeoutMs);
    let response: Response;
    try {
      response = await fetchOf(base + request.path, {
        method: request.method,
        headers: { ...headers, ...request.headers },
        signal: request.signal ? AbortSignal.any([request.signal, idle.signal]) : idle.signal,
        redirect: 'error',
      });
      if (!response.ok) throw refusal(base, request, response, bodyOf(response, await response.text()));
    } catch (error) {
      clearTimeout(timer);
      throw error instanceof RequestFailed ? error : unreachable(error);
    }
    return (async function* () {
      try {
        for await (const part of response.body ?? []) {
          clearTimeout(timer);
          yield part as Uint8Array;
          timer = setTimeout(stop, timeoutMs);
        }
      } catch (error) {
        throw unreachable(error);
      } finally {
        clearTimeout(timer);
      }
    })();
  };
}

export interface SendSettings {
  base: string;
  fetchOf: typeof fetch;
  headers: Record<string, string>;
  timeoutMs: number;
}

/** @throws Error when the base URL is none */
export function settingsOf(options: ClientOptions): SendSettings {
  const base = options.baseUrl.replace(/(?<!\/)\/+$/, '');
  if (!URL.canParse(base))
    throw new Error(`baseUrl "${options.baseUrl}" must be a URL such as http://localhost:8080`);
  return {
    base,
    fetchOf: options.fetch ?? fetch,
    headers: {
      accept: 'application/json',
      ...authorization(options),
      ...(options.ouId !== undefined && { 'x-ou-id': options.ouId }),
    },
    timeoutMs: options.timeoutMs ?? 30_000,
  };
}

function authorization({ token, clientId, clientSecret }: ClientOptions): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (clientId === undefined || clientSecret === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` };
}

type Outcome =
  WireAnswer | { failure: RequestFailed | ServiceUnreachable; retriable: boolean; retryAfter: string | null };

async function attempt(
  fetchOf: typeof fetch,
  base: string,
  headers: Record<string, string>,
  request: WireRequest,
  timeoutMs: number,
): Promise<Outcome> {
  const deadline = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await fetchOf(base + request.path, {
      method: request.method,
      headers: { ...headers, ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
      signal: request.signal ? AbortSignal.any([request.signal, deadline]) : deadline,
      redirect: 'error',
    });
    text = await response.text();
  } catch (error) {
    request.signal?.throwIfAborted();
    const why = deadline.aborted ? `none within ${timeoutMs / 1_000} s` : reasonOf(error);
    const failure = new ServiceUnreachable(`no answer from ${base}: ${why}`, { cause: error });
    return { failure, retriable: true, retryAfter: null };
  }
  const body = bodyOf(response, text);
  if (response.ok && body !== notJson)
    return { body, isReplayed: response.headers.get('idempotent-replayed') === 'true' };
  return {
    failure: refusal(base, request, response, body),
    retriable: isWorthRetrying(response.status, isProblem(body) ? body.code : undefined),
    retryAfter: response.headers.get('retry-after'),
  };
}

function bodyOf({ status, headers }: Response, text: string): unknown {
  return contentOf({ status, type: headers.get('content-type') ?? '' }, text);
}

/** The value of an answer's text; `notJson` when it is not the JSON that its type says. */
export function contentOf({ status, type }: { status: number; type: string }, text: string): unknown {
  const isJson = status !== 204 && /[/+]json\b/.test(type);
  return isJson ? parseJson(text) : text === '' ? undefined : text;
}

/** The error for an answer that is no success. */
export function refusal(
  base: string,
  request: { path: string },
  { status }: { status: number },
  body: unknown,
): RequestFailed {
  const problem = isProblem(body) ? body : null;
  return new RequestFailed(
    status,
    problem,
    problem ? sentenceOf(problem) : `${base}${request.path} answered ${status}, and not as this API does`,
  );
}

export const notJson = Symbol('not JSON');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return notJson;
  }
}

function isProblem(body: unknown): body is Problem {
  return (
    typeof body === 'object' &&
    body !== null &&
    'code' in body &&
    typeof body.code === 'string' &&
    'detail' in body &&
    typeof body.detail === 'string'
  );
}

/** The problem's detail, and the field errors unless the detail is the only one of them. */
function sentenceOf(problem: Problem): string {
  const all = (problem.errors ?? []).map(({ path, message }) => `${path || 'the body'} ${message}`);
  const isSaid = all.length === 1 && `${all[0] ?? ''}.` === problem.detail;
  const places = isSaid ? [] : all.slice(0, 5);
  const more = isSaid ? 0 : all.length - places.length;
  const text = [problem.detail, ...places, ...(more > 0 ? [`and ${more} more`] : [])].join('\n  ');
  return `${text} (${problem.code}, request ${problem.request_id})`;
}

/** Why a connection failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // fetch puts the reason into the cause. Of several tried addresses, the first error is enough.
  const cause = error.cause instanceof AggregateError ? (error.cause.errors[0] as unknown) : error.cause;
  return cause instanceof Error ? cause.message : error.message;
}
