// The load generator's upload to POST /import: one request of any size, sent as fast as it is taken.
import { request as httpRequest } from 'node:http';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createWorkload } from '../workload.js';
import { expectSuccess, type Answer, type Target } from './connection.js';
import type { Import, ImportResult } from './protocol.js';
import { markOf, openReader } from './readable.js';

/** @throws Error when the upload is not taken whole, or when its events are not readable in time */
export async function upload({ target, plan, times, readable }: Import): Promise<ImportResult> {
  const workload = createWorkload(plan);
  const lines = workload.lines();
  const reader = openReader(readable.by);
  const startedAt = performance.now();
  try {
    const answer = await sendInParts(target, repeated(lines, times));
    const { accepted, position } = JSON.parse(expectSuccess('POST /import', answer)) as {
      accepted: number;
      position: string;
    };
    const events = times * plan.events;
    if (accepted !== events) throw new Error(`${events} events were sent, ${accepted} accepted`);
    await reader.untilReadable(
      { mark: markOf({ position }), alias: workload.aliasOf(0), acceptedSinceStart: accepted },
      readable.timeoutMs,
    );
    return {
      events,
      bytes: times * lines.reduce((sum, part) => sum + part.length, 0),
      readableMs: performance.now() - startedAt,
    };
  } finally {
    reader.close();
  }
}

function* repeated(lines: readonly Buffer[], times: number): Generator<Buffer> {
  for (let time = 0; time < times; time += 1) yield* lines;
}

async function sendInParts(target: Target, parts: Iterable<Buffer>): Promise<Answer> {
  const { hostname, port } = new URL(target.baseUrl);
  const request = httpRequest({
    host: hostname,
    port,
    method: 'POST',
    path: '/import?partial=true',
    headers: { ...target.headers, 'content-type': 'application/x-ndjson' },
  });
  const answered = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const received: Buffer[] = [];
      response.on('data', (part: Buffer) => received.push(part));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(received).toString() }),
      );
    });
  });
  const [answer] = await Promise.all([answered, pipeline(Readable.from(parts), request)]);
  return answer;
}
