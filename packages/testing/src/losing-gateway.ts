// A door in front of a gateway that loses answers: the gateway takes each batch of events, and its sender is told 503 the first time. The
// gateway does not see Idempotency-Key, so that nothing but the ids of the events keeps them from counting twice.
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface SentBatch {
  /** The same for a batch that is sent again. */
  content: string;
  encoding: string | undefined;
  /** Milliseconds since the start of the process. */
  at: number;
}

export interface LosingGateway {
  url: string;
  batches: readonly SentBatch[];
  stop(): Promise<void>;
}

/**
 * @param url of the gateway
 * @param retryAfterSeconds what the lost answers are replaced by asks for
 */
export async function startLosingGateway(url: string, retryAfterSeconds: number): Promise<LosingGateway> {
  const batches: SentBatch[] = [];
  /** Takes a batch, and returns whether it was sent before. */
  const record = ({ headers }: IncomingMessage, body: Buffer): boolean => {
    const content = hash('sha1', body);
    const isRepeat = batches.some((batch) => batch.content === content);
    batches.push({ content, encoding: headers['content-encoding'], at: performance.now() });
    return isRepeat;
  };
  const answer = async (request: IncomingMessage): Promise<{ status: number; body: string }> => {
    const body = await buffer(request);
    const isAnswered = record(request, body);
    const { host: _, 'idempotency-key': __, connection: ___, ...headers } = request.headers;
    const taken = await fetch(new URL(request.url ?? '/', url), {
      method: request.method ?? 'POST',
      headers: headers as Record<string, string>,
      body: new Uint8Array(body),
    });
    return isAnswered ? { status: taken.status, body: await taken.text() } : { status: 503, body: '' };
  };
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(status === 503 && { 'retry-after': String(retryAfterSeconds) }),
      });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    batches,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
