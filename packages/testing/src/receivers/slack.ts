// A double of Slack's Web API for posting messages: tokens, errors, the limit of one message per second and channel, and the
// interpretation of texts.
import {
  startHttpReceiver,
  type HttpReceiver,
  type Reaction,
  type ReceivedRequest,
} from './http-receiver.js';

/** An error code of Slack (HTTP 200), `ratelimited` (HTTP 429 with Retry-After, in seconds), or another reaction. */
export type SlackReaction = 'ok' | { error: string } | { ratelimited: number } | { instead: Reaction };

export interface SlackCall extends ReceivedRequest {
  /** The API method, for example chat.postMessage. */
  api: string;
  /** The parameters; JSON in form fields is parsed. */
  parameters: Readonly<Record<string, unknown>>;
  /** The number of earlier calls of this method. */
  nth: number;
  /** The error of the answer, or null. */
  error: string | null;
}

/** A message in a channel. */
export interface SlackMessage {
  channel: string;
  /** The text that notifications on a telephone show. */
  text: string;
  blocks: readonly Record<string, unknown>[];
  /** Mentions and links that Slack would find in the texts: `<!channel>`, `<@U1>`, `<https://…|here>`. */
  mentions: readonly string[];
  links: readonly string[];
  at: number;
}

export interface Slack extends HttpReceiver {
  /** For SLACK_API_URL. */
  apiUrl: string;
  /** For SLACK_BOT_TOKEN. */
  token: string;
  /** Sets the reaction to later valid calls of chat.postMessage. */
  behave(behaviour: (call: SlackCall) => SlackReaction): void;
  readonly calls: readonly SlackCall[];
  readonly messages: readonly SlackMessage[];
}

interface SlackOptions {
  /** Channels of which the bot is a member. */
  channels?: readonly string[];
  /** The least time between two messages to a channel; an earlier one is answered `ratelimited`. 0: no limit. */
  intervalMs?: number;
}

/** Slack's documented limits: blocks of a message, characters of a section, characters of a text. */
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

/** The parameters of a form, which the official client sends, or of JSON. */
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

/** Every text in the value that Slack interprets as markup, at any depth. */
function markdownIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(markdownIn);
  if (typeof value !== 'object' || value === null) return [];
  if ('type' in value && value.type === 'mrkdwn' && 'text' in value)
    return typeof value.text === 'string' ? [value.text] : [''];
  return Object.values(value).flatMap(markdownIn);
}
