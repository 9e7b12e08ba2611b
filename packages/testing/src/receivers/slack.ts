// Slack's Web API as far as posting messages goes: its tokens, its errors, its limit of one message a second and
// channel, and how it reads a text.
import {
  startHttpReceiver,
  type HttpReceiver,
  type Reaction,
  type ReceivedRequest,
} from './http-receiver.js';

/** An error as Slack names them (HTTP 200), `ratelimited` (HTTP 429 with Retry-After), or another reaction. */
export type SlackReaction = 'ok' | { error: string } | { ratelimited: number } | { instead: Reaction };

export interface SlackCall extends ReceivedRequest {
  /** Such as chat.postMessage. */
  api: string;
  /** As they were sent, JSON in form fields parsed. */
  parameters: Readonly<Record<string, unknown>>;
  /** How many calls of this method had come before. */
  nth: number;
  /** The error that it was answered, or null. */
  error: string | null;
}

/** What stands in the channel. */
export interface SlackMessage {
  channel: string;
  /** What notifications on a telephone show. */
  text: string;
  blocks: readonly Record<string, unknown>[];
  /** Mentions and links as Slack would read them out of its texts: `<!channel>`, `<@U1>`, `<https://…|here>`. */
  mentions: readonly string[];
  links: readonly string[];
  at: number;
}

export interface Slack extends HttpReceiver {
  /** For SLACK_API_URL. */
  apiUrl: string;
  /** For SLACK_BOT_TOKEN. */
  token: string;
  /** From now on, for calls of chat.postMessage that are in order. */
  behave(behaviour: (call: SlackCall) => SlackReaction): void;
  readonly calls: readonly SlackCall[];
  readonly messages: readonly SlackMessage[];
}

interface SlackOptions {
  /** Channels that the bot is in. */
  channels?: readonly string[];
  /** Answer `ratelimited` to what comes to a channel sooner after its last message. 0: never. */
  intervalMs?: number;
}

/** Slack's own figures. */
const limits = { blocks: 50, sectionText: 3_000, text: 40_000 };

export async function startSlack({
  channels = ['C0000000001'],
  intervalMs = 0,
}: SlackOptions = {}): Promise<Slack> {
  const token = 'xoxb-0000000000-a-token-of-the-double';
  const calls: SlackCall[] = [];
  const messages: SlackMessage[] = [];
  const lastAt = new Map<string, number>();
  let behaviour: (call: SlackCall) => SlackReaction = () => 'ok';

  const postMessage = (call: SlackCall): SlackReaction => {
    const { channel, text = '', blocks = [] } = call.parameters;
    if (typeof channel !== 'string' || !channels.includes(channel)) return { error: 'channel_not_found' };
    if (typeof text !== 'string' || !isBlocks(blocks)) return { error: 'invalid_blocks' };
    if (text === '' && blocks.length === 0) return { error: 'no_text' };
    if (text.length > limits.text) return { error: 'msg_too_long' };
    const reaction = behaviour(call);
    if (reaction !== 'ok') return reaction;
    if (call.at - (lastAt.get(channel) ?? -Infinity) < intervalMs)
      return { ratelimited: Math.ceil(intervalMs / 1_000) };
    lastAt.set(channel, call.at);
    const read = [text, ...blocks.flatMap(markdownIn)].join('\n');
    const marks = [...read.matchAll(/<([^<>]+)>/g)].map(([, mark]) => mark ?? '');
    messages.push({
      channel,
      text,
      blocks,
      mentions: marks.filter((mark) => /^[!@#]/.test(mark)),
      links: marks.filter((mark) => !/^[!@#]/.test(mark)),
      at: call.at,
    });
    return 'ok';
  };

  const receiver = await startHttpReceiver((request) => {
    const api = request.path.replace(/^\/api\//, '').split('?')[0] ?? '';
    const parameters = parametersOf(request);
    const call: SlackCall = {
      ...request,
      api,
      parameters,
      nth: calls.filter((earlier) => earlier.api === api).length,
      error: null,
    };
    calls.push(call);
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? parameters['token'];
    const reaction: SlackReaction =
      given === undefined
        ? { error: 'not_authed' }
        : given !== token
          ? { error: 'invalid_auth' }
          : api === 'auth.test'
            ? 'ok'
            : api === 'chat.postMessage'
              ? postMessage(call)
              : { error: 'unknown_method' };
    if (reaction === 'ok')
      return json(200, {
        ok: true,
        ...(api === 'chat.postMessage' && {
          channel: parameters['channel'],
          ts: `${Math.floor(call.at / 1_000)}.${String(messages.length).padStart(6, '0')}`,
        }),
      });
    if ('instead' in reaction) {
      call.error = 'no answer of the API';
      return reaction.instead;
    }
    if ('ratelimited' in reaction) {
      call.error = 'ratelimited';
      return json(429, { ok: false, error: 'ratelimited' }, { 'retry-after': String(reaction.ratelimited) });
    }
    call.error = reaction.error;
    return json(200, { ok: false, error: reaction.error });
  });
  return {
    ...receiver,
    apiUrl: `${receiver.url}api/`,
    token,
    behave: (next) => {
      behaviour = next;
    },
    calls,
    messages,
  };
}

function json(status: number, body: unknown, headers: Record<string, string> = {}): Reaction {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  };
}

/** Forms, as the official client sends them, or JSON. */
function parametersOf({ headers, body }: ReceivedRequest): Record<string, unknown> {
  if (headers['content-type']?.startsWith('application/json'))
    return JSON.parse(body) as Record<string, unknown>;
  return Object.fromEntries(
    [...new URLSearchParams(body)].map(([name, value]) => [
      name,
      ['blocks', 'attachments', 'metadata'].includes(name) ? (JSON.parse(value) as unknown) : value,
    ]),
  );
}

function isBlocks(value: unknown): value is Record<string, unknown>[] {
  return (
    Array.isArray(value) &&
    value.length <= limits.blocks &&
    value.every(
      (block: unknown) =>
        typeof block === 'object' &&
        block !== null &&
        'type' in block &&
        typeof block.type === 'string' &&
        markdownIn(block).every((text) => text.length > 0 && text.length <= limits.sectionText),
    )
  );
}

/** Every text in it that Slack reads as markup, at whatever depth. */
function markdownIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(markdownIn);
  if (typeof value !== 'object' || value === null) return [];
  if ('type' in value && value.type === 'mrkdwn' && 'text' in value)
    return typeof value.text === 'string' ? [value.text] : [''];
  return Object.values(value).flatMap(markdownIn);
}
