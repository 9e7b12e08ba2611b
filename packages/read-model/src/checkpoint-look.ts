// Whether the database still has what this process stored there last. Partitions on which nothing happens store nothing, so
// they would never learn that a crash of the database, or a backup that was restored, has taken from them what was
// acknowledged: one look for all partitions of a process, now and then and after each connection that broke.
import { ReadModelError, withClassifiedErrors } from './errors.js';
import { serverStart, type Server } from './server-start.js';
import type { WriteLease } from './write-lease.js';

/** A checkpoint that a partition state of this process has taken over. */
export interface HeldCheckpoint {
  readonly id: string;
  readonly owner: string;
  readonly lease: WriteLease;
  /** Grows with every store. */
  revision(): number;
  /** While a store is under way nobody knows which revision is stored. */
  isStoring(): boolean;
  /** The server's start when the checkpoint was taken over. */
  readonly serverStart: string | null;
  /** All that is stored up to this revision was stored by one and the same run of the server. */
  confirm(revision: number): void;
}

export interface StoredRevision {
  _id: string;
  owner: string | null;
  revision: number | null;
}

export interface LookSource {
  serverStart(): Promise<string | null>;
  revisions(ids: readonly string[]): Promise<readonly StoredRevision[]>;
}

export interface CheckpointLook {
  hold(held: HeldCheckpoint): void;
  /** A connection broke: until the look has ended, what was read may be older than what was acknowledged. */
  interrupted(): void;
}

const lookEveryMs = 2_000;

export function createCheckpointLook(source: LookSource): CheckpointLook {
  const held = new Set<HeldCheckpoint>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const before = [...held].map((one) => ({ one, revision: one.revision(), isStoring: one.isStoring() }));
    const { start, stored } = await withClassifiedErrors(async () => ({
      start: await source.serverStart(),
      stored: new Map(
        (await source.revisions(before.map(({ one }) => one.id))).map((found) => [found._id, found]),
      ),
    }));
    for (const { one, revision, isStoring } of before) {
      // Taken over meanwhile by its own session.
      if (!held.has(one)) continue;
      const found = stored.get(one.id);
      if (one.serverStart !== start)
        one.lease.end(
          lost(one.id, 'the database was started anew and may have lost what it had acknowledged'),
        );
      else if (found?.owner !== one.owner) one.lease.end(superseded(one.id));
      else if (!isStoring && !one.isStoring() && one.revision() === revision) {
        if (found.revision === revision) one.confirm(revision);
        else one.lease.end(lost(one.id, 'the database does not hold what was stored last'));
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
    hold: (one) => {
      // A session that rebuilds its partition opens it twice: the first of its two owners is not one that was robbed.
      for (const before of held) if (before.id === one.id && before.lease === one.lease) held.delete(before);
      held.add(one);
      timer ??= setInterval(() => {
        sweep();
        // Where it fails those who write find out; the next look comes soon.
        if (held.size > 0)
          looking ??= look()
            .catch(() => undefined)
            .finally(() => (looking = undefined));
      }, lookEveryMs).unref();
    },
    interrupted: () => {
      sweep();
      if (held.size === 0) return;
      const among = [...held];
      // Not the look under way: it may have begun before the connection broke.
      const now = look().catch((error: unknown) => {
        const reason = error instanceof Error ? error : new Error(String(error));
        for (const { lease } of among) lease.end(reason);
      });
      for (const { lease } of among) lease.doubt(now);
    },
  };
}

/** Where checkpoints are stored. */
export const checkpointsName = 'checkpoints';

/** The look of a process at all checkpoints that it holds in one database. */
export function createLook(server: Server): CheckpointLook {
  return createCheckpointLook({
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
    `the checkpoint ${id} was taken over or reset by another owner; the partition is opened anew`,
    true,
  );
}

function lost(id: string, reason: string): ReadModelError {
  return new ReadModelError(
    'checkpoint_lost',
    `checkpoint ${id}: ${reason}; the partition is opened anew`,
    true,
  );
}
