// Sends e-mail over the deployment's SMTP server: one message per notification to all recipients of the channel. Recipients that
// the server defers are mailed again, without the others.
import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { createTransport } from 'nodemailer';
import { emailMessage, recipientsOf } from '../messages/email.js';
import { noticeOf } from '../notice.js';
import { delivered, failed, type AttemptResult, type Send } from './sender.js';

export interface MailSettings {
  /** smtp:// or smtps://, with user and password where the server needs them. */
  url: string;
  /** The sender's address. */
  from: string;
}

const senderName = 'Lead scoring';
/** Timeout of one step of the SMTP dialogue; the attempt as a whole ends with its signal. */
const stepTimeoutMs = 10_000;

export function createEmailSender(settings: MailSettings | null): Send<'email'> {
  if (!settings) {
    const notSetUp = failed('not_set_up', 'E-mail is not set up: set SMTP_URL and MAIL_FROM.');
    return () => Promise.resolve(notSetUp);
  }
  const { url, from } = settings;
  const transport = createTransport({
    url,
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
    // No content of a notification makes the mailer read files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ channel, config, notification_id, payload, deferred: left, signal }) => {
    const { recipients, subject_prefix } = config;
    let to: string[];
    try {
      to = recipientsOf(recipients).filter((address) => left?.includes(markOf(address)) ?? true);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return failed('refused', `The channel's ${error.message}.`);
    }
    if (to.length === 0)
      return delivered(
        'The recipients for whom the message was deferred are no longer recipients of the channel.',
      );
    const message = emailMessage(noticeOf(payload), {
      notification_id,
      channel_id: channel.id,
      subject_prefix,
      from,
    });
    const mail = {
      from: { name: senderName, address: from },
      to: to.map((address) => ({ name: '', address })),
      ...message,
    };
    try {
      return resultOf(await bounded(signal, transport.sendMail(mail)), to.length);
    } catch (error) {
      return failureOf(error, signal);
    }
  };
}

/** The mail server's answer for one message. */
interface MailAnswer {
  accepted: readonly unknown[];
  rejectedErrors?: readonly MailRejection[] | undefined;
  response: string;
}

interface MailRejection {
  recipient?: string | undefined;
  permanent?: boolean | undefined;
  responseCode?: number | undefined;
  response?: string | undefined;
}

/** Failed while the server defers a recipient: the deferred recipients are mailed again. */
function resultOf(
  { accepted, rejectedErrors = [], response }: MailAnswer,
  recipients: number,
): AttemptResult {
  const deferred = rejectedErrors.filter(({ permanent }) => permanent === false);
  const refused = rejectedErrors.filter(({ permanent }) => permanent !== false);
  const detail =
    `The mail server accepted the message for ${String(accepted.length)} of ${String(recipients)} recipients.` +
    named('Deferred', deferred) +
    named('Refused', refused);
  const [first] = deferred;
  if (!first) return delivered(detail, { status: statusOf(response), response });
  return {
    ...failed('status', detail, { status: first.responseCode, response: first.response ?? '' }),
    deferred: deferred.map(({ recipient = '' }) => markOf(recipient)),
  };
}

function named(what: string, rejections: readonly { recipient?: string | undefined }[]): string {
  if (rejections.length === 0) return '';
  return ` ${what}: ${rejections.map(({ recipient = '' }) => recipient).join(', ')}.`;
}

/** A hash that identifies a recipient at the next attempt, in the mailer's spelling of the domain too. */
function markOf(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const spelling = address.slice(0, at) + domainToASCII(address.slice(at));
  return createHash('sha256').update(spelling).digest('hex').slice(0, 16);
}

interface MailError extends Error {
  code?: string;
  response?: string;
  responseCode?: number;
}

function failureOf(error: unknown, signal: AbortSignal): AttemptResult {
  const { code = '', response = '', responseCode } = error as MailError;
  if (signal.aborted || code === 'ETIMEDOUT')
    return failed('timeout', 'The mail server did not answer in time.');
  if (code === 'EAUTH')
    return failed('not_set_up', 'The mail server does not accept the credentials of SMTP_URL.', {
      status: responseCode,
    });
  if (responseCode !== undefined) {
    // 5xx is permanent (RFC 5321, 4.2.1), except at the greeting, where the server refuses this client and not the message.
    const isLast = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
    return failed(isLast ? 'rejected' : 'status', `The mail server answered ${response.trim()}`, {
      status: responseCode,
      response,
    });
  }
  return failed('unreachable', `The mail server cannot be reached${code === '' ? '' : ` (${code})`}.`);
}

function statusOf(response: string): number | undefined {
  const status = /^\d{3}/.exec(response)?.[0];
  return status === undefined ? undefined : Number(status);
}

/** Rejects when the signal is aborted: a server may send its answers byte by byte for ever. */
function bounded<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(new Error('the attempt has reached its time limit'));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', giveUp);
    });
  });
}
