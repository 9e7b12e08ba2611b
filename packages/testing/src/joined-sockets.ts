// Two connections whose bytes are passed on to each other, as proxies have them.
import type { Socket } from 'node:net';

/**
 * Passes the bytes of two connections on to each other; the end of one ends the other.
 * @param open has both for as long as they are open
 */
export function joinSockets(near: Socket, far: Socket, open: Set<Socket>): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    open.add(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      open.delete(socket);
      other.destroy();
    });
    socket.pipe(other);
  }
}
