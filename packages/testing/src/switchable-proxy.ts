// A TCP proxy that can be cut: the server behind it is then unreachable through the proxy.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { joinSockets } from './joined-sockets.js';

export interface SwitchableProxy {
  port: number;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  restore(): void;
  stop(): Promise<void>;
}

/** @param readerOf called for each connection; the returned function gets each chunk that the client sends */
export async function startProxy(
  host: string,
  port: number,
  readerOf?: () => (part: Buffer) => void,
): Promise<SwitchableProxy> {
  const sockets = new Set<Socket>();
  let open = true;
  const server = createServer((near) => {
    if (!open) {
      near.destroy();
      return;
    }
    joinSockets(near, connect(port, host), sockets);
    if (readerOf) near.on('data', readerOf());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    open = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    restore: () => {
      open = true;
    },
    stop: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
