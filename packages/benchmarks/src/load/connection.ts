// HTTP requests over a fixed number of kept-alive connections, with little processor time beyond that of Node's own client: bodies
// are bytes made before the measurement, answers are read completely, and any status but 2xx ends the measurement.
import { Agent, request as httpRequest } from 'node:http';

export interface Answer {
  status: number;
  text: string;
}

export interface Connections {
  /** @param path path and query, appended to the base URL */
  send(method: 'GET' | 'POST', path: string, body?: Buffer): Promise<Answer>;
  close(): void;
}

export interface Target {
  /** `http://host:port` */
  baseUrl: string;
  headers: Record<string, string>;
}

/** @param count the most connections; further requests wait for a free one */
export function openConnections(target: Target, count: number): Connections {
  const agent = new Agent({ keepAlive: true, maxSockets: count, scheduling: 'fifo' });
  const { hostname, port } = new URL(target.baseUrl);
  return {
    send: (method, path, body) =>
      new Promise((resolve, reject) => {
        const request = httpRequest(
          {
            agent,
            host: hostname,
            port,
            method,
            path,
            headers: {
              ...target.headers,
              ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
            },
          },
          (response) => {
            const parts: Buffer[] = [];
            response.on('data', (part: Buffer) => parts.push(part));
            response.on('error', reject);
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
            );
          },
        );
        request.on('error', reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** @throws Error for every answer that is not 2xx: measuring refusals would be meaningless */
export function expectSuccess(request: string, answer: Answer): string {
  if (answer.status < 200 || answer.status > 299)
    throw new Error(`${request} answered ${answer.status}: ${answer.text.slice(0, 500)}`);
  return answer.text;
}

/**
 * Sends a batch to Segment's tracking API, which takes all of it or answers with an error.
 * @param messages how many it has
 */
export async function postBatch(
  connections: Connections,
  body: Buffer,
  messages: number,
): Promise<{ accepted: number }> {
  expectSuccess('POST /v1/batch', await connections.send('POST', '/v1/batch', body));
  return { accepted: messages };
}

/** Sends a body to POST /ingest. */
export async function postEvents(
  connections: Connections,
  body: Buffer,
): Promise<{ accepted: number; position: string }> {
  const answer = await connections.send('POST', '/ingest', body);
  return JSON.parse(expectSuccess('POST /ingest', answer)) as { accepted: number; position: string };
}
