// The supervisor, the guardian and the data folder, with real processes.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCommand } from './commands.js';
import { openDataDirectory } from './data-directory.js';
import { startGuardian } from './guardian.js';
import { freePort } from './ports.js';
import { identityOf, isAlive } from './process-identity.js';
import { startProcess, type ProcessExit, type ProcessRestart } from './processes.js';
import { createProgress } from './progress.js';
import { eventually } from './waiting.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lead-scoring-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const silent = createProgress(() => undefined);
const node = (script: string): { command: string; args: string[] } => ({
  command: process.execPath,
  args: ['--eval', script],
});
const FOREVER = 'setInterval(() => {}, 1000)';

describe('a supervised process', () => {
  test('is ready when its address answers, and gone after stop', async () => {
    const port = await freePort();
    const script = `require('http').createServer((_, res) => res.end('ok')).listen(${port}, '127.0.0.1')`;
    const exits: ProcessExit[] = [];
    const handle = await startProcess({
      name: 'server',
      ...node(script),
      logFile: join(folder, 'server.log'),
      readyUrl: `http://127.0.0.1:${port}/`,
      onExit: (exit) => exits.push(exit),
    });
    const { pid } = handle;
    expect(pid).toBeDefined();
    await handle.stop();
    await handle.stop();
    expect(handle.pid).toBeUndefined();
    expect(identityOf(pid ?? 0)).toBeUndefined();
    expect(exits).toEqual([{ name: 'server', code: null, signal: 'SIGTERM', expected: true }]);
    await handle.start();
    expect(handle.pid).not.toBe(pid);
    await handle.stop();
  });

  test('gets its environment and working folder, and its output is logged', async () => {
    const logFile = join(folder, 'new', 'environment.log');
    const handle = await startProcess({
      name: 'environment',
      ...node(`console.log(process.env.COLOUR, process.cwd()); ${FOREVER}`),
      env: { COLOUR: 'blue' },
      cwd: folder,
      logFile,
    });
    await eventually('the log', () => readFileSync(logFile, 'utf8').includes(`blue ${folder}`));
    await handle.stop();
  });

  test('that was killed is started again, under another pid', async () => {
    const restarts: ProcessRestart[] = [];
    const handle = await startProcess({
      name: 'victim',
      ...node(FOREVER),
      logFile: join(folder, 'victim.log'),
      restart: true,
      onRestart: (restart) => restarts.push(restart),
    });
    const first = handle.pid;
    handle.kill('SIGKILL');
    await eventually('another pid', () => handle.pid !== undefined && handle.pid !== first);
    expect(restarts).toMatchObject([
      {
        name: 'victim',
        attempt: 1,
        delayMs: 250,
        crashLooping: false,
        exit: { signal: 'SIGKILL', expected: false },
      },
    ]);
    await handle.stop();
    expect(handle.pid).toBeUndefined();
  });

  test('that keeps dying is reported with the last lines of its log, and can be stopped in a pause', async () => {
    const restarts: ProcessRestart[] = [];
    const handle = await startProcess({
      name: 'crasher',
      ...node(`console.log('configuration is wrong'); setTimeout(() => process.exit(3), 50)`),
      logFile: join(folder, 'crasher.log'),
      restart: true,
      onRestart: (restart) => restarts.push(restart),
    });
    await eventually('a crash loop', () => restarts.some(({ crashLooping }) => crashLooping));
    expect(restarts.at(-1)).toMatchObject({ attempt: 3, delayMs: 1_000, exit: { code: 3 } });
    expect(restarts.at(-1)?.lastLogLines).toContain('configuration is wrong');
    await handle.stop();
  });

  test('is stopped and started by `restart`, without a pause also where it keeps dying', async () => {
    const file = join(folder, 'restarted.mjs');
    writeFileSync(file, 'process.exit(3)');
    const exits: ProcessExit[] = [];
    const restarts: ProcessRestart[] = [];
    const handle = await startProcess({
      name: 'restarted',
      command: process.execPath,
      args: [file],
      logFile: join(folder, 'restarted.log'),
      restart: true,
      onExit: (exit) => exits.push(exit),
      onRestart: (restart) => restarts.push(restart),
    });
    await eventually('it has died three times', () => restarts.length === 3);
    writeFileSync(file, FOREVER);
    await handle.restart();
    const first = handle.pid;
    expect(first).toBeDefined();
    await handle.restart();
    expect(handle.pid).not.toBe(first);
    expect(exits.at(-1)).toEqual({ name: 'restarted', code: null, signal: 'SIGTERM', expected: true });
    handle.kill('SIGKILL');
    await eventually('it is started again', () => restarts.length === 4);
    expect(restarts.at(-1)).toMatchObject({ attempt: 1, crashLooping: false });
    await handle.stop();
  });

  test('that ends before it is ready fails to start, with the last lines of its log', async () => {
    const start = startProcess({
      name: 'hopeless',
      ...node(`console.error('no such database'); process.exit(1)`),
      logFile: join(folder, 'hopeless.log'),
      restart: true,
      readyUrl: 'http://127.0.0.1:9/',
    });
    await expect(start).rejects.toThrow(/hopeless did not become ready.*no such database/s);
  });

  test('that never becomes ready fails to start, and is ended', async () => {
    let pid = 0;
    const start = startProcess({
      name: 'slow',
      ...node(FOREVER),
      logFile: join(folder, 'slow.log'),
      readyUrl: 'http://127.0.0.1:9/',
      readyTimeoutMs: 300,
      onStart: (started) => {
        pid = started;
      },
    });
    await expect(start).rejects.toThrow(/slow did not become ready: gave up after/);
    expect(identityOf(pid)).toBeUndefined();
  });

  test('whose program does not exist fails to start', async () => {
    const start = startProcess({
      name: 'absent',
      command: '/no/such/program',
      logFile: join(folder, 'absent.log'),
    });
    await expect(start).rejects.toThrow(/absent: could not start/);
  });

  test('that ignores the stop signal, or is paused, is killed after the deadline', async () => {
    const handle = await startProcess({
      name: 'stubborn',
      ...node(`process.on('SIGTERM', () => {}); console.log('listening'); ${FOREVER}`),
      logFile: join(folder, 'stubborn.log'),
      stopTimeoutMs: 200,
    });
    await eventually('the handler', () =>
      readFileSync(join(folder, 'stubborn.log'), 'utf8').includes('listening'),
    );
    handle.kill('SIGSTOP');
    await handle.stop();
    expect(handle.pid).toBeUndefined();
  });
});

test('a free port can be listened on', async () => {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  server.close();
});

describe('the guardian', () => {
  const script = fileURLToPath(new URL('../scripts/guardian.mjs', import.meta.url));
  const sleeper = (): { pid: number; identity: NonNullable<ReturnType<typeof identityOf>> } => {
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const identity = identityOf(child.pid ?? 0);
    if (!identity) {
      throw new Error('sleep did not start');
    }
    return { pid: identity.pid, identity };
  };
  const tell = (messages: object[]): { ended: Promise<void>; close: () => void } => {
    const guardian = spawn(process.execPath, [script], { stdio: ['pipe', 'inherit', 'inherit'] });
    guardian.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    return {
      ended: new Promise((resolve) => guardian.once('exit', () => resolve())),
      close: () => guardian.stdin.end(),
    };
  };

  test('ends the processes and removes the folder when its parent is gone', async () => {
    const { identity } = sleeper();
    const released = sleeper();
    const directory = join(folder, 'temporary');
    mkdirSync(directory);
    const guardian = tell([
      { guard: identity, signal: 'SIGTERM' },
      { guard: released.identity, signal: 'SIGTERM' },
      { release: released.pid },
      { removeAfterwards: directory },
    ]);
    expect(isAlive(identity)).toBe(true);
    guardian.close();
    await guardian.ended;
    expect(isAlive(identity)).toBe(false);
    expect(isAlive(released.identity)).toBe(true);
    expect(existsSync(directory)).toBe(false);
    process.kill(released.pid, 'SIGKILL');
  });

  test('touches nothing when dismissed, and never another process with a reused pid', async () => {
    const { pid, identity } = sleeper();
    for (const messages of [
      [{ guard: identity, signal: 'SIGTERM' }, { dismiss: true }],
      [{ guard: { ...identity, startTime: '1' }, signal: 'SIGTERM' }],
    ]) {
      const guardian = tell(messages);
      guardian.close();
      await guardian.ended;
      expect(isAlive(identity)).toBe(true);
    }
    process.kill(pid, 'SIGKILL');
  });
});

test('a guardian that ends all: nothing lives, is restarted, or is started afterwards', async () => {
  const guardian = startGuardian();
  const options = { name: 'sleeper', command: 'sleep', args: ['600'], logFile: join(folder, 'sleeper.log') };
  const restarts: ProcessRestart[] = [];
  const onRestart = (restart: ProcessRestart) => void restarts.push(restart);
  const sleeper = await startProcess({ ...options, restart: true, guardian, onRestart });
  const identity = identityOf(sleeper.pid ?? 0);
  const command = runCommand('sleep', ['600'], { guardian });
  const failed = expect(command).rejects.toThrow(/SIGKILL/);
  await guardian.endAll();
  expect(identity && isAlive(identity)).toBe(false);
  await failed;
  expect([sleeper.pid, restarts]).toEqual([undefined, []]);
  await expect(startProcess({ ...options, guardian })).rejects.toThrow(/everything is being ended/);
  await expect(runCommand('true', [], { guardian })).rejects.toThrow(/everything is being ended/);
});

describe('a kept data folder', () => {
  test('remembers its ports, and gives new ones for those taken meanwhile', async () => {
    const path = join(folder, 'ports');
    const first = await openDataDirectory(path, silent);
    const ports = await first.ports(['one', 'two']);
    first.close();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(ports.two, '127.0.0.1', resolve));
    const second = await openDataDirectory(path, silent);
    const again = await second.ports(['one', 'two']);
    second.close();
    server.close();
    expect(again.one).toBe(ports.one);
    expect(again.two).not.toBe(ports.two);
  });

  test('is refused while a living process holds it', async () => {
    const path = join(folder, 'held');
    const first = await openDataDirectory(path, silent);
    await expect(openDataDirectory(path, silent)).rejects.toThrow(/is in use by the running process/);
    first.close();
    (await openDataDirectory(path, silent)).close();
  });

  test('of a killed run: the processes that it left behind are ended first', async () => {
    const path = join(folder, 'left');
    const first = await openDataDirectory(path, silent);
    const left = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const identity = identityOf(left.pid ?? 0);
    const strange = identityOf(stranger.pid ?? 0);
    if (!identity || !strange) {
      throw new Error('sleep did not start');
    }
    first.recordProcess('left', identity.pid, 'SIGTERM');
    first.recordProcess('gone', strange.pid, 'SIGTERM');
    first.forgetProcess('gone');
    first.close();
    const second = await openDataDirectory(path, silent);
    expect(isAlive(identity)).toBe(false);
    expect(isAlive(strange)).toBe(true);
    second.close();
    stranger.kill('SIGKILL');
  });
});
