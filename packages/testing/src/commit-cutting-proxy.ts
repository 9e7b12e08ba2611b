// A proxy between the system and a broker. It reads Kafka's requests, and breaks the connection at the end of a transaction:
// before it forwards EndTxn, or after the broker has answered it, so that the client does not know the outcome.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const endTxn = 26;

interface Cut {
  transactionalId: string;
  at: number;
  /** Whether the broker had answered; the answer was not forwarded. */
  answered: boolean;
  /** Milliseconds until the same service ended its next transaction; undefined before that. */
  healedAfterMs?: number;
}

type Decide = () => 'before' | 'after' | 'never';

export interface CommitCuttingProxy {
  port: number;
  /** Sets the broker's address; earlier connections wait for it. */
  leadTo(address: string): void;
  /** Sets the function that decides at the end of every transaction. */
  cutWhen(decide: Decide): void;
  readonly cuts: readonly Cut[];
  stop(): Promise<void>;
}

export async function startCommitCuttingProxy(): Promise<CommitCuttingProxy> {
  const cuts: Cut[] = [];
  const sockets = new Set<Socket>();
  let decide: Decide = () => 'never';
  let leadTo: (address: string) => void = () => undefined;
  const target = new Promise<string>((resolve) => (leadTo = resolve));
  const watcher: Watcher = {
    decide: () => decide(),
    cut: (transactionalId, answered) => {
      cuts.push({ transactionalId, at: Date.now(), answered });
    },
    ended: (transactionalId) => {
      for (const cut of cuts)
        if (serviceOf(cut.transactionalId) === serviceOf(transactionalId))
          cut.healedAfterMs ??= Date.now() - cut.at;
    },
  };

  const server = createServer((near) => {
    near.pause();
    near.on('error', () => near.destroy());
    sockets.add(near);
    void target.then((address) => {
      const [host, port] = address.split(':');
      const far = connect(Number(port), host);
      sockets.add(far);
      far.on('error', () => near.destroy());
      far.on('close', () => near.destroy());
      near.on('close', () => {
        far.destroy();
        sockets.delete(near);
        sockets.delete(far);
      });
      handOn(near, far, watcher);
      near.resume();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    leadTo,
    cutWhen: (chosen) => {
      decide = chosen;
    },
    cuts,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The service's part of a transactional id, before the last dot: a failed producer is replaced by one with another suffix. */
function serviceOf(transactionalId: string): string {
  return transactionalId.slice(0, transactionalId.lastIndexOf('.'));
}

interface Watcher {
  decide: Decide;
  cut(transactionalId: string, answered: boolean): void;
  ended(transactionalId: string): void;
}

/** Forwards frames in both directions, until the end of a transaction that is to be cut off. */
function handOn(near: Socket, far: Socket, watcher: Watcher): void {
  /** EndTxn requests without an answer yet, by correlation id. */
  const underWay = new Map<number, { transactionalId: string; isCut: boolean }>();
  const breakOff = (transactionalId: string, answered: boolean) => {
    watcher.cut(transactionalId, answered);
    near.resetAndDestroy();
    far.destroy();
  };
  near.on(
    'data',
    inFrames((frame) => {
      if (frame.readInt16BE(4) === endTxn) {
        const { correlationId, transactionalId } = endOfTransaction(frame);
        const choice = watcher.decide();
        if (choice === 'before') {
          breakOff(transactionalId, false);
          return;
        }
        underWay.set(correlationId, { transactionalId, isCut: choice === 'after' });
      }
      if (!far.destroyed) far.write(frame);
    }),
  );
  far.on(
    'data',
    inFrames((frame) => {
      const correlationId = frame.readInt32BE(4);
      const end = underWay.get(correlationId);
      underWay.delete(correlationId);
      // Size, correlation id, throttling time, error.
      const isDone = end && frame.readInt16BE(12) === 0;
      if (isDone && end.isCut) {
        breakOff(end.transactionalId, true);
        return;
      }
      if (isDone) watcher.ended(end.transactionalId);
      if (!near.destroyed) near.write(frame);
    }),
  );
}

/** Calls `take` with each whole frame: four bytes that hold the size, then that number of bytes. */
function inFrames(take: (frame: Buffer) => void): (part: Buffer) => void {
  let parts: Buffer[] = [];
  let held = 0;
  return (part) => {
    parts.push(part);
    held += part.length;
    while (held >= 4) {
      const first = parts[0];
      const whole = first && first.length >= 4 ? first : Buffer.concat(parts);
      const size = whole.readInt32BE(0) + 4;
      if (held < size) {
        if (whole !== first) parts = [whole];
        return;
      }
      const all = parts.length === 1 ? whole : Buffer.concat(parts);
      parts = all.length > size ? [all.subarray(size)] : [];
      held -= size;
      take(all.subarray(0, size));
    }
  };
}

/** EndTxn 1: size, api, version, correlation id, client id, transactional id, … */
function endOfTransaction(frame: Buffer): { correlationId: number; transactionalId: string } {
  const clientIdBytes = Math.max(frame.readInt16BE(12), 0);
  const at = 14 + clientIdBytes;
  const bytes = frame.readInt16BE(at);
  return {
    correlationId: frame.readInt32BE(8),
    transactionalId: frame.toString('utf8', at + 2, at + 2 + bytes),
  };
}
