// An HTTP server that records every request and reacts as a test sets it: with any answer, late, never, or with bytes that are
// not HTTP.
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * An answer, or a fault: `hang` reads the request and never answers, `drip` answers 200 and then sends its body a byte at
 * a time without end, `garbage` sends bytes that are not HTTP, `disconnect` closes the connection without an answer.
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
  /** The time of its arrival: epoch milliseconds, with fractions. */
  at: number;
}

/** Chooses the reaction to a request; `nth` is the number of earlier requests with the same message. */
export type Behaviour<Request extends { nth: number }> = (request: Request) => Reaction;

export const always =
  (reaction: Reaction): Behaviour<{ nth: number }> =>
  () =>
    reaction;

/** Reacts to the nth request of a message with the nth reaction, and to later requests with 200. */
export const inTurn =
  (...reactions: readonly Reaction[]): Behaviour<{ nth: number }> =>
  ({ nth }) =>
    reactions[nth] ?? { status: 200 };

/**
 * Fails this share of the calls; the same seed fails the same calls, in any order of arrival.
 * @param share from 0 to 1
 * @param reactions the possible failures, of which each failed call gets a pseudo-random one
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
  /** The receiver in the form of ALLOW_PRIVATE_TARGETS. */
  target: string;
  /** The number of requests whose answers have not ended. */
  unanswered(): number;
  /** Ends the answers of all requests that hang or drip now, with 200. */
  release(): void;
  stop(): Promise<void>;
}

/** @param react called with each whole request */
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
    // Senders may close a connection at any time.
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
