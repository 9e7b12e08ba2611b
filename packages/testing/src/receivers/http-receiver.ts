// An HTTP server that keeps every request and reacts as a test says: with any answer, late, never, or with what is no
// HTTP at all.
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * An answer, or else: `hang` takes the request and never answers, `drip` answers 200 and then sends its body a byte at
 * a time without end, `garbage` answers what is no HTTP, `disconnect` closes the connection without an answer.
 */
export type Reaction =
  | { status: number; headers?: Readonly<Record<string, string>>; body?: string }
  | 'hang'
  | 'drip'
  | 'garbage'
  | 'disconnect';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Epoch milliseconds, with fractions, when its first bytes were there. */
  at: number;
}

/** Decides by the request; `nth` counts from 0 how often this message has come, by whatever names it. */
export type Behaviour<Request extends { nth: number }> = (request: Request) => Reaction;

export const always =
  (reaction: Reaction): Behaviour<{ nth: number }> =>
  () =>
    reaction;

/** The first time a message comes the first reaction, and so on; after the last one 200. */
export const inTurn =
  (...reactions: readonly Reaction[]): Behaviour<{ nth: number }> =>
  ({ nth }) =>
    reactions[nth] ?? { status: 200 };

/**
 * Fails this share of the calls, the same ones for the same seed in whatever order they come.
 * @param share from 0 to 1
 * @param reactions what failing is; one of them by chance
 */
export function failing(
  share: number,
  seed: number,
  reactions: readonly Reaction[] = [{ status: 500 }],
): Behaviour<{ id: string; nth: number }> {
  return ({ id, nth }) => {
    const digest = Buffer.from(hash('sha1', `${seed}:${id}:${nth}`, 'hex'), 'hex');
    if (digest.readUInt32BE(0) / 2 ** 32 >= share) return { status: 200 };
    return reactions[digest.readUInt32BE(4) % reactions.length] ?? { status: 500 };
  };
}

export interface HttpReceiver {
  /** `http://127.0.0.1:<port>/` */
  url: string;
  /** As ALLOW_PRIVATE_TARGETS names it. */
  target: string;
  /** Requests that are taken and not answered to their end. */
  unanswered(): number;
  /** Answers 200 to all that hang or drip now. */
  release(): void;
  stop(): Promise<void>;
}

/** @param react called once a request is there as a whole */
export async function startHttpReceiver(
  react: (request: ReceivedRequest) => Reaction,
): Promise<HttpReceiver> {
  const sockets = new Set<Socket>();
  const held = new Set<ServerResponse>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    const at = performance.timeOrigin + performance.now();
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      const reaction = react({
        method: req.method ?? '',
        path: req.url ?? '/',
        headers: req.headers,
        body: Buffer.concat(parts).toString(),
        at,
      });
      if (typeof reaction === 'object') {
        res.writeHead(reaction.status, { 'content-type': 'text/plain', ...reaction.headers });
        res.end(reaction.body ?? '');
        return;
      }
      switch (reaction) {
        case 'hang':
          hold(res);
          break;
        case 'drip': {
          hold(res);
          res.writeHead(200, { 'content-type': 'text/plain' });
          const dripping = setInterval(() => res.write('.'), 100);
          res.on('close', () => {
            clearInterval(dripping);
          });
          break;
        }
        case 'garbage':
          req.socket.end('HTTP/9.9 maybe\r\n\u0000\u0001\u0002 this: is\r\nnot HTTP\r\n\r\n');
          break;
        case 'disconnect':
          req.socket.destroy();
          break;
      }
    });
  });
  const hold = (res: ServerResponse) => {
    held.add(res);
    res.on('close', () => held.delete(res));
  };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // Senders that break off are what receivers have to live with.
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url: `http://${target}/`,
    target,
    unanswered: () => held.size,
    release: () => {
      for (const res of held) res.end();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
