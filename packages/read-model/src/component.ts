// The read model as a component of a service's process: connected, with its collections created, and closed at the end.
import type { ServerAccess, ServiceName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { checkpointCollection } from './checkpoint-documents.js';
import { ensureCollections, type DeclaredCollection } from './collections.js';
import { connectReadModel, databaseName, type ReadModel } from './connection.js';

export interface ReadModelComponentOptions {
  /** The service that owns the database `<namespace>_<service>`. */
  service: ServiceName;
  /** The collections to create at the start when they are missing. */
  collections: readonly DeclaredCollection[];
  logger: Logger;
  /** The component's name, for processes with several read models. Default: `read model`. */
  name?: string;
  /** See ReadModelConfiguration. */
  timeoutMs?: number;
}

/** Creates the component that connects to a service's database with the common configuration. */
export function createReadModelComponent(
  configuration: ServerAccess & { readonly MONGODB_URI: string; readonly NAMESPACE: string },
  { service, collections, logger, name = 'read model', timeoutMs }: ReadModelComponentOptions,
): {
  name: string;
  waitsForServer: boolean;
  start(): Promise<{ value: ReadModel; stop: () => Promise<void> }>;
} {
  return {
    name,
    waitsForServer: true,
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
