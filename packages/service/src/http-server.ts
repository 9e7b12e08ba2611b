// An HTTP server as a component: limited waiting, problem answers even where no request could be parsed, graceful stop.
import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { hasBody } from './body.js';
import type { Component } from './component.js';
import { ProblemError, problemBody, sendProblem } from './problems.js';

export interface HttpServerOptions {
  /** Name for the log. */
  name: string;
  handler: RequestListener;
  host: string;
  /** 0: any free port. */
  port: number;
  /** Maximum time for a whole request with its body to arrive; default 60 s. */
  requestTimeoutMs?: number;
  /** Whether the body of a request may take any time; its handler has a limit of its own. Default: of none. */
  isLongUpload?: (req: IncomingMessage) => boolean;
  /** Called when the process begins to end; the server answers until it is stopped. */
  onEnding?: () => void;
}

export interface ListeningServer {
  host: string;
  port: number;
}

/**
 * Listens when started. Once the process begins to end, each answer tells its client to close the connection. When stopped, the server
 * accepts no further connection, closes idle ones and lets requests in progress finish.
 */
export function createHttpServer(options: HttpServerOptions): Component<ListeningServer> {
  const { requestTimeoutMs = 60_000, isLongUpload, onEnding } = options;
  return {
    name: options.name,
    start: async (ending) => {
      const inProgress = new Set<ServerResponse>();
      let isEnding = false;
      const lastAnswers = () => {
        isEnding = true;
        for (const res of inProgress) if (!res.headersSent) res.setHeader('Connection', 'close');
      };
      ending?.addEventListener('abort', () => {
        lastAnswers();
        onEnding?.();
      });
      const take: RequestListener = (req, res) => {
        inProgress.add(res);
        res.on('close', () => inProgress.delete(res));
        if (isEnding) res.setHeader('Connection', 'close');
        if (isLongUpload && hasBody(req) && !isLongUpload(req)) limitBody(req, requestTimeoutMs);
        if (req.headers.host === undefined && req.httpVersion === '1.1') refuseWithoutHost(req, res);
        else options.handler(req, res);
      };
      const server = createServer(
        {
          // With true, Node would answer with an empty 400.
          requireHostHeader: false,
          // Node's own limit has no exceptions.
          requestTimeout: isLongUpload ? 0 : requestTimeoutMs,
          headersTimeout: 15_000,
          keepAliveTimeout: 65_000,
          connectionsCheckingInterval: 5_000,
        },
        take,
      );
      server.on('clientError', answerClientError);
      // Unknown expectations may be ignored; Node would answer with an empty 417.
      server.on('checkExpectation', take);
      server.on('connect', (_req: IncomingMessage, socket: Duplex) => {
        endWith(
          socket,
          new ProblemError(405, 'method_not_allowed', 'CONNECT is not allowed: this is no proxy.', {
            headers: { Allow: 'DELETE, GET, HEAD, PATCH, POST, PUT' },
          }),
        );
      });
      await listening(server, options);
      const { port } = server.address() as AddressInfo;
      return {
        value: { host: options.host, port },
        stop: () =>
          new Promise((resolve) => {
            lastAnswers();
            server.close(() => {
              resolve();
            });
            server.closeIdleConnections();
          }),
      };
    },
  };
}

/** Resolves once the server listens. */
function listening(server: Server, { host, port }: ListeningServer): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1_024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Ends the connection when the body has not arrived in time. */
function limitBody(req: IncomingMessage, timeoutMs: number): void {
  const timer = setTimeout(() => {
    if (!req.complete) answerClientError(lateRequest, req.socket);
  }, timeoutMs);
  req.once('close', () => {
    clearTimeout(timer);
  });
}

const lateRequest: NodeJS.ErrnoException = Object.assign(new Error('the body has not arrived in time'), {
  code: 'ERR_HTTP_REQUEST_TIMEOUT',
});

/** Answers a problem when Node's parser refuses the bytes or they arrive too slowly. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  endWith(socket, clientProblem(error.code));
}

/** Sends a problem as the last answer and closes the connection. */
function endWith(socket: Duplex, problem: ProblemError): void {
  // The request's own id was not read.
  const requestId = randomUUID();
  const body = JSON.stringify(problemBody(problem, requestId));
  socket.end(
    `HTTP/1.1 ${String(problem.status)} ${STATUS_CODES[problem.status] ?? ''}\r\n` +
      Object.entries(problem.headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('') +
      `X-Request-Id: ${requestId}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${String(Buffer.byteLength(body))}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}

function refuseWithoutHost(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('Connection', 'close');
  sendProblem(
    req,
    res,
    new ProblemError(400, 'malformed_request', 'An HTTP/1.1 request names its host. Send the header Host.'),
  );
}

function clientProblem(code: string | undefined): ProblemError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ProblemError(
        431,
        'headers_too_large',
        'The URL and the header fields are larger than 16 KiB together. Send fewer or shorter ones.',
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ProblemError(
        408,
        'request_timeout',
        'The request did not come in whole in time. Send it again.',
      );
    default:
      return new ProblemError(400, 'malformed_request', 'This is not a valid HTTP/1.1 request.');
  }
}
