// A mail server that accepts messages, defers them, refuses them or stops answering, as a test sets it.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** A step of the SMTP conversation at which the server reacts. */
export interface MailStep {
  at: 'connection' | 'sender' | 'recipient' | 'message';
  /** The sender or the recipient; for a message, its sender. */
  address: string;
  /** The number of earlier steps of the same kind. */
  nth: number;
}

/** `accept`, `hang` without an answer, or a reply such as 451 (try later) or 550 (never). */
export type MailReaction = 'accept' | 'hang' | { reply: number; text?: string };
export type MailBehaviour = (step: MailStep) => MailReaction;

/** An accepted message. */
export interface ReceivedMail {
  /** The envelope. */
  from: string;
  to: readonly string[];
  /** The message in the form in which it was sent. */
  raw: string;
  message: Email;
  at: number;
}

export interface MailServer {
  /** `smtp://127.0.0.1:<port>` */
  url: string;
  /** From now on; at first everything is accepted. */
  behave(behaviour: MailBehaviour): void;
  /** Every step of every conversation. */
  readonly steps: readonly (MailStep & { reaction: MailReaction })[];
  readonly received: readonly ReceivedMail[];
  stop(): Promise<void>;
}

export async function startMailServer(): Promise<MailServer> {
  const steps: (MailStep & { reaction: MailReaction })[] = [];
  const received: ReceivedMail[] = [];
  let behaviour: MailBehaviour = () => 'accept';
  const decide = (at: MailStep['at'], address: string, callback: (error?: Error | null) => void) => {
    const step = { at, address, nth: steps.filter((earlier) => earlier.at === at).length };
    const reaction = behaviour(step);
    steps.push({ ...step, reaction });
    if (reaction === 'accept') callback();
    else if (reaction !== 'hang')
      callback(
        Object.assign(new Error(reaction.text ?? 'Not now, not here'), { responseCode: reaction.reply }),
      );
  };
  const server = new SMTPServer({
    name: 'mail.example.com',
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect: (_session, callback) => {
      decide('connection', '', callback);
    },
    onMailFrom: ({ address }, _session, callback) => {
      decide('sender', address, callback);
    },
    onRcptTo: ({ address }, _session, callback) => {
      decide('recipient', address, callback);
    },
    onData: (stream, session, callback) => {
      const at = Date.now();
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const raw = Buffer.concat(parts).toString();
        PostalMime.parse(raw).then(
          (message) => {
            decide('message', from, (error) => {
              if (!error) received.push({ from, to: rcptTo.map(({ address }) => address), raw, message, at });
              callback(error);
            });
          },
          (error: unknown) => {
            callback(Object.assign(new Error('not a message', { cause: error }), { responseCode: 554 }));
          },
        );
      });
    },
  });
  // Senders may close a connection at any time.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    url: `smtp://127.0.0.1:${String((listening.address() as AddressInfo).port)}`,
    behave: (next) => {
      behaviour = next;
    },
    steps,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}
