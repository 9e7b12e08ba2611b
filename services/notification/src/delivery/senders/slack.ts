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
  /** Base URL of another Slack than slack.com, such as GovSlack. */
  apiUrl?: string | undefined;
}

/** Error codes with which Slack refuses this message for good. */
const rejections: ReadonlySet<string> = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_too_long',
  'msg_blocks_too_long',
  'no_text',
]);

/** Not an answer of Slack's API: for example the page of a proxy, or half an answer. */
const unreadable = failed('malformed', 'Slack answered with something that cannot be read.');

/** The client makes one request; retries and rates are the deliverer's task. */
export function createSlackSender(settings: SlackSettings | null): Send<'slack'> {
  if (!settings) {
    const notSetUp = failed('not_set_up', 'Slack is not set up: set SLACK_BOT_TOKEN.');
    return () => Promise.resolve(notSetUp);
  }
  return async ({ config, payload, signal }) => {
    // A client sends its requests one after the other, so each attempt gets its own client.
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
      return delivered('Slack has accepted the message.', { status: 200 });
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

/** Silent: the attempt records what went wrong. */
const silentLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};
