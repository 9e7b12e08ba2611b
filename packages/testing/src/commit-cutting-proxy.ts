// Stands between the system and a broker, reads Kafka's requests as they pass, and breaks the connection at the end of
// a transaction: before the broker hears of it, or after it has answered, so that nobody knows what became of it.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const endTxn = 26;

interface Cut {
  transactionalId: string;
  at: number;
  /** Whether the broker had answered; its answer is lost. */
  answered: boolean;
  /** Milliseconds until the next transaction of the same service was ended; undefined while none was. */
  healedAfterMs?: number;
}

type Decide = () => 'before' | 'after' | 'never';

export interface CommitCuttingProxy {
  port: number;
  /** Where it leads; connections that come before are held. */
  leadTo(address: string): void;
  /** Asked at the end of every transaction. */
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

/** A producer that has failed is replaced by one with another id: what comes before the last dot is the service's. */
function serviceOf(transactionalId: string): string {
  return transactionalId.slice(0, transactionalId.lastIndexOf('.'));
}

interface Watcher {
  decide: Decide;
  cut(transactionalId: string, answered: boolean): void;
  ended(transactionalId: string): void;
}

/** Hands on what one side says to the other, as far as the end of a transaction that is to be cut off. */
function handOn(near: Socket, far: Socket, watcher: Watcher): void {
  /** Ends of transactions that the broker has been told of, by correlation id. */
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

/** Calls `take` with each whole frame: four bytes of size, then so many bytes. */
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
