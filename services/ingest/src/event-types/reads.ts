// Reads the statistics of an OU's event types: what its partitions say, added up.
import {
  findByIds,
  findFields,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { eventTypeDocumentId, eventTypes, eventUnits, toShare, toSummary, toUnitShare } from './documents.js';
import { eventTypesOf, type EventType, type EventTypeShare } from './fold.js';
import type { UnitShare } from './unit-fold.js';
import { valuesOf } from './value-counts-model.js';

/** What a partition has of an OU. */
interface UnitPart extends UnitShare {
  partition: number;
}

/** An OU's events and their types. */
export interface EventUnit {
  /** All events, of listed types and of others. */
  events: number;
  alias_kinds: string[];
  /** The types that lists show, by their keys. */
  types: Map<string, EventType>;
  /** Whether these are all of its types. */
  isComplete: boolean;
}

/** The parts of an OU in the partitions where it has ever had events. */
async function partsOf(readModel: ReadModel, ouId: string): Promise<UnitPart[]> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(eventUnits)
      .find({ ou: uuidToBinary(ouId) })
      .toArray(),
  );
  return found.map((document) => ({ ...toUnitShare(document), partition: document.partition }));
}

export async function loadEventUnit(readModel: ReadModel, ouId: string): Promise<EventUnit> {
  const parts = await partsOf(readModel, ouId);
  const types = await typesIn(readModel, ouId, {
    partitions: parts.map(({ partition }) => partition),
    keys: new Set(parts.flatMap((part) => part.types)),
  });
  const isComplete = !parts.some(({ has_more }) => has_more);
  return {
    // The documents are of slightly different moments: where the types are all there are, their sum is the number of events.
    events: isComplete
      ? [...types.values()].reduce((sum, { count }) => sum + count, 0)
      : parts.reduce((sum, part) => sum + part.events, 0),
    alias_kinds: [...new Set(parts.flatMap((part) => valuesOf(part.alias_kinds)))].sort(),
    types,
    isComplete,
  };
}

/** The number of an OU's events, of all types. */
export async function countAllEvents(readModel: ReadModel, ouId: string): Promise<number> {
  const parts = await partsOf(readModel, ouId);
  return parts.reduce((sum, { events }) => sum + events, 0);
}

/** The types that lists show, by their keys. */
export async function loadEventTypes(readModel: ReadModel, ouId: string): Promise<Map<string, EventType>> {
  return (await loadEventUnit(readModel, ouId)).types;
}

/** Those of these types that have events, whether lists show them or not, by their keys. */
export async function findEventTypes(
  readModel: ReadModel,
  ouId: string,
  keys: Iterable<string>,
): Promise<Map<string, EventType>> {
  const parts = await partsOf(readModel, ouId);
  return typesIn(readModel, ouId, {
    partitions: parts.map(({ partition }) => partition),
    keys: new Set(keys),
  });
}

interface AskedTypes {
  partitions: readonly number[];
  keys: ReadonlySet<string>;
}

async function typesIn(
  readModel: ReadModel,
  ouId: string,
  asked: AskedTypes,
): Promise<Map<string, EventType>> {
  const found = await findFields(readModel.collection(eventTypes), idsOf(ouId, asked), ['summary']);
  return eventTypesOf(found.flatMap((document) => toSummary(document) ?? []));
}

/** The shares of a type in all partitions that have events of it. */
export async function loadShares(readModel: ReadModel, ouId: string, key: string): Promise<EventTypeShare[]> {
  const partitions = (await partsOf(readModel, ouId)).map(({ partition }) => partition);
  const found = await findByIds(
    readModel.collection(eventTypes),
    idsOf(ouId, { partitions, keys: new Set([key]) }),
  );
  return found.map(toShare).filter(({ count }) => count > 0);
}

function idsOf(ouId: string, { partitions, keys }: AskedTypes) {
  return partitions.flatMap((partition) => [...keys].map((key) => eventTypeDocumentId(ouId, key, partition)));
}
