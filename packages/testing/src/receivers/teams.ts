// A double of the incoming webhook of a Teams channel: it accepts an Adaptive Card in a message of at most 28 KB with 202.
import { z } from 'zod';
import {
  startHttpReceiver,
  type Behaviour,
  type HttpReceiver,
  type Reaction,
  type ReceivedRequest,
} from './http-receiver.js';

const largestMessage = 28 * 1024;

const message = z.object({
  type: z.literal('message'),
  attachments: z
    .array(
      z.object({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        content: z.looseObject({
          type: z.literal('AdaptiveCard'),
          version: z.string().regex(/^1\.[0-6]$/),
          body: z.array(z.looseObject({ type: z.string() })).min(1),
        }),
      }),
    )
    .length(1),
});

export interface ReceivedCard extends ReceivedRequest {
  /** The number of earlier calls. */
  nth: number;
  /** The card that Teams would show; undefined if it would refuse the message. */
  card: z.infer<typeof message>['attachments'][number]['content'] | undefined;
  reaction: Reaction;
}

export interface Teams extends HttpReceiver {
  /** The webhook's address; its query is a secret, as in Teams. */
  webhookUrl: string;
  /** Sets the reaction to later well-formed messages to the whole address. */
  behave(behaviour: Behaviour<ReceivedCard>): void;
  readonly received: readonly ReceivedCard[];
}

export async function startTeams(): Promise<Teams> {
  const received: ReceivedCard[] = [];
  let behaviour: Behaviour<ReceivedCard> = () => ({ status: 202 });
  const path = '/workflows/1/triggers/manual/paths/invoke?sig=a-secret-of-the-channel';
  const receiver = await startHttpReceiver((request) => {
    const found = message.safeParse(parsed(request.body)).data;
    const call: ReceivedCard = {
      ...request,
      nth: received.length,
      card: found?.attachments[0]?.content,
      reaction: { status: 202 },
    };
    received.push(call);
    if (request.method !== 'POST' || request.path !== path) call.reaction = { status: 401 };
    else if (Buffer.byteLength(request.body) > largestMessage) call.reaction = { status: 413 };
    else if (!call.card) call.reaction = { status: 400, body: 'Summary or Text is required.' };
    else call.reaction = behaviour(call);
    return call.reaction;
  });
  return {
    ...receiver,
    webhookUrl: `${receiver.url.slice(0, -1)}${path}`,
    behave: (next) => {
      behaviour = next;
    },
    received,
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
