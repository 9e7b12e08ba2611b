// The driver's connection, which its public types omit: see "Assumptions about the driver's internals" in README.md.
declare module 'mongodb/lib/cmap/connection.js' {
  /** A command before it is sent. */
  export interface WireCommand {
    /** The options of the operation, with those that the driver adds. */
    readonly options?: Readonly<Record<PropertyKey, unknown>>;
    toBin(): Uint8Array[];
  }

  export interface WriteOptions {
    readonly agreedCompressor?: string;
    /** Called after the command is encoded, right before it is written. */
    readonly timeoutContext?: { csotEnabled(): boolean };
  }

  export class Connection {
    constructor(stream: import('node:net').Socket, options: object);
    once(event: 'close', listener: () => void): this;
    off(event: 'close', listener: () => void): this;
    command(namespace: object, command: object, options: object): Promise<object>;
    /** @throws the error that closed the connection, if it is closed */
    protected throwIfAborted(): void;
    protected writeCommand(command: WireCommand, options: WriteOptions): Promise<void>;
  }
}
