// Proxies in the test's process that require TLS and credentials, in front of servers without TLS.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

interface TlsFiles {
  serverKey: string;
  server: string;
  authority: string;
}

export interface TlsProxy {
  port: number;
  stop(): Promise<void>;
}

function tlsOptions({ serverKey, server, authority }: TlsFiles) {
  return { key: readFileSync(serverKey), cert: readFileSync(server), ca: readFileSync(authority) };
}

/** An HTTPS server that forwards requests with one of these `Authorization` headers, and answers 401 to others. */
export async function startHttpsProxy(
  files: TlsFiles,
  target: string,
  authorizations: readonly string[],
): Promise<TlsProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer(tlsOptions(files), (req, res) => {
    if (!authorizations.includes(req.headers.authorization ?? '')) {
      res.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end('{}');
      return;
    }
    const headers = { ...req.headers };
    delete headers.authorization;
    const onwards = request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onwards.once('error', () => res.destroy());
    req.pipe(onwards);
  });
  return listening(server);
}

/** Accepts TLS connections and forwards their bytes; with `asksForCertificate`, only from clients with a signed certificate. */
export async function startTlsProxy(
  files: TlsFiles,
  target: { host: string; port: number },
  asksForCertificate = false,
): Promise<TlsProxy> {
  const options = {
    ...tlsOptions(files),
    requestCert: asksForCertificate,
    rejectUnauthorized: asksForCertificate,
  };
  const server = createTlsServer(options, (socket) => {
    const onwards = connect(target);
    socket.pipe(onwards).pipe(socket);
    socket.once('error', () => onwards.destroy());
    onwards.once('error', () => socket.destroy());
    socket.once('close', () => onwards.destroy());
  });
  return listening(server);
}

async function listening(server: Server): Promise<TlsProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
