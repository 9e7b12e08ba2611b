// Servers for tests that count their connections and can misbehave.
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface TestServer {
  port: number;
  /** Number of connections accepted so far. */
  connections: () => number;
  /** Resolves when no connection is open. */
  idle: () => Promise<void>;
  stop: () => Promise<void>;
}

async function listening(server: Server, host: string, port: number): Promise<TestServer> {
  let connections = 0;
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    // Tests break connections on purpose, so socket errors are ignored.
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    idle: async () => {
      await Promise.all([...open].map((socket) => new Promise((closed) => socket.once('close', closed))));
    },
    stop: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export function serveHttp(listener: RequestListener, host = '127.0.0.1', port = 0): Promise<TestServer> {
  return listening(createHttpServer({ keepAliveTimeout: 60_000 }, listener), host, port);
}

export function serveHttps(
  certificate: { private: string; cert: string },
  listener: RequestListener,
): Promise<TestServer> {
  const server = createHttpsServer({ key: certificate.private, cert: certificate.cert }, listener);
  return listening(
    server.on('tlsClientError', () => undefined),
    '127.0.0.1',
    0,
  );
}

export function serveTcp(listener: (socket: Socket) => void): Promise<TestServer> {
  return listening(createTcpServer(listener), '127.0.0.1', 0);
}
