// Which run of the database server answers. One that acknowledges writes before they are on disk may have forgotten the
// last of them when it starts again after a crash: FerretDB's PostgreSQL with synchronous_commit=off does.
import type { Db } from 'mongodb';

export interface Server {
  db: Db;
  engine: 'mongodb' | 'ferretdb';
}

interface IndexStatistics {
  accesses?: { since?: Date };
}

/**
 * When the server's statistics began: with FerretDB the start of its PostgreSQL, which each crash changes. null: a server
 * that keeps what a majority has acknowledged, whenever it was started.
 */
export async function serverStart({ db, engine }: Server, name: string): Promise<string | null> {
  if (engine === 'mongodb') return null;
  const look = async () => {
    const [found] = await db
      .collection(name)
      .aggregate<IndexStatistics>([{ $indexStats: {} }])
      .toArray();
    return found?.accesses?.since?.toISOString() ?? null;
  };
  return (await look()) ?? (await db.createCollection(name).then(look, look));
}
