// The interface of everything that a process starts and stops; the service package starts components in order.

/** A part of a process: `start` acquires its resources, `stop` releases them. */
export interface Component<Value> {
  readonly name: string;
  /** Whether a start that fails with a retriable error may be repeated. */
  readonly waitsForServer?: boolean;
  start: () => Promise<{ value: Value; stop: () => Promise<void> }>;
}
