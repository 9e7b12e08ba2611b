// The client: a typed call for every declared route, and ingestion of events in batches.
import { randomUUID } from 'node:crypto';
import { routes, type routeDeclarations, type RouteName } from '@lead-scoring/contracts';
import type { CallAnswer, CallInput, CallOptions } from './call.js';
import { importEvents, type ImportOptions, type ImportResult } from './import.js';
import { sendEvents, type EventToSend, type IngestOptions, type IngestResult } from './ingest.js';
import { previewLeads, type LeadFileOptions } from './lead-files.js';
import { opener, sender, type ClientOptions, type Open, type Send, type WireRequest } from './send.js';
import { uploader } from './upload.js';

export interface Client {
  /**
   * Calls a route by its name (the OpenAPI document's operationId). Writes carry an Idempotency-Key, so that further
   * tries have no second effect.
   * @throws RequestFailed when the service refuses, ServiceUnreachable when no try gets an answer
   */
  call<Name extends RouteName>(name: Name, input: CallInput<Name>): Promise<CallAnswer<Name>>;
  /**
   * Opens an answer of any size, such as an export, with one try; resolves when it begins. Its parts come as they are read: memory holds
   * one. An answer that breaks off throws.
   * @param accept the media type, where the route has several
   * @throws RequestFailed when the service refuses, ServiceUnreachable when no answer comes, or no further part of it
   */
  open<Name extends RouteName>(
    name: Name,
    input: CallInput<Name> & { accept?: string },
  ): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Sends events in batches. A batch counts as accepted when the log has acknowledged it. It is sent again until then,
   * or until the retry policy is used up, and takes effect once however often it was sent.
   * @throws IngestFailed when a batch was not accepted in the end
   */
  ingest(
    events: Iterable<EventToSend> | AsyncIterable<EventToSend>,
    options?: IngestOptions,
  ): Promise<IngestResult>;
  /**
   * Sends historical events of any number to POST /import, in one request with one try; resolves when the log has all. The valid ones are taken.
   * Memory holds those that are being sent. With an Idempotency-Key of its own, an import that broke off may be sent again from its
   * first event, and no event counts twice.
   * @throws RequestFailed when the service refuses, ServiceUnreachable when the connection breaks; events that were sent before are in
   */
  import(
    events: Iterable<EventToSend> | AsyncIterable<EventToSend>,
    options?: ImportOptions,
  ): Promise<ImportResult>;
  /**
   * Uploads a table of leads, CSV or XLSX, with one try; resolves with what is in it, and with the id by which `startLeadImport` takes it.
   * @throws RequestFailed when the service refuses, ServiceUnreachable when the connection breaks
   */
  previewLeads(
    parts: AsyncIterable<Uint8Array>,
    options?: LeadFileOptions,
  ): Promise<routeDeclarations.LeadImportPreview>;
}

export function createClient(options: ClientOptions): Client {
  const send = sender(options);
  const open = opener(options);
  const upload = uploader(options);
  return {
    call: (name, input) => call(send, name, input),
    open: (name, input) => openAnswer(open, name, input),
    ingest: (events, ingestOptions = {}) => sendEvents(send, events, ingestOptions),
    import: (events, importOptions = {}) => importEvents(upload, events, importOptions),
    previewLeads: (parts, fileOptions = {}) => previewLeads(upload, parts, fileOptions),
  };
}

async function call<Name extends RouteName>(
  send: Send,
  name: Name,
  input: CallInput<Name>,
): Promise<CallAnswer<Name>> {
  const { body } = await send(requestOf(name, input));
  return body as CallAnswer<Name>;
}

function openAnswer<Name extends RouteName>(
  open: Open,
  name: Name,
  input: CallInput<Name> & { accept?: string },
): Promise<AsyncIterable<Uint8Array>> {
  const request = requestOf(name, input);
  const { accept = '*/*' } = input;
  return open({ ...request, headers: { ...request.headers, accept } });
}

function requestOf<Name extends RouteName>(name: Name, input: CallInput<Name>): WireRequest {
  const route = routes[name];
  const given = input as CallOptions & {
    parameters?: Record<string, string>;
    query?: Record<string, string | number | undefined>;
    body?: unknown;
  };
  return {
    method: route.method,
    path: pathOf(route.path, given.parameters ?? {}) + queryOf(given.query ?? {}),
    headers: {
      ...(given.body !== undefined && { 'content-type': 'application/json' }),
      ...(given.ifMatch !== undefined && { 'if-match': given.ifMatch }),
      ...(route.method !== 'GET' && { 'idempotency-key': given.idempotencyKey ?? randomUUID() }),
      ...(given.requestId !== undefined && { 'x-request-id': given.requestId }),
    },
    body: given.body === undefined ? undefined : JSON.stringify(given.body),
    signal: given.signal,
  };
}

function pathOf(path: string, parameters: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = parameters[parameter] ?? '';
    // An empty or dotted segment would lead to another path.
    if (value === '' || value === '.' || value === '..')
      throw new RangeError(`${parameter} must not be "${value}"`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  return search.size === 0 ? '' : `?${search.toString()}`;
}
