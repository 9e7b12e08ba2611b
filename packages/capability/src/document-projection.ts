// A projection whose documents each follow from their own events: loaded, folded and written once for each batch.
import type { RecordDeclaration } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  BufferedStates,
  keyOf,
  offsetToNumber,
  WriteBehind,
  type Binary,
  type CollectionDeclaration,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { Capability, OpenCapability, PartitionScope } from './capability.js';

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
  /** The ids of the batch that is being folded. */
  let ids: ReadonlyMap<string, Binary> = new Map();
  const documents = new BufferedStates<Stored, Stored>(readModel, {
    collection: declaration.collection,
    idOf: (key) => ids.get(key) as Stored['_id'],
    toState: (document) => document,
    toDocument: (document) => document,
    maximumCached: declaration.cachedDocuments ?? defaultCachedDocuments,
  });
  const behind = new WriteBehind([documents]);
  return {
    // Resolves when the documents are stored: a caller that gets its reply reads them.
    fold: async (records) => {
      const events = records.map((record) => eventIn<Event>(record, declaration, partition));
      ids = new Map(events.map(({ key, id }) => [key, id]));
      const folded = await documents.load(ids.keys());
      for (const { event, key, offset } of events) {
        const known = folded.get(key) ?? null;
        // Folded already, before a crash.
        if (known && known.offset >= offset) continue;
        const after = declaration.fold(known, event, { partition, offset });
        folded.set(key, after);
        documents.put(key, after);
      }
      await behind.write();
    },
    forget: () => {
      behind.forget();
    },
  };
}

function eventIn<Event extends FoldedEvent>(
  record: FoldedRecord,
  declaration: { idOf(event: Event, partition: number): Binary },
  partition: number,
) {
  const event = { type: record.type, payload: record.payload } as Event;
  const id = declaration.idOf(event, partition);
  return { event, id, key: keyOf(id), offset: offsetToNumber(record.offset) };
}
