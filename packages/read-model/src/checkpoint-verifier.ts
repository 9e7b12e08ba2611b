// Verifies that the database still holds the checkpoints that this process has stored. An idle partition stores
// nothing, so it would never learn that a crash of the database, or a restored backup, has lost acknowledged writes:
// one verification for all partitions of a process runs every 2 s and after each broken connection.
import { ReadModelError, withClassifiedErrors } from './errors.js';
import { serverStart, type Server } from './server-start.js';
import type { WriteLease } from './write-lease.js';

/** A checkpoint that a partition state of this process owns. */
export interface WatchedCheckpoint {
  readonly id: string;
  readonly owner: string;
  readonly lease: WriteLease;
  /** Grows with every store. */
  revision(): number;
  /** True during a store, when the stored revision is unknown. */
  isStoring(): boolean;
  /** The server's start time when the checkpoint was taken over. */
  readonly serverStart: string | null;
  /** Records that everything up to this revision was stored by the same run of the server. */
  confirm(revision: number): void;
}

export interface StoredRevision {
  _id: string;
  owner: string | null;
  revision: number | null;
}

export interface CheckpointSource {
  serverStart(): Promise<string | null>;
  revisions(ids: readonly string[]): Promise<readonly StoredRevision[]>;
}

export interface CheckpointVerifier {
  watch(held: WatchedCheckpoint): void;
  /**
   * Called when a connection broke: until the verification has ended, state read before may be older than what was
   * acknowledged.
   */
  connectionLost(): void;
}

const verifyEveryMs = 2_000;

export function createCheckpointVerifier(source: CheckpointSource): CheckpointVerifier {
  const held = new Set<WatchedCheckpoint>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function verify(): Promise<void> {
    const snapshots = [...held].map((one) => ({ one, revision: one.revision(), isStoring: one.isStoring() }));
    const { start, stored } = await withClassifiedErrors(async () => ({
      start: await source.serverStart(),
      stored: new Map(
        (await source.revisions(snapshots.map(({ one }) => one.id))).map((found) => [found._id, found]),
      ),
    }));
    for (const { one, revision, isStoring } of snapshots) {
      // The session has taken it over again meanwhile.
      if (!held.has(one)) continue;
      const found = stored.get(one.id);
      if (one.serverStart !== start)
        one.lease.end(
          lostCheckpoint(one.id, 'the database was restarted and may have lost acknowledged writes'),
        );
      else if (found?.owner !== one.owner) one.lease.end(superseded(one.id));
      else if (!isStoring && !one.isStoring() && one.revision() === revision) {
        if (found.revision === revision) one.confirm(revision);
        else
          one.lease.end(lostCheckpoint(one.id, 'the database does not hold the last acknowledged revision'));
      }
    }
  }

  function sweep(): void {
    for (const one of held) if (one.lease.hasEnded()) held.delete(one);
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    watch: (one) => {
      // A session that rebuilds its partition opens it twice: its first owner was not superseded by another session.
      for (const before of held) if (before.id === one.id && before.lease === one.lease) held.delete(before);
      held.add(one);
      timer ??= setInterval(() => {
        sweep();
        // A failure is ignored: writers notice it, and the next verification follows soon.
        if (held.size > 0)
          running ??= verify()
            .catch(() => undefined)
            .finally(() => (running = undefined));
      }, verifyEveryMs).unref();
    },
    connectionLost: () => {
      sweep();
      if (held.size === 0) return;
      const affected = [...held];
      // A new verification, because a running one may have begun before the connection broke.
      const verification = verify().catch((error: unknown) => {
        const reason = error instanceof Error ? error : new Error(String(error));
        for (const { lease } of affected) lease.end(reason);
      });
      for (const { lease } of affected) lease.holdDecisionsUntil(verification);
    },
  };
}

/** The collection of checkpoints. */
export const checkpointsName = 'checkpoints';

/** Creates the verifier of all checkpoints that a process owns in one database. */
export function createDatabaseVerifier(server: Server): CheckpointVerifier {
  return createCheckpointVerifier({
    serverStart: () => serverStart(server, checkpointsName),
    revisions: (ids) =>
      server.db
        .collection<StoredRevision>(checkpointsName)
        .find({ _id: { $in: [...ids] } }, { projection: { owner: 1, revision: 1 } })
        .toArray(),
  });
}

export function superseded(id: string): ReadModelError {
  return new ReadModelError(
    'checkpoint_superseded',
    `checkpoint ${id} was taken over or reset by another owner; the partition is opened again`,
    true,
  );
}

function lostCheckpoint(id: string, reason: string): ReadModelError {
  return new ReadModelError(
    'checkpoint_lost',
    `checkpoint ${id}: ${reason}; the partition is opened again`,
    true,
  );
}
