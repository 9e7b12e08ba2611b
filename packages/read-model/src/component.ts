// The read model of a service as a part of its process: connected, with its collections made, and closed at the end.
import type { ServerAccess, ServiceName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { checkpointCollection } from './checkpoints.js';
import { ensureCollections, type DeclaredCollection } from './collections.js';
import { connectReadModel, databaseName, type ReadModel } from './connection.js';

export interface ReadModelComponentOptions {
  /** Whose it is: the database is `<namespace>_<service>`. */
  service: ServiceName;
  /** Made at the start when they are missing. */
  collections: readonly DeclaredCollection[];
  logger: Logger;
  /** For the log, where a process has several. Default: `read model`. */
  name?: string;
  /** As of ReadModelConfiguration. */
  timeoutMs?: number;
}

/** Connects to the database of a service, as the common configuration names it. */
export function createReadModelComponent(
  configuration: ServerAccess & { readonly MONGODB_URI: string; readonly NAMESPACE: string },
  { service, collections, logger, name = 'read model', timeoutMs }: ReadModelComponentOptions,
): { name: string; start(): Promise<{ value: ReadModel; stop: () => Promise<void> }> } {
  return {
    name,
    start: async () => {
      const value = await connectReadModel(
        {
          uri: configuration.MONGODB_URI,
          database: databaseName(configuration.NAMESPACE, service),
          access: configuration,
          ...(timeoutMs !== undefined && { timeoutMs }),
        },
        { logger },
      );
      try {
        await ensureCollections(value, [...collections, checkpointCollection]);
      } catch (error) {
        await value.close();
        throw error;
      }
      return { value, stop: () => value.close() };
    },
  };
}
