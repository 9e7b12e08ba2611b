// The interface of senders, one per type of channel, and the results of attempts.
import type { ChannelType, NotificationPayload, records } from '@lead-scoring/contracts';
import type { Channel } from '../../configuration/state.js';
import type { FailureReason } from '../state.js';

export type DestinationType = ChannelType;
export type DestinationOf<Type extends DestinationType> = Extract<records.ChannelDestination, { type: Type }>;

/** One attempt to send a notification to a channel. */
export interface SendAttempt<Type extends DestinationType = DestinationType> {
  channel: Pick<Channel, 'id' | 'signing'>;
  config: DestinationOf<Type>['config'];
  notification_id: string;
  payload: NotificationPayload;
  /** Hashes of the recipients that an e-mail was deferred for; null: all recipients. */
  deferred: readonly string[] | null;
  /** When the attempt began. */
  at: Date;
  /** Aborts the attempt. */
  signal: AbortSignal;
}

/** How an attempt ended. */
export type AttemptResult = Pick<
  records.RecordAttempt,
  'outcome' | 'reason' | 'status' | 'detail' | 'response' | 'retry_after_seconds' | 'deferred'
>;

/** Resolves whatever the destination does; rejects only for a failure of this service. */
export type Send<Type extends DestinationType = DestinationType> = (
  sending: SendAttempt<Type>,
) => Promise<AttemptResult>;

/** The functions on secrets that senders need; the Sealing of @lead-scoring/service has them. */
export interface Secrets {
  unseal(sealed: string, context: string): string;
  /** The derived signing secret of a channel that has none stored. */
  signingSecret(keyId: string): string;
}

/** Time limit of an attempt, from the look-up of the name to the last byte of the answer. */
export const attemptTimeoutMs = 15_000;
/** Maximum size of a recorded answer. */
export const excerptBytes = 20_000;

const detailLength = 1_000;
const longestRetryAfterSeconds = 31_536_000;

/** The receiver's answer. */
export interface Answer {
  status?: number | undefined;
  response?: string;
  retry_after_seconds?: number | undefined;
}

export function delivered(detail: string, answer: Answer = {}): AttemptResult {
  return { outcome: 'delivered', ...answerFields(detail, answer) };
}

export function failed(reason: FailureReason, detail: string, answer: Answer = {}): AttemptResult {
  const { retry_after_seconds } = answer;
  return {
    outcome: 'failed',
    reason,
    ...answerFields(detail, answer),
    ...(retry_after_seconds !== undefined && {
      retry_after_seconds: Math.min(Math.ceil(retry_after_seconds), longestRetryAfterSeconds),
    }),
  };
}

function answerFields(
  detail: string,
  { status, response = '' }: Answer,
): Pick<AttemptResult, 'detail' | 'status' | 'response'> {
  return {
    detail: detail.slice(0, detailLength).toWellFormed(),
    ...(status !== undefined && status >= 100 && status <= 999 && { status }),
    ...(response !== '' && { response: response.slice(0, excerptBytes).toWellFormed() }),
  };
}

/** Replaces secrets that a destination repeats in its answer. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .reduce((kept, secret) => kept.replaceAll(secret, '…'), text);
}
