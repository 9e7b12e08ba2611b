// A projection whose documents each follow from their own events: loaded, folded and written once for each batch.
import type { RecordDeclaration } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  createGuardedWriter,
  createStateCache,
  deleteByIds,
  findByIds,
  keyOf,
  offsetToNumber,
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

/** Declares a projection of one document for each id. */
export function documentProjection<
  Event extends FoldedEvent,
  Stored extends GuardedDocument & { _id: Binary },
>(declaration: DocumentProjectionDeclaration<Event, Stored>): Capability<never, Event['type']> {
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
  const stored = readModel.collection(declaration.collection);
  const writer = createGuardedWriter(readModel);
  const cache = createStateCache<Stored>({
    maximumEntries: declaration.cachedDocuments ?? defaultCachedDocuments,
  });

  async function load(ids: ReadonlyMap<string, Binary>): Promise<Map<string, Stored | null>> {
    return cache.load(ids.keys(), async (missing) => {
      const wanted = missing.flatMap((key) => ids.get(key) ?? []);
      const found = await findByIds(stored, wanted as Stored['_id'][]);
      return found.map((document) => [keyOf(document._id), document] as const);
    });
  }

  return {
    fold: async (records) => {
      const events = records.map(eventIn).map(({ event, offset }) => ({ event: event as Event, offset }));
      const ids = new Map(
        events.map(({ event }) => {
          const id = declaration.idOf(event, partition);
          return [keyOf(id), id];
        }),
      );
      const before = await load(ids);
      const after = new Map<string, Stored | null>();
      for (const { event, offset } of events) {
        const key = keyOf(declaration.idOf(event, partition));
        const known = (after.has(key) ? after.get(key) : before.get(key)) ?? null;
        // Folded already, before a crash.
        if (known && known.offset >= offset) continue;
        after.set(key, declaration.fold(known, event, { partition, offset }));
      }
      const documents = [...after.values()].filter((document) => document !== null);
      await writer.write(stored, documents, { isNew: ({ _id }) => before.get(keyOf(_id)) === null });
      const gone = [...after].flatMap(([key, document]) => (document ? [] : (ids.get(key) ?? [])));
      if (gone.length > 0) await deleteByIds(stored, gone as Stored['_id'][]);
      for (const [key, document] of after) cache.put(key, document);
    },
    forget: () => {
      cache.clear();
    },
  };
}

function eventIn(record: FoldedRecord): { event: FoldedEvent; offset: number } {
  return {
    event: { type: record.type, payload: record.payload },
    offset: offsetToNumber(record.offset),
  };
}
