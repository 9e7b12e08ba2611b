// A webhook receiver that accepts only requests which the verifier of the Standard Webhooks project accepts.
import { Webhook } from 'standardwebhooks';
import {
  always,
  startHttpReceiver,
  type Behaviour,
  type HttpReceiver,
  type Reaction,
  type ReceivedRequest,
} from './http-receiver.js';

export interface ReceivedWebhook<Payload = unknown> extends ReceivedRequest {
  /** The header webhook-id; empty if it is missing. */
  id: string;
  /** The number of earlier requests with this id. */
  nth: number;
  /** The parsed body; undefined if it is not JSON. */
  payload: Payload;
  /** The trusted secrets under which the verifier accepted the request on arrival. */
  verifiedBy: readonly string[];
  reaction: Reaction;
}

export interface WebhookReceiver<Payload = unknown> extends HttpReceiver {
  /** Adds signing secrets; without any, every request is answered 401. */
  trust(...secrets: string[]): void;
  /** Removes a signing secret. */
  distrust(secret: string): void;
  /** Sets the behaviour for later calls; at first every call is answered 200. */
  behave(behaviour: Behaviour<ReceivedWebhook<Payload>>): void;
  /** Every call in the order of arrival, forged ones included. */
  readonly received: readonly ReceivedWebhook<Payload>[];
  /** Calls that no trusted secret verifies; they are answered 401, with any behaviour. */
  readonly forged: readonly ReceivedWebhook<Payload>[];
  /** By webhook-id, the first call that was answered 2xx. */
  readonly accepted: ReadonlyMap<string, ReceivedWebhook<Payload>>;
}

interface WebhookReceiverOptions {
  secrets?: readonly string[];
  /** The clock to compare timestamps with, in epoch milliseconds, for senders whose clock a test moves. */
  now?: () => number;
}

/** The verifier's own tolerance. */
const toleranceSeconds = 300;

export async function startWebhookReceiver<Payload = unknown>({
  secrets: known = [],
  now,
}: WebhookReceiverOptions = {}): Promise<WebhookReceiver<Payload>> {
  const secrets = new Set(known);
  const received: ReceivedWebhook<Payload>[] = [];
  const forged: ReceivedWebhook<Payload>[] = [];
  const accepted = new Map<string, ReceivedWebhook<Payload>>();
  const arrivals = new Map<string, number>();
  let behaviour: Behaviour<ReceivedWebhook<Payload>> = always({ status: 200 });
  const receiver = await startHttpReceiver((request) => {
    const id = headerOf(request, 'webhook-id');
    const nth = arrivals.get(id) ?? 0;
    arrivals.set(id, nth + 1);
    const call: ReceivedWebhook<Payload> = {
      ...request,
      id,
      nth,
      payload: parsed(request.body) as Payload,
      verifiedBy: [...secrets].filter((secret) => isSigned(request, secret, now)),
      reaction: { status: 401, body: 'no known secret verifies the signature' },
    };
    received.push(call);
    if (call.verifiedBy.length === 0) {
      forged.push(call);
      return call.reaction;
    }
    call.reaction = behaviour(call);
    if (typeof call.reaction === 'object' && call.reaction.status >= 200 && call.reaction.status < 300)
      if (!accepted.has(id)) accepted.set(id, call);
    return call.reaction;
  });
  return {
    ...receiver,
    trust: (...more) => {
      for (const secret of more) secrets.add(secret);
    },
    distrust: (secret) => {
      secrets.delete(secret);
    },
    behave: (next) => {
      behaviour = next;
    },
    received,
    forged,
    accepted,
  };
}

function isSigned(request: ReceivedRequest, secret: string, now?: () => number): boolean {
  const webhook = new Webhook(secret);
  const headers = {
    'webhook-id': headerOf(request, 'webhook-id'),
    'webhook-timestamp': headerOf(request, 'webhook-timestamp'),
    'webhook-signature': headerOf(request, 'webhook-signature'),
  };
  if (now) {
    // The verifier uses the real clock only: with another clock, the signature is compared here.
    const seconds = Number(headers['webhook-timestamp']);
    return (
      Number.isInteger(seconds) &&
      Math.abs(now() / 1_000 - seconds) <= toleranceSeconds &&
      headers['webhook-signature']
        .split(' ')
        .includes(webhook.sign(headers['webhook-id'], new Date(seconds * 1_000), request.body))
    );
  }
  try {
    webhook.verify(request.body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

function headerOf(request: ReceivedRequest, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
