// The client for producers and programs: every route of the API by its name, and events in batches.
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  routes,
  type Problem,
  type RouteDeclaration,
  type RouteName,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import type { z } from 'zod';
import type { CallInput, CallResult } from './call.js';
import { RequestFailed, ServiceUnreachable } from './errors.js';
import { defaultSchedule, delayAfter, isWorthRetrying, type RetrySchedule } from './retry.js';

const compress = promisify(gzip);

export interface ClientOptions {
  /** Address of the API, without a path. */
  baseUrl: string;
  /** A personal token; in its place `clientId` and `clientSecret` of a service account. */
  token?: string;
  clientId?: string;
  clientSecret?: string;
  /** The OU of all calls; default the credential's active OU. */
  ouId?: string;
  retries?: RetrySchedule;
  /** Milliseconds that one try may take. Default 60,000. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

export type EventToSend = z.input<typeof routeDeclarations.ingestedEvent>;

export interface SendOptions {
  /** Events a request, at most 5,000. Default 1,000. */
  batchSize?: number;
  /** Requests at a time. Default 2. */
  concurrency?: number;
  /** Send as history (POST /import): scored, and no trigger fires. */
  history?: boolean;
  /** Take the valid events of a batch and report the others, in place of refusing the batch. */
  partial?: boolean;
  /** Called after each acknowledged batch. */
  onBatch?: (sent: { events: number; accepted: number }) => void;
}

export interface SendResult {
  accepted: number;
  /** With `partial`: events that were not taken, by their index in what was given. */
  rejected: { index: number; errors: { path: string; message: string }[] }[];
  /** Mark of the last acknowledged batch, for `min_position`; absent when nothing was sent. */
  position?: string;
}

export interface Client {
  /**
   * Calls a route. Writes carry an Idempotency-Key, so that every try after the first has no second effect.
   * @throws RequestFailed when the service refuses, ServiceUnreachable when it does not answer on any try
   */
  call<Name extends RouteName>(name: Name, input: CallInput<Name>): Promise<CallResult<Name>>;
  /** Sends events in gzipped batches; resolves when the log has acknowledged all of them. */
  ingest(
    events: Iterable<EventToSend> | AsyncIterable<EventToSend>,
    options?: SendOptions,
  ): Promise<SendResult>;
}

export function createClient(options: ClientOptions): Client {
  const send = async (
    route: RouteDeclaration,
    input: { parameters?: unknown; query?: unknown; body?: unknown },
  ): Promise<unknown> => {
    const url = `${options.baseUrl.replace(/\/$/, '')}${pathOf(route, input.parameters)}${queryOf(input.query)}`;
    const headers: Record<string, string> = { accept: 'application/json', ...authorization(options) };
    if (options.ouId !== undefined) headers['x-ou-id'] = options.ouId;
    if (route.method !== 'GET') headers['idempotency-key'] = randomUUID();
    let body: Uint8Array | string | undefined;
    if (input.body !== undefined) {
      headers['content-type'] = 'application/json';
      body = JSON.stringify(input.body);
      if (body.length > 10_000 && route.kind === 'intake') {
        headers['content-encoding'] = 'gzip';
        body = new Uint8Array(await compress(body, { level: 1 }));
      }
    }
    return attempt(options, url, { method: route.method, headers, ...(body !== undefined && { body }) });
  };
  return {
    call: async <Name extends RouteName>(name: Name, input: CallInput<Name>) =>
      (await send(routes[name], input)) as CallResult<Name>,
    ingest: (events, sendOptions = {}) => sendInBatches(send, events, sendOptions),
  };
}

async function attempt(
  options: ClientOptions,
  url: string,
  request: RequestInit & { body?: Uint8Array | string },
): Promise<unknown> {
  const schedule = options.retries ?? defaultSchedule;
  const doFetch = options.fetch ?? fetch;
  for (let tried = 1; ; tried += 1) {
    let response: Response | null = null;
    let failure: unknown;
    try {
      response = await doFetch(url, {
        ...(request as RequestInit),
        signal: AbortSignal.timeout(options.timeoutMs ?? 60_000),
      });
      const text = await response.text();
      if (response.ok) return readable(response, text);
      const problem = problemIn(text);
      const failed = new RequestFailed(
        response.status,
        problem,
        `${String(response.status)} ${response.statusText} from ${url}`,
      );
      if (!isWorthRetrying(response.status, problem?.code)) throw failed;
      failure = failed;
    } catch (error) {
      if (error instanceof RequestFailed && error !== failure) throw error;
      failure = error;
    }
    if (tried >= schedule.attempts)
      throw failure instanceof RequestFailed ? failure : new ServiceUnreachable(options.baseUrl, failure);
    const delay = delayAfter(tried, schedule, response?.headers.get('retry-after') ?? null, Math.random());
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}

async function sendInBatches(
  send: (route: RouteDeclaration, input: { query?: unknown; body?: unknown }) => Promise<unknown>,
  events: Iterable<EventToSend> | AsyncIterable<EventToSend>,
  { batchSize = 1_000, concurrency = 2, history = false, partial = false, onBatch }: SendOptions,
): Promise<SendResult> {
  const result: SendResult = { accepted: 0, rejected: [] };
  const running = new Set<Promise<void>>();
  let failure: unknown = null;
  let sent = 0;

  const sendBatch = async (batch: EventToSend[], start: number) => {
    const answer = (await send(history ? routes.importEvents : routes.ingest, {
      query: partial ? { partial: 'true' } : {},
      body: { events: batch },
    })) as CallResult<'ingest'>;
    result.accepted += answer.accepted;
    result.position = answer.position;
    for (const { index, errors } of answer.rejected ?? [])
      result.rejected.push({ index: start + index, errors });
    onBatch?.({ events: batch.length, accepted: answer.accepted });
  };
  const begin = async (batch: EventToSend[]) => {
    while (running.size >= concurrency) await Promise.race(running);
    if (failure !== null) return;
    const sending: Promise<void> = sendBatch(batch, sent)
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => running.delete(sending));
    running.add(sending);
    sent += batch.length;
  };

  let batch: EventToSend[] = [];
  for await (const event of events) {
    batch.push(event);
    if (batch.length < batchSize) continue;
    await begin(batch);
    batch = [];
    if (failure !== null) break;
  }
  if (batch.length > 0) await begin(batch);
  await Promise.all(running);
  // Thrown as it came: it is an Error of `attempt` or of the caller's iterable.
  if (failure !== null) throw failure as Error;
  return result;
}

function authorization({ token, clientId, clientSecret }: ClientOptions): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (clientId !== undefined && clientSecret !== undefined)
    return { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` };
  return {};
}

function pathOf(route: RouteDeclaration, parameters: unknown): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((parameters as Record<string, unknown> | undefined)?.[name] ?? '')),
  );
}

function queryOf(query: unknown): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search.toString()}`;
}

function readable(response: Response, text: string): unknown {
  if (text === '') return undefined;
  return /json/.test(response.headers.get('content-type') ?? '') ? (JSON.parse(text) as unknown) : text;
}

function problemIn(text: string): Problem | null {
  try {
    const body = JSON.parse(text) as Partial<Problem>;
    return typeof body.code === 'string' && typeof body.detail === 'string' ? (body as Problem) : null;
  } catch {
    return null;
  }
}
