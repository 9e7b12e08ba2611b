// How a service declares a collection and its indexes.
import type { Document, IndexDirection } from 'mongodb';

export interface IndexDeclaration<Stored extends Document = Document> {
  /**
   * The fields in order, 1 ascending, -1 descending. Each index reduces the insert rate by 40 to 45 %, so declare as
   * few as possible.
   */
  key: Partial<Record<keyof Stored & string, IndexDirection>>;
  unique?: boolean;
  /** Documents without the field are not in the index, and cost it nothing. */
  sparse?: boolean;
}

export interface CollectionDeclaration<Stored extends Document = Document> {
  name: string;
  indexes: readonly IndexDeclaration<Stored>[];
  /** Set for a collection that a rebuild leaves as it is: it is no part of an edition (docs/decisions/0028). */
  isLasting?: boolean;
  /** Only carries the type of the documents; never set. */
  readonly stored?: Stored;
}

/** Declares a collection: `defineCollection<Lead>({ name: 'leads', indexes: [{ key: { ou: 1, score: -1 } }] })`. */
export function defineCollection<Stored extends Document>(
  declaration: Omit<CollectionDeclaration<Stored>, 'stored'>,
): CollectionDeclaration<Stored> {
  return declaration;
}
