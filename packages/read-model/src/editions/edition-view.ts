// Read models of one edition, and of whichever edition is live: capabilities and queries use them like any read model.
import type { Collection } from 'mongodb';
import type { ReadModel } from '../connection.js';
import { nameInEdition } from './stored-editions.js';

/** @param readers the readers that fold into editions: each edition has checkpoints of its own for them */
export function editionView(readModel: ReadModel, edition: number, readers: ReadonlySet<string>): ReadModel {
  return {
    ...readModel,
    collection: (declaration) =>
      readModel.collection(
        declaration.isLasting
          ? declaration
          : { ...declaration, name: nameInEdition(declaration.name, edition) },
      ),
    checkpointName: (reader) => (readers.has(reader) ? nameInEdition(reader, edition) : reader),
  };
}

/**
 * A read model of the live edition. Its collections look up the live edition in each call: a reader that holds one
 * follows a swap, and reads the filled edition, which is never behind the one before.
 */
export function liveView(viewOf: () => ReadModel, readModel: ReadModel): ReadModel {
  const collections = new Map<string, Collection>();
  return {
    ...readModel,
    collection: (declaration) => {
      if (declaration.isLasting) return readModel.collection(declaration);
      const known = collections.get(declaration.name);
      if (known) return known as never;
      const following = followingCollection(
        () => viewOf().collection(declaration) as unknown as Collection,
        readModel.collection(declaration) as unknown as Collection,
      );
      collections.set(declaration.name, following);
      return following as never;
    },
    checkpointName: (reader) => viewOf().checkpointName?.(reader) ?? reader,
  };
}

function followingCollection(current: () => Collection, first: Collection): Collection {
  return new Proxy(first, {
    get: (target, name) => {
      if (typeof Reflect.get(target, name, target) !== 'function') {
        const collection = current();
        return Reflect.get(collection, name, collection) as unknown;
      }
      return (...given: unknown[]): unknown => {
        const collection = current();
        const method = Reflect.get(collection, name, collection) as (...all: unknown[]) => unknown;
        return Reflect.apply(method, collection, given);
      };
    },
  });
}
