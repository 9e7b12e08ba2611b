// What a sender of one type of channel is, and what they share: how an attempt ends.
import type { ChannelType, NotificationPayload, records } from '@lead-scoring/contracts';
import type { Channel } from '../../configuration/state.js';
import type { FailureReason } from '../state.js';

export type DestinationType = ChannelType;
export type DestinationOf<Type extends DestinationType> = Extract<records.ChannelDestination, { type: Type }>;

/** One attempt to tell a channel. */
export interface Sending<Type extends DestinationType = DestinationType> {
  channel: Pick<Channel, 'id' | 'signing'>;
  config: DestinationOf<Type>['config'];
  notification_id: string;
  payload: NotificationPayload;
  /** Recipients of an e-mail that are still to get it, where others have; null: all. */
  deferred: readonly string[] | null;
  /** When the attempt began. */
  at: Date;
  /** Ends the attempt. */
  signal: AbortSignal;
}

/** How an attempt ended. */
export type AttemptResult = Pick<
  records.RecordAttempt,
  'outcome' | 'reason' | 'status' | 'detail' | 'response' | 'retry_after_seconds' | 'deferred'
>;

/** Answers whatever the destination does; throws only for a fault of ours. */
export type Send<Type extends DestinationType = DestinationType> = (
  sending: Sending<Type>,
) => Promise<AttemptResult>;

/** What of secrets a sender needs: @lead-scoring/service's Sealing has it. */
export interface Secrets {
  unseal(sealed: string, context: string): string;
  /** Of a channel that has none stored. */
  signingSecret(keyId: string): string;
}

/** For all of an attempt: name, connection, and the last byte of the answer. */
export const attemptTimeoutMs = 15_000;
/** How much of an answer is kept. */
export const excerptBytes = 20_000;

const detailLength = 1_000;
const longestRetryAfterSeconds = 31_536_000;

/** What more there is to say of an attempt. */
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

/** What the destination repeats of our secrets is not kept. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .reduce((kept, secret) => kept.replaceAll(secret, '…'), text);
}
