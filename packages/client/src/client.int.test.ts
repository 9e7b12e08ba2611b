// The client against a real HTTP server in this process that fails in various ways.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createClient, IngestFailed, RequestFailed, ServiceUnreachable, type EventToSend } from './index.js';

interface ReceivedRequest {
  url: string;
  key: string | undefined;
  body: Buffer;
  encoding: string | undefined;
  authorization: string | undefined;
}

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const retries = { attempts: 4, firstDelayMs: 1, maximumDelayMs: 5 };
const problem = {
  type: 'about:blank',
  title: 'No',
  status: 404,
  detail: 'There is no such lead.',
  code: 'lead_not_found',
  request_id: 'r1',
};

async function serve(
  answer: (
    nth: number,
    seen: ReceivedRequest,
  ) => { status: number; body: unknown; headers?: Record<string, string> },
) {
  const requests: ReceivedRequest[] = [];
  server = createServer((req, res) => {
    void read(req).then((body) => {
      const seen = {
        url: req.url ?? '',
        key: req.headers['idempotency-key'] as string | undefined,
        body,
        encoding: req.headers['content-encoding'],
        authorization: req.headers.authorization,
      };
      requests.push(seen);
      const { status, body: answered, headers } = answer(requests.length, seen);
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answered));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return { requests, baseUrl: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

async function read(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const batchId = '7f4d3a52-7a0e-4c0b-9d8f-0b6f8a527a0e';
const accepted = (count: number) => ({
  accepted: count,
  batch_id: batchId,
  position: '0-5',
});

test('a batch that meets 503 and 429 is sent again under the same Idempotency-Key until it is taken', async () => {
  const { requests, baseUrl } = await serve((nth) =>
    nth < 3
      ? { status: nth === 1 ? 503 : 429, body: problem, headers: { 'retry-after': '0' } }
      : { status: 202, body: accepted(1) },
  );
  const client = createClient({ baseUrl, token: 'lsp_x', retries });
  const result = await client.ingest([
    { alias_kind: 'email', alias: 'a@example.com', event_type: 'Page View' },
  ]);
  expect(result).toEqual({ accepted: 1, rejected: [], batches: [batchId], replayed: 0, position: '0-5' });
  expect(requests).toHaveLength(3);
  expect(new Set(requests.map(({ key }) => key)).size).toBe(1);
  expect(requests[0]?.authorization).toBe('Bearer lsp_x');
});

test('large batches are gzipped, split by size, and rejected events keep the index they had in what was given', async () => {
  const { requests, baseUrl } = await serve((_, seen) => {
    const events = JSON.parse(gunzipSync(seen.body).toString()) as unknown[];
    return { status: 202, body: { ...accepted(events.length - 1), rejected: [{ index: 0, errors: [] }] } };
  });
  const client = createClient({ baseUrl, token: 'lsp_x', retries });
  const events = Array.from({ length: 250 }, (_, index) => ({
    alias_kind: 'email',
    alias: `someone-${String(index)}@example.com`,
    event_type: 'Page View',
    metadata: { path: `/page/${'x'.repeat(100)}` },
  }));
  const result = await client.ingest(events, { batchSize: 100, partial: true });
  expect(requests.map(({ encoding }) => encoding)).toEqual(['gzip', 'gzip', 'gzip']);
  expect(result.accepted).toBe(247);
  expect(result.rejected.map(({ index }) => index).sort((a, b) => a - b)).toEqual([0, 100, 200]);
});

test('a refusal is not repeated and carries the problem that the service described', async () => {
  const { requests, baseUrl } = await serve(() => ({ status: 404, body: problem }));
  const call = createClient({ baseUrl, clientId: 'id', clientSecret: 'secret', retries }).call('getScore', {
    parameters: { leadID: '7f4d3a52-7a0e-4c0b-9d8f-0b6f8a527a0e' },
  });
  await expect(call).rejects.toThrow(RequestFailed);
  await expect(call).rejects.toMatchObject({ status: 404, problem: { code: 'lead_not_found' } });
  expect(requests).toHaveLength(1);
  expect(requests[0]?.url).toBe('/score/7f4d3a52-7a0e-4c0b-9d8f-0b6f8a527a0e');
  expect(requests[0]?.authorization).toBe(`Basic ${Buffer.from('id:secret').toString('base64')}`);
});

test('an address where nothing listens is named in the error', async () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', token: 'lsp_x', retries });
  await expect(client.call('listLeads', { query: { limit: 1 } })).rejects.toThrow(ServiceUnreachable);
});

const visits = (count: number): EventToSend[] =>
  Array.from({ length: count }, (_, index) => ({
    alias_kind: 'email',
    alias: `someone-${String(index)}@example.com`,
    event_type: 'Page View',
  }));

test('the position of several batches reaches as far as each of theirs', async () => {
  const positions = ['0-5_1-2', '0-3_2-9', '1-4'];
  const { baseUrl } = await serve((nth) => ({
    status: 202,
    body: { ...accepted(1), position: positions[nth - 1] ?? '' },
  }));
  const client = createClient({ baseUrl, token: 'lsp_x', retries });
  const result = await client.ingest(visits(3), { batchSize: 1 });
  expect(result.position).toBe('0-5_1-4_2-9');
});

test('a batch that is refused ends the run, names its first event, and leaves the others unsent', async () => {
  const { requests, baseUrl } = await serve((nth) =>
    nth === 2
      ? { status: 400, body: { ...problem, code: 'invalid_request' } }
      : { status: 202, body: accepted(10) },
  );
  const client = createClient({ baseUrl, token: 'lsp_x', retries });
  const sending = client.ingest(visits(50), { batchSize: 10, concurrency: 1 });
  await expect(sending).rejects.toThrow(IngestFailed);
  await expect(sending).rejects.toMatchObject({ firstIndex: 10, accepted: 10 });
  expect(requests).toHaveLength(2);
});

test('what the given events throw is thrown, and the requests under way are ended', async () => {
  const { baseUrl } = await serve(() => ({ status: 202, body: accepted(1) }));
  function* broken(): Generator<EventToSend> {
    yield* visits(1);
    throw new Error('the file ended in the middle of a line');
  }
  const client = createClient({ baseUrl, token: 'lsp_x', retries });
  await expect(client.ingest(broken(), { batchSize: 1 })).rejects.toThrow('the file ended');
});

test('a run with its own keys sends each batch under the same key when it is repeated', async () => {
  const { requests, baseUrl } = await serve(() => ({ status: 202, body: accepted(2) }));
  const client = createClient({ baseUrl, token: 'lsp_x', retries });
  const options = { batchSize: 2, idempotencyKey: (batch: number) => `import-1-${String(batch)}` };
  await client.ingest(visits(4), options);
  await client.ingest(visits(4), options);
  const keys = requests.map(({ key }) => key).sort();
  expect(keys).toEqual(['import-1-0', 'import-1-0', 'import-1-1', 'import-1-1']);
});

test('the reason of a refusal says what is wrong where', async () => {
  const { baseUrl } = await serve(() => ({
    status: 400,
    body: { ...problem, errors: [{ path: 'query.limit', message: 'must be at most 100' }] },
  }));
  const call = createClient({ baseUrl, token: 'lsp_x', retries }).call('listLeads', {
    query: { limit: 101 },
  });
  await expect(call).rejects.toThrow('query.limit must be at most 100');
});

const replayed = { status: 202, body: accepted(1), headers: { 'idempotent-replayed': 'true' } };

test('a batch that an earlier run has sent under the same key is told apart', async () => {
  const { baseUrl } = await serve(() => replayed);
  const result = await createClient({ baseUrl, token: 'lsp_x', retries }).ingest(visits(1));
  expect(result).toMatchObject({ accepted: 1, replayed: 1, batches: [] });
});

test('a batch of this run that was only tried again is not', async () => {
  const { baseUrl } = await serve((nth) =>
    nth === 1 ? { status: 503, body: problem, headers: { 'retry-after': '0' } } : replayed,
  );
  const result = await createClient({ baseUrl, token: 'lsp_x', retries }).ingest(visits(1));
  expect(result).toMatchObject({ accepted: 1, replayed: 0, batches: [batchId] });
});

test('an answer that is not of this API is an error, not a result', async () => {
  const { baseUrl } = await serve(() => ({ status: 404, body: '<html>' }));
  const call = createClient({ baseUrl, token: 'lsp_x', retries }).call('listLeads', {});
  await expect(call).rejects.toMatchObject({ status: 404, problem: null });
});

test('a call that is called off stops waiting for its next try', async () => {
  const { requests, baseUrl } = await serve(() => ({
    status: 503,
    body: problem,
    headers: { 'retry-after': '60' },
  }));
  const controller = new AbortController();
  const sending = createClient({ baseUrl, token: 'lsp_x', retries }).ingest(visits(1), {
    signal: controller.signal,
    onRetry: () => {
      controller.abort(new Error('called off'));
    },
  });
  await expect(sending).rejects.toThrow('called off');
  expect(requests).toHaveLength(1);
});

describe('an import', () => {
  const taken = (more: object = {}) => ({
    status: 202,
    body: { ...accepted(2), job_id: `ingest-${batchId}`, rejected: [], failed: 0, ...more },
  });

  test('is one gzipped upload under its key, and its result names the job and the first invalid events', async () => {
    const rejected = [{ index: 1, errors: [{ path: 'alias', message: 'is wrong' }] }];
    const { requests, baseUrl } = await serve(() => taken({ rejected, failed: 7 }));
    const progress: number[] = [];
    const result = await createClient({ baseUrl, token: 'lsp_x' }).import(visits(3_000), {
      idempotencyKey: 'march',
      onProgress: ({ sent }) => progress.push(sent),
    });
    expect(result).toEqual({
      accepted: 2,
      rejected,
      failed: 7,
      job: `ingest-${batchId}`,
      batches: [batchId],
      replayed: 0,
      position: '0-5',
    });
    expect(requests).toMatchObject([
      { url: '/import?partial=true', key: 'march', encoding: 'gzip', authorization: 'Bearer lsp_x' },
    ]);
    const lines = gunzipSync(requests[0]?.body ?? Buffer.of()).toString();
    expect(lines).toBe(
      visits(3_000)
        .map((event) => `${JSON.stringify(event)}\n`)
        .join(''),
    );
    expect(progress.length).toBeGreaterThan(2);
    expect(progress.at(-1)).toBe(3_000);
  });

  test('that was taken before under its key is told apart', async () => {
    const { baseUrl } = await serve(() => ({ ...taken(), headers: { 'idempotent-replayed': 'true' } }));
    const result = await createClient({ baseUrl, token: 'lsp_x' }).import(visits(2));
    expect(result).toMatchObject({ accepted: 2, replayed: 2, batches: [] });
  });

  test('of nothing sends nothing', async () => {
    const { requests, baseUrl } = await serve(() => taken());
    expect(await createClient({ baseUrl, token: 'lsp_x' }).import([])).toMatchObject({ accepted: 0 });
    expect(requests).toEqual([]);
  });

  function* endless(): Generator<EventToSend> {
    for (;;) yield* visits(100);
  }
  /** A server that does with each request what the test says, and reads no body. */
  async function unread(does: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
    server = createServer(does);
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  test('ends with the refusal that comes while it is sent', async () => {
    const baseUrl = await unread((_, res) =>
      res
        .writeHead(409, { 'content-type': 'application/json', connection: 'close' })
        .end(JSON.stringify({ ...problem, code: 'job_ended' })),
    );
    const importing = createClient({ baseUrl, token: 'lsp_x' }).import(endless());
    await expect(importing).rejects.toMatchObject({ status: 409, problem: { code: 'job_ended' } });
  });

  test('whose connection breaks is an error with the address', async () => {
    const baseUrl = await unread((req) => req.socket.destroy());
    const importing = createClient({ baseUrl, token: 'lsp_x' }).import(endless());
    await expect(importing).rejects.toThrow(ServiceUnreachable);
    await expect(importing).rejects.toThrow(baseUrl);
  });

  test('ends when it is called off, and with what the given events throw', async () => {
    const baseUrl = await unread(() => undefined);
    const client = createClient({ baseUrl, token: 'lsp_x' });
    const stop = new AbortController();
    const importing = client.import(endless(), {
      signal: stop.signal,
      onProgress: () => {
        stop.abort(new Error('called off'));
      },
    });
    await expect(importing).rejects.toThrow('called off');
    function* broken(): Generator<EventToSend> {
      yield* visits(5_000);
      throw new Error('the file ended in the middle of a line');
    }
    await expect(client.import(broken())).rejects.toThrow('the file ended');
  });
});
