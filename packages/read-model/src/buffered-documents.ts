// Documents of which nothing is looked up before they are written: in memory until a cycle of the write-behind writes them.
import type { Collection, Document } from 'mongodb';
import type { CollectionDeclaration } from './collection-declaration.js';
import type { ReadModel } from './connection.js';
import type { GuardedDocument } from './guarded-settling.js';
import { createGuardedWriter, insertMissing } from './guarded-writer.js';
import { inLockingOrder } from './values.js';
import type { TakenChanges, WriteBuffer } from './write-behind.js';

abstract class BufferedDocuments<Stored extends Document> implements WriteBuffer {
  protected readonly collection: Collection<Stored>;
  #unwritten: Stored[] = [];

  constructor(readModel: Pick<ReadModel, 'collection'>, declaration: CollectionDeclaration<Stored>) {
    this.collection = readModel.collection(declaration);
  }

  protected abstract store(documents: readonly Stored[]): Promise<unknown>;

  get size(): number {
    return this.#unwritten.length;
  }

  put(document: Stored): void {
    this.#unwritten.push(document);
  }

  take(): TakenChanges {
    const taken = this.#unwritten;
    this.#unwritten = [];
    return {
      write: async () => {
        await this.store(taken);
      },
      stored: () => undefined,
    };
  }

  forget(): void {
    this.#unwritten = [];
  }
}

/** Documents whose content depends on their id alone, and that change no more. */
export class BufferedInserts<Stored extends Document> extends BufferedDocuments<Stored> {
  readonly #order: 'log' | 'ids';

  /** @param order in which all writers insert: that of the log (default), or that of the ids */
  constructor(
    readModel: Pick<ReadModel, 'collection'>,
    declaration: CollectionDeclaration<Stored>,
    { order = 'log' }: { readonly order?: 'log' | 'ids' } = {},
  ) {
    super(readModel, declaration);
    this.#order = order;
  }

  protected store(documents: readonly Stored[]): Promise<unknown> {
    return insertMissing(this.collection, this.#order === 'log' ? documents : inLockingOrder(documents));
  }
}

/** Documents of which the one with the highest offset counts. */
export class BufferedReplacements<Stored extends GuardedDocument> extends BufferedDocuments<Stored> {
  readonly #writer;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    declaration: CollectionDeclaration<Stored>,
  ) {
    super(readModel, declaration);
    this.#writer = createGuardedWriter(readModel);
  }

  protected store(documents: readonly Stored[]): Promise<unknown> {
    return this.#writer.write(this.collection, documents);
  }
}
