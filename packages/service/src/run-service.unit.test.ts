// The start and stop of a process, with a fake process that records the calls.
import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { runService, type ServiceScope } from './run-service.js';

class FakeProcess extends EventEmitter {
  readonly pid = 42;
  readonly exits: number[] = [];
  exit = (code: number) => {
    this.exits.push(code);
    this.emit('exited');
  };
}

function start(
  options: {
    open?: (scope: ServiceScope, log: string[]) => Promise<{ port: number }>;
    shutdownDelayMs?: number;
    shutdownTimeoutMs?: number;
  } = {},
) {
  const control = new FakeProcess();
  const lines: Record<string, unknown>[] = [];
  const log: string[] = [];
  const listening = new EventEmitter();
  const logger = pino(
    { level: 'debug' },
    {
      write: (line: string) => {
        const parsed = JSON.parse(line) as Record<string, unknown>;
        lines.push(parsed);
        listening.emit(String(parsed.msg));
      },
    },
  );
  runService(
    {
      name: 'test',
      logger,
      shutdownDelayMs: options.shutdownDelayMs ?? 0,
      shutdownTimeoutMs: options.shutdownTimeoutMs ?? 5_000,
      open: async (scope) => {
        await scope.start({
          name: 'read model',
          start: () =>
            Promise.resolve({
              value: null,
              stop: () => Promise.resolve(void log.push('read model stopped')),
            }),
        });
        return options.open ? options.open(scope, log) : { port: 8_080 };
      },
    },
    control,
  );
  return { control, lines, log, listening };
}

describe('a service process', () => {
  test('announces its port, and on SIGTERM stops its parts and exits 0', async () => {
    const { control, lines, log, listening } = start();
    await once(listening, 'listening');
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'listening', port: 8_080, pid: 42 }));
    control.emit('SIGTERM');
    await once(control, 'exited');
    expect([control.exits, log]).toEqual([[0], ['read model stopped']]);
  });

  test('on SIGTERM tells its parts of the end before it stops the first of them', async () => {
    const { control, log, listening } = start({
      shutdownDelayMs: 20,
      open: async (scope, log) => {
        await scope.start({
          name: 'server',
          start: (ending) => {
            ending?.addEventListener('abort', () => log.push('the end is near'));
            return Promise.resolve({
              value: null,
              stop: () => Promise.resolve(void log.push('server stopped')),
            });
          },
        });
        return { port: 1 };
      },
    });
    await once(listening, 'listening');
    control.emit('SIGTERM');
    expect(log).toEqual(['the end is near']);
    await once(control, 'exited');
    expect([control.exits, log]).toEqual([[0], ['the end is near', 'server stopped', 'read model stopped']]);
  });

  test('exits 1 when a part does not start, after stopping what ran', async () => {
    const { control, log } = start({ open: () => Promise.reject(new Error('port in use')) });
    await once(control, 'exited');
    expect([control.exits, log]).toEqual([[1], ['read model stopped']]);
  });

  test.each(['isSettingsFault', 'isAccessRefused'])(
    'exits 78 when a part does not start because of a setting (%s), so that a supervisor knows',
    async (mark) => {
      const error = Object.assign(new Error('PARTITIONS is 3: set PARTITIONS=6'), { [mark]: true });
      const { control, lines } = start({ open: () => Promise.reject(error) });
      await once(control, 'exited');
      expect(control.exits).toEqual([78]);
      expect(lines).toContainEqual(
        expect.objectContaining({ level: 60, err: expect.objectContaining({ message: error.message }) }),
      );
    },
  );

  test.each(['uncaughtException', 'unhandledRejection'])(
    'exits 1 on %s, after stopping what ran',
    async (event) => {
      const { control, log, listening } = start();
      await once(listening, 'listening');
      control.emit(event, new Error('broken'));
      await once(control, 'exited');
      expect([control.exits, log]).toEqual([[1], ['read model stopped']]);
    },
  );

  test('exits 1 when a part says that it cannot go on, once, however often it says so', async () => {
    const { control } = start({
      open: (scope) => {
        scope.fatal(new Error('consumer died'));
        scope.fatal(new Error('consumer died'));
        return Promise.resolve({ port: 1 });
      },
    });
    await once(control, 'exited');
    expect(control.exits).toEqual([1]);
  });

  test('exits hard when a part does not stop within the deadline', async () => {
    const { control, listening } = start({
      shutdownTimeoutMs: 20,
      open: async (scope) => {
        await scope.start({
          name: 'stuck',
          start: () => Promise.resolve({ value: null, stop: () => new Promise<void>(() => undefined) }),
        });
        return { port: 1 };
      },
    });
    await once(listening, 'listening');
    control.emit('SIGTERM');
    await Promise.all([
      once(control, 'exited'),
      // The deadline's timer does not keep a process alive, so the test needs one that does.
      new Promise((resolve) => {
        const alive = setInterval(() => undefined, 1_000);
        control.once('exited', () => {
          clearInterval(alive);
          resolve(undefined);
        });
      }),
    ]);
    expect(control.exits).toEqual([1]);
  });

  test('a signal while starting stops what has come up, and nothing is announced', async () => {
    let opened: () => void = () => undefined;
    const { control, lines, log } = start({
      open: () =>
        new Promise((resolve) => {
          opened = () => {
            resolve({ port: 1 });
          };
        }),
    });
    control.emit('SIGINT');
    // `open` runs after the first part has started.
    await new Promise((resolve) => setImmediate(resolve));
    opened();
    await once(control, 'exited');
    expect([control.exits, log]).toEqual([[0], ['read model stopped']]);
    expect(lines.map(({ msg }) => msg)).not.toContain('listening');
  });

  test('a second signal exits at once', async () => {
    const { control, listening } = start({
      open: async (scope) => {
        await scope.start({
          name: 'slow',
          start: () => Promise.resolve({ value: null, stop: () => new Promise<void>(() => undefined) }),
        });
        return { port: 1 };
      },
    });
    await once(listening, 'listening');
    control.emit('SIGTERM');
    control.emit('SIGTERM');
    expect(control.exits).toEqual([1]);
  });
});
