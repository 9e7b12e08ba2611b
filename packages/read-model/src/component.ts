// The read model as a component of a service's process: connected, with its collections created, and closed at the end.
import { readersOf, type ServerAccess, type ServiceName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { withRemedy } from './access-errors.js';
import { checkpointCollection } from './checkpoint-documents.js';
import { ensureCollections, type DeclaredCollection } from './collections.js';
import { connectReadModel, databaseName } from './connection.js';
import { Editions, type EditionedReadModel, type EditionTimes } from './editions/editions.js';
import { editionCollection } from './editions/stored-editions.js';

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
  /** Times of a swap, for tests. */
  editionTimes?: Partial<EditionTimes>;
}

/**
 * Creates the component that connects to a service's database with the common configuration. Its read model follows the
 * live edition.
 */
export function createReadModelComponent(
  configuration: ServerAccess & { readonly MONGODB_URI: string; readonly NAMESPACE: string },
  { service, collections, logger, name = 'read model', timeoutMs, editionTimes }: ReadModelComponentOptions,
): {
  name: string;
  waitsForServer: boolean;
  start(): Promise<{ value: EditionedReadModel; stop: () => Promise<void> }>;
} {
  return {
    name,
    waitsForServer: true,
    start: async () => {
      const readModel = await connectReadModel(
        {
          uri: configuration.MONGODB_URI,
          database: databaseName(configuration.NAMESPACE, service),
          access: configuration,
          ...(timeoutMs !== undefined && { timeoutMs }),
        },
        { logger },
      );
      let editions: Editions | undefined;
      const stop = async () => {
        editions?.stop();
        await readModel.close();
      };
      try {
        await ensureCollections(readModel, [checkpointCollection, editionCollection]);
        const options = { service, readers: readersOf(service), collections, logger, times: editionTimes };
        editions = await Editions.open(readModel, options);
        await editions.ensure(editions.live());
        return { value: editions.following(), stop };
      } catch (error) {
        await stop();
        // A server that demands a user lets any client connect, and refuses the first request for data.
        throw withRemedy(error);
      }
    },
  };
}
