// The driver's connection, which its public types do not name: see "What is assumed of the driver's inside" in README.md.
declare module 'mongodb/lib/cmap/connection.js' {
  /** A command that is about to be sent. */
  export interface WireCommand {
    /** Those of the call that it was made for, with what the driver adds. */
    readonly options?: Readonly<Record<PropertyKey, unknown>>;
    toBin(): Uint8Array[];
  }

  export interface WriteOptions {
    readonly agreedCompressor?: string;
    /** Asked when the bytes are made, right before they are written. */
    readonly timeoutContext?: { csotEnabled(): boolean };
  }

  export class Connection {
    protected writeCommand(command: WireCommand, options: WriteOptions): Promise<void>;
  }
}
