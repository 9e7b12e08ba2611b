// The client of the API with the command line's settings.
import {
  createClient,
  RequestFailed,
  ServiceUnreachable,
  type Client,
  type ClientOptions,
} from '@lead-scoring/client';
import type { Settings } from './settings.js';

type Access = Pick<Settings, 'apiUrl' | 'token' | 'ouId'>;

/** Retries of a command that a person waits for: about a second in all. */
export const promptRetries = { attempts: 3, firstDelayMs: 200, maximumDelayMs: 2_000 };

/** @param retries default: the client's, which suit a long ingest */
export function clientOf({ apiUrl, token, ouId }: Access, retries?: ClientOptions['retries']): Client {
  return createClient({
    baseUrl: apiUrl,
    ...(retries && { retries }),
    ...(token !== undefined && { token }),
    ...(ouId !== undefined && { ouId }),
  });
}

/** Tries of an answer or an upload of any size without progress in between, and the wait after each. */
export const longTries = { most: 6, waitMs: (tried: number) => 500 * 2 ** tried };

/** Whether a further try may have a better end. */
export function mayPass(error: unknown): boolean {
  if (error instanceof RequestFailed) return error.status === 429 || error.status >= 500;
  return error instanceof ServiceUnreachable;
}
