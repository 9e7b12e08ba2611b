// What every part that is started and stopped looks like; the service kit starts components in order.

/** A part of a process with a life: `start` opens what it needs, `stop` closes it again. */
export interface Component<Value> {
  readonly name: string;
  start: () => Promise<{ value: Value; stop: () => Promise<void> }>;
}
