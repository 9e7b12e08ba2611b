// The life of a process: start in order, announce, serve, and end within a deadline.
import { rename, writeFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { startInOrder, type ComponentScope, type Started } from './component.js';
import { processTelemetry } from './metrics.js';

/** What `open` gets. */
export interface ServiceScope extends ComponentScope {
  /**
   * Something that cannot go on (a consumer has died): the process stops what it can and exits non-zero, for its
   * supervisor to start again. Safe to call at any time, more than once.
   */
  fatal: (error: unknown) => void;
}

export interface ServiceOptions {
  name: string;
  logger: Logger;
  /** From the signal to the hard exit. */
  shutdownTimeoutMs: number;
  /** Where `{port, pid}` is written once the service listens. */
  readyFile?: string | undefined;
  /** Starts the parts with `scope.start`, in order, the server last: it is then the first to be stopped. */
  open(scope: ServiceScope): Promise<{ port: number }>;
}

/** The part of the process that is used; tests give their own. */
export interface ProcessControl {
  pid: number;
  on(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
}

/**
 * Runs until SIGTERM or SIGINT, then stops the parts in reverse order and exits 0. Exits 1 when a part fails to
 * start, on `fatal` and uncaught errors, and hard when stopping takes longer than the deadline or a second signal
 * comes.
 */
export function runService(options: ServiceOptions, control: ProcessControl = process): void {
  const { logger } = options;
  let ending = false;

  const end = (code: number): void => {
    if (ending) return;
    ending = true;
    setTimeout(() => {
      logger.fatal({ timeout_ms: options.shutdownTimeoutMs }, 'stopping took too long');
      control.exit(1);
    }, options.shutdownTimeoutMs).unref();
    void (async () => {
      // What is still starting is let come up first: a part can only be stopped when it is known.
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
  const onSignal = (signal: string) => () => {
    if (ending) {
      logger.warn({ signal }, 'second signal: exiting at once');
      control.exit(1);
      return;
    }
    logger.info({ signal }, 'stopping');
    end(0);
  };
  control.on('SIGTERM', onSignal('SIGTERM'));
  control.on('SIGINT', onSignal('SIGINT'));
  control.on('uncaughtException', fatal);
  control.on('unhandledRejection', fatal);

  const started: Promise<Started<{ port: number }>> = startInOrder(
    (scope) => options.open({ ...scope, fatal }),
    { logger },
  );
  started
    .then(
      async ({ value }) => {
        if (ending) return;
        logger.info({ port: value.port, pid: control.pid }, 'listening');
        if (options.readyFile !== undefined)
          await writeReadyFile(options.readyFile, { port: value.port, pid: control.pid });
      },
      (error: unknown) => {
        fatal(error);
      },
    )
    .catch(fatal);
}

/** Whole or not at all: whoever waits for the file may read it at once. */
async function writeReadyFile(file: string, content: { port: number; pid: number }): Promise<void> {
  const temporary = `${file}.${String(content.pid)}`;
  await writeFile(temporary, `${JSON.stringify(content)}\n`);
  await rename(temporary, file);
}
