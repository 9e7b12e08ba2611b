// Shared by the senders over HTTP: one POST to an address that a user named, and the meaning of its answer.
import {
  OutboundFailed,
  OutboundRefused,
  type Outbound,
  type OutboundFailedReason,
  type OutboundResponse,
} from '@lead-scoring/outbound';
import type { FailureReason } from '../state.js';
import { delivered, excerptBytes, failed, withoutSecrets, type AttemptResult } from './sender.js';

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  at: Date;
  signal: AbortSignal;
  /** Replaced in the recorded answer, where the receiver repeats them. */
  secrets: readonly string[];
}

/** Posts without following redirects: the owner of a channel that moves changes its address. */
export async function post(
  outbound: Pick<Outbound, 'check' | 'request'>,
  { url, headers, body, at, signal, secrets }: Post,
): Promise<AttemptResult> {
  try {
    const response = await outbound.request(outbound.check(url), {
      method: 'POST',
      headers,
      body,
      signal,
      maxBytes: excerptBytes,
    });
    return resultOf(response, at, withoutSecrets(response.body.toString('utf8'), secrets));
  } catch (error) {
    if (error instanceof OutboundRefused) return failed('refused', withoutSecrets(error.message, secrets));
    if (error instanceof OutboundFailed)
      return failed(reasonOf(error.reason), withoutSecrets(error.message, secrets));
    throw error;
  }
}

function reasonOf(reason: OutboundFailedReason): FailureReason {
  return reason === 'timeout' || reason === 'malformed' ? reason : 'unreachable';
}

function resultOf({ url, status, headers }: OutboundResponse, at: Date, response: string): AttemptResult {
  const answered = `${url.host} answered ${String(status)}`;
  const answer = { status, response, retry_after_seconds: retryAfter(headers['retry-after'], at) };
  if (status >= 200 && status < 300) return delivered(`${answered}.`, answer);
  if (status === 410) return failed('gone', `${answered}: the receiver wants no more requests.`, answer);
  if (status === 429) return failed('rate_limited', `${answered}: too many requests.`, answer);
  if (status >= 300 && status < 400)
    return failed('status', `${answered}: redirects are not followed.`, answer);
  return failed('status', `${answered}.`, answer);
}

/** A Retry-After in seconds; undefined for a header that is neither a number of seconds nor a date. */
export function retryAfter(header: string | undefined, at: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const date = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - at.getTime()) / 1_000);
}
