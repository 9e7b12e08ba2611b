import { describe, expect, test } from '@jest/globals';
import { startInOrder, type Component } from './component.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

function part(name: string, log: string[], fail?: 'start' | 'stop'): Component<string> {
  return {
    name,
    start: () => {
      if (fail === 'start') return Promise.reject(new Error(`${name} does not start`));
      log.push(`start ${name}`);
      return Promise.resolve({
        value: name.toUpperCase(),
        stop: () => {
          log.push(`stop ${name}`);
          return fail === 'stop' ? Promise.reject(new Error('x')) : Promise.resolve();
        },
      });
    },
  };
}

describe('components', () => {
  test('start in order, give each other their values, and stop in reverse, once', async () => {
    const log: string[] = [];
    const { value, stop } = await startInOrder(
      async (scope) => {
        const a = await scope.start(part('a', log));
        const b = await scope.start(part('b', log));
        return a + b;
      },
      { logger: quiet },
    );
    await Promise.all([stop(), stop()]);
    expect([value, ...log]).toEqual(['AB', 'start a', 'start b', 'stop b', 'stop a']);
  });

  test('when one does not start, those that run are stopped and the failure is passed on', async () => {
    const log: string[] = [];
    const starting = startInOrder(
      async (scope) => {
        await scope.start(part('a', log));
        await scope.start(part('b', log));
        await scope.start(part('c', log, 'start'));
      },
      { logger: quiet },
    );
    await expect(starting).rejects.toThrow('c does not start');
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  test('one that waits for its server is started again until the server answers, or the process stops', async () => {
    const log: string[] = [];
    const unavailable = Object.assign(new Error('no answer'), { retriable: true });
    const waiting = (answersAt: number, failure: Error): Component<string> => ({
      ...part('a', log),
      waitsForServer: true,
      start: () => {
        log.push('try');
        return log.length < answersAt ? Promise.reject(failure) : part('a', log).start();
      },
    });
    const started = await startInOrder((scope) => scope.start(waiting(3, unavailable)), { logger: quiet });
    expect([started.value, ...log]).toEqual(['A', 'try', 'try', 'try', 'start a']);
    const refused = startInOrder((scope) => scope.start(waiting(9, new Error('refused'))), { logger: quiet });
    await expect(refused).rejects.toThrow('refused');
    const signal = AbortSignal.timeout(50);
    const stopped = startInOrder((scope) => scope.start(waiting(99, unavailable)), { logger: quiet, signal });
    await expect(stopped).rejects.toThrow('no answer');
  });

  test('one whose server refuses the credentials ends the start at once, without a second try', async () => {
    const refusal = Object.assign(new Error('check the password'), {
      retriable: true,
      isAccessRefused: true,
    });
    let tries = 0;
    const refused: Component = {
      name: 'a',
      waitsForServer: true,
      start: () => {
        tries += 1;
        return Promise.reject(refusal);
      },
    };
    await expect(startInOrder((scope) => scope.start(refused), { logger: quiet })).rejects.toBe(refusal);
    expect(tries).toBe(1);
  });

  test('one that does not stop keeps no other from stopping', async () => {
    const log: string[] = [];
    const { stop } = await startInOrder(
      async (scope) => {
        await scope.start(part('a', log));
        await scope.start(part('b', log, 'stop'));
      },
      { logger: quiet },
    );
    await stop();
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });
});
