// Sends to Slack, with the bot of the deployment.
import {
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
} from '@slack/web-api';
import { slackMessage } from '../messages/slack.js';
import { noticeOf } from '../notice.js';
import { delivered, failed, type AttemptResult, type Send } from './sender.js';

export interface SlackSettings {
  token: string;
  /** Of another Slack than slack.com, such as GovSlack. */
  apiUrl?: string | undefined;
}

/** Answers of Slack that say that this message will never be taken. */
const rejections: ReadonlySet<string> = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_too_long',
  'msg_blocks_too_long',
  'no_text',
]);

/** What is no answer of Slack's API at all: a page of a proxy, or half of an answer. */
const unreadable = failed('malformed', 'Slack answered with something that cannot be read.');

/** Retries and rates are the deliverer's: the client makes one request and says how it went. */
export function createSlackSender(settings: SlackSettings | null): Send<'slack'> {
  if (!settings) {
    const notSetUp = failed('not_set_up', 'Slack is not set up: set SLACK_BOT_TOKEN.');
    return () => Promise.resolve(notSetUp);
  }
  return async ({ config, payload, signal }) => {
    // A client has its requests one after the other; one for each attempt, so that none waits for another's.
    const client = new WebClient(settings.token, {
      ...(settings.apiUrl !== undefined && { slackApiUrl: settings.apiUrl }),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      logLevel: LogLevel.ERROR,
      logger: silentLogger,
      fetch: (url, init) => fetch(url, { ...init, signal }),
    });
    try {
      await client.chat.postMessage({
        channel: config.channel_id,
        ...slackMessage(noticeOf(payload)),
        mrkdwn: false,
        parse: 'none',
        link_names: false,
        unfurl_links: false,
        unfurl_media: false,
      });
      return delivered('Slack has taken the message.', { status: 200 });
    } catch (error) {
      return failureOf(error, signal);
    }
  };
}

function failureOf(error: unknown, signal: AbortSignal): AttemptResult {
  if (error instanceof WebAPIRateLimitedError)
    return failed('rate_limited', 'Slack answered that messages come too fast (ratelimited).', {
      status: 429,
      retry_after_seconds: error.retryAfter,
    });
  if (error instanceof WebAPIPlatformError) {
    const { error: code } = error.data;
    if (!/^[a-z0-9_]{1,100}$/.test(code)) return unreadable;
    return failed(rejections.has(code) ? 'rejected' : 'status', `Slack answered ${code}.`, {
      status: 200,
      response: JSON.stringify(error.data),
    });
  }
  if (error instanceof WebAPIHTTPError)
    return failed('status', `Slack answered ${String(error.statusCode)}.`, {
      status: error.statusCode,
      response: typeof error.body === 'string' ? error.body : '',
    });
  if (signal.aborted) return failed('timeout', 'Slack did not answer in time.');
  if (error instanceof WebAPIRequestError) return failed('unreachable', 'Slack cannot be reached.');
  return unreadable;
}

/** What went wrong is said in the attempt. */
const silentLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};
