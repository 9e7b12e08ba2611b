// A projection whose documents each follow from their own events.
import type { RecordDeclaration } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  keyOf,
  offsetToNumber,
  type Binary,
  type CollectionDeclaration,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { Capability, OpenCapability, PartitionScope } from './capability.js';
import { FoldedDocuments, type DocumentChange } from './folded-documents.js';

export interface FoldedEvent {
  readonly type: string;
  readonly payload: unknown;
}

/** Where the fold happens: what a document has to remember of the last event in it. */
export interface EventPlace {
  readonly partition: number;
  readonly offset: number;
}

export interface DocumentProjectionDeclaration<
  Event extends FoldedEvent,
  Stored extends GuardedDocument & { _id: Binary },
> {
  readonly name: string;
  readonly events: { readonly [Type in Event['type']]: RecordDeclaration };
  readonly collection: CollectionDeclaration<Stored>;
  /** The id of the document that an event concerns. */
  idOf(event: Event, partition: number): Binary;
  /** Pure. @returns the document with the event in it; null where there is none afterwards */
  fold(document: Stored | null, event: Event, at: EventPlace): Stored | null;
  /** Documents that a partition keeps in memory. Default 1,000. */
  readonly cachedDocuments?: number;
}

const defaultCachedDocuments = 1_000;

/**
 * Declares a projection of one document for each id. The type says that it is a projection: the compiler would otherwise take a policy
 * that writes the same events for a subtype of it, and drop the policy from a service's list.
 */
export function documentProjection<
  Event extends FoldedEvent,
  Stored extends GuardedDocument & { _id: Binary },
>(
  declaration: DocumentProjectionDeclaration<Event, Stored>,
): Capability<never, Event['type']> & { readonly kind: 'projection' } {
  const { name, events, collection } = declaration;
  return {
    name,
    kind: 'projection',
    commands: {},
    reads: {},
    events: events as Capability<never, Event['type']>['events'],
    collections: [collection],
    open: (scope) => openDocumentProjection(declaration, scope),
  };
}

function openDocumentProjection<Event extends FoldedEvent, Stored extends GuardedDocument & { _id: Binary }>(
  declaration: DocumentProjectionDeclaration<Event, Stored>,
  { readModel, partition }: PartitionScope,
): OpenCapability {
  const { collection, cachedDocuments = defaultCachedDocuments } = declaration;
  /** The ids of the batch that is being folded. */
  let ids: ReadonlyMap<string, Binary> = new Map();
  const idOf = (key: string) => ids.get(key) as Stored['_id'];
  const documents = new FoldedDocuments<Stored>(readModel, { collection, idOf, cachedDocuments });
  const changeOf = (record: FoldedRecord): DocumentChange<Stored> & { id: Binary } => {
    const event = { type: record.type, payload: record.payload } as Event;
    const offset = offsetToNumber(record.offset);
    const id = declaration.idOf(event, partition);
    return {
      id,
      key: keyOf(id),
      offset,
      after: (before) => declaration.fold(before, event, { partition, offset }),
    };
  };
  return {
    // Resolves when the documents are stored: a caller that gets its reply reads them.
    fold: (records) => {
      const changes = records.map(changeOf);
      ids = new Map(changes.map(({ key, id }) => [key, id]));
      return documents.fold(changes);
    },
    forget: () => {
      documents.forget();
    },
  };
}
