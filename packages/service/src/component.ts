// The parts of a process: started in order, rolled back when one fails to start, stopped in reverse.
import type { Logger } from 'pino';

export interface Started<Value> {
  value: Value;
  /** Resolves when nothing of it runs any more. */
  stop: () => Promise<void>;
}

export interface Component<Value = unknown> {
  /** For the log: `query server`, `processor`. */
  name: string;
  start(): Promise<Started<Value>>;
}

/** Turns a start function into a component. */
export function defineComponent<Value>(name: string, start: () => Promise<Started<Value>>): Component<Value> {
  return { name, start };
}

export interface ComponentScope {
  /**
   * Starts a component, after which everything started in this scope before it is stopped later than it.
   * @throws what the component throws
   */
  start: <Value>(component: Component<Value>) => Promise<Value>;
}

/**
 * Starts parts that depend on one another, in the order in which `open` asks for them.
 * When one fails to start, those already running are stopped, last first, and the failure is thrown on.
 */
export async function startInOrder<Value>(
  open: (scope: ComponentScope) => Promise<Value>,
  { logger }: { logger: Pick<Logger, 'info' | 'error'> },
): Promise<Started<Value>> {
  const running: { name: string; stop: () => Promise<void> }[] = [];
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= stopInReverse(running, logger));
  const scope: ComponentScope = {
    start: async (component) => {
      const started = await component.start();
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

/** One that fails to stop is logged and does not keep the others from stopping. */
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
