// Identifies the run of the database server. A server that acknowledges writes before they are on disk may lose the
// last ones in a crash: FerretDB's PostgreSQL with synchronous_commit=off does.
import type { Db } from 'mongodb';

export interface Server {
  db: Db;
  engine: 'mongodb' | 'ferretdb';
}

interface IndexStatistics {
  accesses?: { since?: Date };
}

/**
 * The start of the server's statistics: with FerretDB the start of its PostgreSQL, which changes with each crash. null
 * for a server that keeps acknowledged writes across restarts.
 */
export async function serverStart({ db, engine }: Server, name: string): Promise<string | null> {
  if (engine === 'mongodb') return null;
  const read = async () => {
    const [found] = await db
      .collection(name)
      .aggregate<IndexStatistics>([{ $indexStats: {} }])
      .toArray();
    return found?.accesses?.since?.toISOString() ?? null;
  };
  return (await read()) ?? (await db.createCollection(name).then(read, read));
}
