// A connection of the driver that asks the lease of a write once more when its bytes are about to leave the process.
//
// Between the call of a write and its bytes on the socket the driver may wait for a free connection, and makes the bytes: a
// process that is suspended in between would send them when it goes on, hours later. The lease travels with the write as one
// of its options, which the driver hands down to its connection; a value that follows the asynchronous calls
// (AsyncLocalStorage) cost a quarter of the throughput.
// docs/decisions/0015-a-checkpoint-has-one-owner.md
import { Connection, type WireCommand, type WriteOptions } from 'mongodb/lib/cmap/connection.js';
import type { WriteLease } from './write-lease.js';

const lease = Symbol('the lease of a write');

/** Options of a write by which it is sent only while the lease lasts. */
export function leasedOptions(options: object | undefined, of: Pick<WriteLease, 'check'>): object {
  return { ...options, [lease]: of };
}

/** For the driver's option `connectionType`. */
export class LeasedConnection extends Connection {
  protected override writeCommand(command: WireCommand, options: WriteOptions): Promise<void> {
    const asked = command.options?.[lease] as Pick<WriteLease, 'check'> | undefined;
    if (!asked) return super.writeCommand(command, options);
    // The last that the driver asks, in the turn in which it writes, is whether the call's own time limit is up. It has none.
    const csotEnabled = () => {
      asked.check();
      return false;
    };
    return super.writeCommand(command, { ...options, timeoutContext: { csotEnabled } });
  }
}
