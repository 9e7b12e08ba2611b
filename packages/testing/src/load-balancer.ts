// A load balancer in front of the processes of a service, as platforms have it: it asks each process for its readiness at an interval and
// gives each new connection to the next process that was ready. It knows nothing of HTTP beyond that, and tries no second process.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { obstacleAt } from '@lead-scoring/start';
import { joinSockets } from './joined-sockets.js';

export interface LoadBalancer {
  url: string;
  /** Starts to ask the processes at these addresses, in place of those before. */
  follow(urls: readonly string[]): void;
  stop(): Promise<void>;
}

/** Starts a balancer without processes, so that they can be given its address. */
export async function startLoadBalancer(askEveryMs: number): Promise<LoadBalancer> {
  let all: readonly string[] = [];
  let ready: string[] = [];
  let next = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const target = ready[next++ % Math.max(ready.length, 1)];
    if (target === undefined) {
      near.destroy();
      return;
    }
    const { hostname, port } = new URL(target);
    joinSockets(near, connect(Number(port), hostname), sockets);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stopping = new AbortController();
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      const obstacles = await Promise.all(all.map(obstacleAt));
      ready = all.filter((_, index) => obstacles[index] === null);
      await delay(askEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    follow: (urls) => {
      all = urls;
    },
    stop: async () => {
      stopping.abort();
      await asking;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
