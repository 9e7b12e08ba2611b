// The parts of a process: started in order, stopped in reverse order, and stopped when a later part fails to start.
import { reasonOf } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { pause } from './pause.js';

export interface Started<Value> {
  value: Value;
  /** Resolves when the component has stopped completely. */
  stop: () => Promise<void>;
}

export interface Component<Value = unknown> {
  /** Name for the log: `query server`, `processor`. */
  name: string;
  /**
   * A start that fails with a retriable error is repeated: the server that it needs may still be starting. An error with
   * `isAccessRefused` is not repeated: the server is there and refuses the credentials in the settings. Default: false.
   */
  waitsForServer?: boolean;
  /** @param ending aborts when the process begins to end, before the component is stopped */
  start(ending?: AbortSignal): Promise<Started<Value>>;
}

/** Turns a start function into a component. */
export function defineComponent<Value>(name: string, start: () => Promise<Started<Value>>): Component<Value> {
  return { name, start };
}

export interface ComponentScope {
  /**
   * Starts a component. Components start one after the other and stop in the reverse order.
   * @throws the error of the component's start
   */
  start: <Value>(component: Component<Value>) => Promise<Value>;
}

/**
 * Starts components in the order in which `open` starts them. When one fails to start, the running ones are stopped in
 * reverse order, and the error is thrown.
 * @param options.signal ends the waiting for servers, and is what components are told the end by
 */
export async function startInOrder<Value>(
  open: (scope: ComponentScope) => Promise<Value>,
  { logger, signal = never }: { logger: Pick<Logger, 'info' | 'warn' | 'error'>; signal?: AbortSignal },
): Promise<Started<Value>> {
  const running: { name: string; stop: () => Promise<void> }[] = [];
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= stopInReverse(running, logger));
  const scope: ComponentScope = {
    start: async (component) => {
      const started = await startWithPatience(component, logger, signal);
      running.push({ name: component.name, stop: () => started.stop() });
      logger.info({ component: component.name }, 'started');
      return started.value;
    },
  };
  try {
    return { value: await open(scope), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const never = new AbortController().signal;
/** Milliseconds for which a component waits for its server: as long as a server may take to start. */
const patienceMs = 120_000;
const retryMs = 100;

async function startWithPatience<Value>(
  component: Component<Value>,
  logger: Pick<Logger, 'warn'>,
  signal: AbortSignal,
): Promise<Started<Value>> {
  const giveUpAt = performance.now() + patienceMs;
  for (let isReported = false; ; isReported = true) {
    try {
      return await component.start(signal);
    } catch (error) {
      const waits = component.waitsForServer === true && isRetriable(error) && !isAccessRefused(error);
      if (!waits || signal.aborted || performance.now() > giveUpAt) throw error;
      if (!isReported)
        logger.warn({ component: component.name, reason: reasonOf(error) }, 'waiting for a server');
      await pause(retryMs, signal);
    }
  }
}

function isRetriable(error: unknown): boolean {
  return error instanceof Error && 'retriable' in error && error.retriable === true;
}

function isAccessRefused(error: unknown): boolean {
  return error instanceof Error && 'isAccessRefused' in error && error.isAccessRefused === true;
}

/** A component that fails to stop is logged and does not keep the others from stopping. */
async function stopInReverse(
  running: readonly { name: string; stop: () => Promise<void> }[],
  logger: Pick<Logger, 'info' | 'error'>,
): Promise<void> {
  for (const { name, stop } of [...running].reverse()) {
    try {
      await stop();
      logger.info({ component: name }, 'stopped');
    } catch (error) {
      logger.error({ component: name, err: error }, 'failed to stop');
    }
  }
}
