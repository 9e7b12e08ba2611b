// A connection of the driver that checks the lease of a write again right before its bytes leave the process.
//
// Between the call of a write and the sending of its bytes the driver may wait for a free connection, and encodes the
// command: a process suspended in between would send it hours later, when it resumes. The lease travels as one of the
// write's options, which the driver passes on to its connection; an AsyncLocalStorage instead took a quarter of the
// throughput. docs/decisions/0015-a-checkpoint-has-one-owner.md
//
// It also ends a command whose socket is destroyed before the command is sent. The driver's own connection waits for the
// socket's 'drain' event then, which never comes and has no time limit. When the command is the one by which the driver
// looks whether the server is back, the client reports the server's last error until its process ends.
import { Connection, type WireCommand, type WriteOptions } from 'mongodb/lib/cmap/connection.js';
import type { WriteLease } from './write-lease.js';

const lease = Symbol('the lease of a write');

/** Adds the lease to a write's options, so that the write is sent only while the lease lasts. */
export function leasedOptions(options: object | undefined, of: Pick<WriteLease, 'check'>): object {
  return { ...options, [lease]: of };
}

/** For the driver's option `connectionType`. */
export class LeasedConnection extends Connection {
  protected override async writeCommand(command: WireCommand, options: WriteOptions): Promise<void> {
    let onClose!: () => void;
    const closed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    this.once('close', onClose);
    try {
      await Promise.race([super.writeCommand(command, withLeaseCheck(command, options)), closed]);
    } finally {
      this.off('close', onClose);
    }
    this.throwIfAborted();
  }
}

function withLeaseCheck(command: WireCommand, options: WriteOptions): WriteOptions {
  const writeLease = command.options?.[lease] as Pick<WriteLease, 'check'> | undefined;
  if (!writeLease) return options;
  // The driver calls csotEnabled() last, synchronously before it writes, to check the operation's time limit. There is none.
  const csotEnabled = () => {
    writeLease.check();
    return false;
  };
  return { ...options, timeoutContext: { csotEnabled } };
}
