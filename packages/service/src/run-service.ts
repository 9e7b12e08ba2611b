// Runs a process: starts its parts in order, announces the port, and stops within a deadline.
import { rename, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { configurationExitCode } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { startInOrder, type ComponentScope, type Started } from './component.js';
import { processTelemetry } from './metrics.js';

/** The scope that `open` gets. */
export interface ServiceScope extends ComponentScope {
  /**
   * Reports an error after which the process cannot go on, such as a consumer that has died. The process stops its
   * parts and exits non-zero, so that its supervisor starts it again. May be called at any time, more than once.
   */
  fatal: (error: unknown) => void;
}

export interface ServiceOptions {
  name: string;
  logger: Logger;
  /**
   * Milliseconds from SIGTERM or SIGINT to the stop of the first part. The server goes on answering and says that it is not ready, so
   * that whatever sends requests turns to other processes. Default: 0.
   */
  shutdownDelayMs?: number;
  /** Milliseconds from the stop of the first part to the hard exit. */
  shutdownTimeoutMs: number;
  /** File for `{port, pid}`, written once the service listens. */
  readyFile?: string | undefined;
  /** Starts the parts with `scope.start`, in order. The server is last, so it is the first to stop. */
  open(scope: ServiceScope): Promise<{ port: number }>;
}

/** The used part of `process`; tests pass their own. */
export interface ProcessControl {
  pid: number;
  on(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
}

/**
 * Runs until SIGTERM or SIGINT, then waits for the delay, stops the parts in reverse order and exits 0. Exits 78 when a part fails to start
 * because of a setting (an error with `isSettingsFault` or `isAccessRefused`); exits 1 when one fails for another reason,
 * on `fatal` and on uncaught errors. Exits hard when stopping takes longer than the deadline or a second signal
 * arrives.
 */
export function runService(options: ServiceOptions, control: ProcessControl = process): void {
  const { logger, shutdownDelayMs = 0, shutdownTimeoutMs } = options;
  let ending = false;
  const stopping = new AbortController();

  const end = (code: number, delayMs = 0): void => {
    if (ending) return;
    ending = true;
    stopping.abort();
    setTimeout(() => {
      logger.fatal({ timeout_ms: shutdownTimeoutMs }, 'stopping took too long');
      control.exit(1);
    }, delayMs + shutdownTimeoutMs).unref();
    void (async () => {
      await delay(delayMs);
      // Waits for the start to end first: only parts that have started can be stopped.
      const running = await started.catch(() => undefined);
      await running?.stop();
      await processTelemetry()
        ?.shutdown()
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'telemetry was not sent');
        });
      logger.info({ code }, 'stopped');
      control.exit(code);
    })();
  };
  const fatal = (error: unknown): void => {
    logger.fatal({ err: error }, 'fatal error');
    end(1);
  };
  const failedStart = (error: unknown): void => {
    logger.fatal({ err: error }, 'the start failed');
    end(isOfSettings(error) ? configurationExitCode : 1);
  };
  const onSignal = (signal: string) => () => {
    if (ending) {
      logger.warn({ signal }, 'second signal: exiting at once');
      control.exit(1);
      return;
    }
    logger.info({ signal }, 'stopping');
    end(0, shutdownDelayMs);
  };
  control.on('SIGTERM', onSignal('SIGTERM'));
  control.on('SIGINT', onSignal('SIGINT'));
  control.on('uncaughtException', fatal);
  control.on('unhandledRejection', fatal);

  const started: Promise<Started<{ port: number }>> = startInOrder(
    (scope) => options.open({ ...scope, fatal }),
    { logger, signal: stopping.signal },
  );
  started
    .then(async ({ value }) => {
      if (ending) return;
      logger.info({ port: value.port, pid: control.pid }, 'listening');
      if (options.readyFile !== undefined)
        await writeReadyFile(options.readyFile, { port: value.port, pid: control.pid });
    })
    .catch(failedStart);
}

/** Whether the start fails again, however long one waits, until an operator changes a setting. */
function isOfSettings(error: unknown): boolean {
  return (
    error instanceof Error &&
    (('isSettingsFault' in error && error.isSettingsFault === true) ||
      ('isAccessRefused' in error && error.isAccessRefused === true))
  );
}

/** Atomic: a process that waits for the file may read it as soon as it exists. */
async function writeReadyFile(file: string, content: { port: number; pid: number }): Promise<void> {
  const temporary = `${file}.${String(content.pid)}`;
  await writeFile(temporary, `${JSON.stringify(content)}\n`);
  await rename(temporary, file);
}
