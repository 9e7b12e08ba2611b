// Broken connections and concurrent start-ups.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { defineCollection } from './collection-declaration.js';
import { ensureCollections } from './collections.js';
import { connectReadModel } from './connection.js';
import { insertMissing } from './guarded-writer.js';
import { mongodbUri, silent, throwawayReadModel } from './testing/throwaway.js';

interface Item {
  _id: string;
  ou: string;
  n: number;
}

const items = defineCollection<Item>({
  name: 'items',
  indexes: [{ key: { ou: 1, n: -1 } }, { key: { n: 1 }, unique: true }],
});

describe('start-up', () => {
  test('several instances that create the same collections and indexes concurrently all succeed', async () => {
    const { readModel, drop } = await throwawayReadModel();
    const others = defineCollection<Item>({ name: 'others', indexes: [{ key: { ou: 1 } }] });
    try {
      await Promise.all(Array.from({ length: 5 }, () => ensureCollections(readModel, [items, others])));
      await ensureCollections(readModel, [items, others]);
      const keys = (await readModel.collection(items).indexes()).map(({ key }) => JSON.stringify(key)).sort();
      expect(keys).toEqual(['{"_id":1}', '{"n":1}', '{"ou":1,"n":-1}']);
    } finally {
      await drop();
    }
  });

  test('a server that is not there is a retriable error within seconds', async () => {
    const uri = 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300';
    await expect(connectReadModel({ uri, database: 'test' }, { logger: silent })).rejects.toMatchObject({
      code: 'database_unavailable',
      retriable: true,
    });
  });
});

describe('a connection that breaks', () => {
  test('is a retriable error, and the same client works again when the server is back', async () => {
    const proxy = await startProxy();
    const { readModel, drop } = await throwawayReadModel({ uri: proxy.uri, timeoutMs: 700 });
    try {
      await ensureCollections(readModel, [items]);
      const collection = readModel.collection(items);
      await insertMissing(collection, [{ _id: 'a', ou: 'ou', n: 1 }]);

      proxy.cut();
      await expect(insertMissing(collection, [{ _id: 'b', ou: 'ou', n: 2 }])).rejects.toMatchObject({
        retriable: true,
      });
      await expect(readModel.ping()).rejects.toMatchObject({ retriable: true });
      proxy.heal();
      await insertMissing(collection, [{ _id: 'b', ou: 'ou', n: 2 }]);

      proxy.blackHole();
      await expect(insertMissing(collection, [{ _id: 'c', ou: 'ou', n: 3 }])).rejects.toMatchObject({
        retriable: true,
      });
      proxy.cut();
      proxy.heal();
      await insertMissing(collection, [{ _id: 'c', ou: 'ou', n: 3 }]);
      expect(await collection.countDocuments()).toBe(3);
    } finally {
      proxy.heal();
      await drop();
      await proxy.close();
    }
  }, 40_000);
});

/** A TCP proxy before the server that refuses connections, or drops all bytes, on demand. */
async function startProxy() {
  const target = new URL(mongodbUri().replace(/^mongodb:/, 'http:'));
  let mode: 'pass' | 'refuse' | 'swallow' = 'pass';
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  const server: Server = createServer((incoming) => {
    keep(incoming);
    if (mode === 'refuse') {
      incoming.destroy();
      return;
    }
    const outgoing = connect(Number(target.port), target.hostname);
    keep(outgoing);
    incoming.on('data', (chunk) => mode === 'pass' && outgoing.write(chunk));
    outgoing.on('data', (chunk) => mode === 'pass' && incoming.write(chunk));
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    uri: `mongodb://127.0.0.1:${String((server.address() as AddressInfo).port)}/?serverSelectionTimeoutMS=1000&directConnection=true`,
    cut: () => {
      mode = 'refuse';
      for (const socket of sockets) socket.destroy();
    },
    blackHole: () => {
      mode = 'swallow';
    },
    heal: () => {
      mode = 'pass';
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}
