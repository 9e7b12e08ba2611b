// The assumptions of `leased-connection.ts` about the driver's internals, which are undocumented: check them before changing the
// version. README.md lists them.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect, createServer, type AddressInfo } from 'node:net';
import { beforeEach, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { Connection, type WireCommand, type WriteOptions } from 'mongodb/lib/cmap/connection.js';
import { LeasedConnection, leasedOptions } from './leased-connection.js';

const require = createRequire(import.meta.url);
type Make<Made> = new (...given: unknown[]) => Made;
const { OpMsgRequest } = require('mongodb/lib/cmap/commands.js') as { OpMsgRequest: Make<WireCommand> };
const { UpdateOperation } = require('mongodb/lib/operations/update.js') as {
  UpdateOperation: Make<{ buildOptions(): object }>;
};
const { ns } = require('mongodb/lib/utils.js') as { ns: (name: string) => object };

const calls: string[] = [];
beforeEach(() => {
  calls.length = 0;
});

/** Sends it with what it asks written to `calls`. */
function send(connection: typeof Connection, command: WireCommand, options: WriteOptions): Promise<void> {
  const make = command.toBin.bind(command);
  command.toBin = () => {
    calls.push('made');
    queueMicrotask(() => calls.push('a turn later'));
    return make();
  };
  const write = () => calls.push('written');
  const self = Object.create(connection.prototype, {
    socket: { value: { write } },
    error: { value: null },
  }) as {
    writeCommand: (command: WireCommand, options: WriteOptions) => Promise<void>;
  };
  return self.writeCommand(command, { agreedCompressor: 'none', ...options });
}

test('the installed version is the one that was checked', () => {
  expect((require('mongodb/package.json') as { version: string }).version).toBe('7.8.0');
});

test('a client accepts the class of its connections as an option', () => {
  const client = new MongoClient('mongodb://127.0.0.1:1', {
    connectionType: LeasedConnection,
  } as object);
  expect(client.options).toMatchObject({ connectionType: LeasedConnection });
});

test('an operation passes its options to each message, including symbol keys', () => {
  const key = Symbol('ours');
  const operation = new UpdateOperation({}, [], { [key]: 'kept' });
  for (let sent = 1; sent <= 2; sent += 1) {
    const message = new OpMsgRequest('db', { update: 'items' }, { ...operation.buildOptions() });
    expect(message.options?.[key]).toBe('kept');
  }
});

test('a connection checks the time limit after encoding, synchronously before it writes', async () => {
  const csotEnabled = () => {
    calls.push('asked');
    queueMicrotask(() => calls.push('a turn after that'));
    return false;
  };
  await send(Connection, new OpMsgRequest('db', { ping: 1 }, {}), { timeoutContext: { csotEnabled } });
  await Promise.resolve();
  expect(calls).toEqual(['made', 'a turn later', 'asked', 'written', 'a turn after that']);
});

test('a message whose lease has ended is not written', async () => {
  const check = () => {
    if (calls.includes('a turn later')) throw new Error('the lease has ended');
  };
  const message = new OpMsgRequest('db', { ping: 1 }, leasedOptions(undefined, { check }));
  await expect(send(LeasedConnection, message, {})).rejects.toThrow('the lease has ended');
  expect(calls).toEqual(['made', 'a turn later']);
});

/** What a command comes to whose socket is destroyed in the moment before, and has not said so yet. */
async function sendOnDestroyedSocket(ConnectionType: typeof Connection): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const connection = new ConnectionType(socket, { id: 1, hostAddress: 'localhost', generation: 0 });
  const closed = once(socket, 'close');
  socket.destroy();
  const sent = connection.command(ns('admin.$cmd'), { hello: 1 }, { socketTimeoutMS: 100 }).then(
    () => 'answered',
    (error: unknown) => String(error),
  );
  await closed;
  const timeLimit = new Promise<string>((resolve) => setTimeout(resolve, 300, 'still waiting'));
  const outcome = await Promise.race([sent, timeLimit]);
  server.close();
  return outcome;
}

test("the driver's connection waits for ever when its socket is destroyed before a command is sent", async () => {
  expect(await sendOnDestroyedSocket(Connection)).toBe('still waiting');
});

test('a leased connection refuses a command whose socket is destroyed', async () => {
  expect(await sendOnDestroyedSocket(LeasedConnection)).toMatch(
    /^MongoNetworkError: connection 1 .* closed$/,
  );
});
