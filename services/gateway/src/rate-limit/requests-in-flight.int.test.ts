// Clients that go while their credential is still being checked: they must not keep a place among the requests in flight.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createHttpServer } from '@lead-scoring/service';
import express, { type RequestHandler } from 'express';
import type { GatewayRequest } from '../edge/request.js';
import { limitRequestsInFlight } from './requests-in-flight.js';

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function serve(authenticate: RequestHandler): Promise<number> {
  const app = express();
  app.use(authenticate, limitRequestsInFlight({ perCredential: 2, perOrganisation: 2 }));
  app.get('/', (_req, res) => {
    res.end('served');
  });
  const server = createHttpServer({ name: 'test', handler: app, host: '127.0.0.1', port: 0 });
  const { value, stop } = await server.start();
  ended.push(stop);
  return value.port;
}

const caller = { credentialId: 'credential', organisationId: 'organisation' } as NonNullable<
  GatewayRequest['caller']
>;

test('a client that goes during authentication leaves its place to others', async () => {
  const port = await serve((req: GatewayRequest, res, next) => {
    req.caller = caller;
    if (req.headers['x-goes'] === undefined) next();
    else
      res.once('close', () => {
        setImmediate(() => {
          next();
        });
      });
  });
  for (let client = 0; client < 3; client += 1) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: test\r\nX-Goes: soon\r\n\r\n');
    setTimeout(() => socket.destroy(), 50);
    await once(socket, 'close');
  }
  const answers: number[] = [];
  for (let request = 0; request < 3; request += 1)
    answers.push((await fetch(`http://127.0.0.1:${String(port)}/`)).status);
  expect(answers).toEqual([200, 200, 200]);
});
