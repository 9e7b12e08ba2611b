// Sends a request byte for byte as given: without a normalised path and without a client's own headers.
import { request as httpRequest } from 'node:http';
import type { Answer } from './test-system.js';

export interface RawRequest {
  method: string;
  /** Sent unchanged, even if it is not a valid path. */
  path: string;
  headers?: Record<string, string | string[]>;
  body?: Uint8Array | string;
  timeoutMs?: number;
}

/** The answer; a body that is JSON is parsed. Also resolves when the server answers before it has read all of the body. */
export function rawRequest(
  url: string,
  { method, path, headers = {}, body, timeoutMs = 30_000 }: RawRequest,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      hostname,
      port,
      method,
      path,
      headers: { ...headers, ...(bytes && { 'content-length': String(bytes.length) }) },
      agent: false,
      timeout: timeoutMs,
    });
    let answered = false;
    request.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      const finish = () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        const answerHeaders = new Headers(
          Object.entries(response.headers).flatMap(([name, value]) =>
            (Array.isArray(value) ? value : [value ?? '']).map((one): [string, string] => [name, one]),
          ),
        );
        resolve({
          status: response.statusCode ?? 0,
          headers: answerHeaders,
          body: isJson && text !== '' ? (JSON.parse(text) as unknown) : text,
        });
        request.destroy();
      };
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', finish);
      response.on('error', finish);
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.on('error', (error) => {
      if (!answered) reject(error);
    });
    request.end(bytes);
  });
}
