// Divides stored events of a deleted type into parts, each a command that a partition deals with in one batch. Pure.
import { hexOf } from '@lead-scoring/read-model';
import type { EventSecondDocument } from '../events/documents.js';
import { readSecondKey } from '../events/keys.js';
import { placesOfType, type RemovedPlace } from '../events/seconds.js';

/** What one command is about. */
export interface DeletedPart {
  readonly partition: number;
  readonly seconds: readonly string[];
  readonly leads: readonly string[];
}

/** The most leads and events of one step. While scoring and ingest work on a step, live events of every partition wait. */
export interface StepLimits {
  /** Leads to decide anew. */
  readonly leads: number;
  /** Events to remove; a document is removed whole. */
  readonly events: number;
}

export interface StepOfParts {
  readonly parts: readonly DeletedPart[];
  /** Deleted events of the documents that are dealt with. */
  readonly events: number;
  /** How many of the documents are dealt with. */
  readonly documents: number;
  /** The last lead of the next document that is in the parts; null: none of it is. */
  readonly lead: string | null;
}

/**
 * The parts of the next documents that have deleted events of the type.
 * @param marks the offsets of the marks, by partition
 * @param lead the last lead of the first document that was asked for before; null: none was
 * @param isAskedFor whether a lead was asked for before, so that nothing of the type is left in its score
 */
export function partsOf(
  documents: readonly EventSecondDocument[],
  {
    typeKey,
    marks,
    lead,
    isAskedFor,
    limits,
  }: {
    typeKey: string;
    marks: ReadonlyMap<number, number>;
    lead: string | null;
    isAskedFor: (leadId: string) => boolean;
    limits: StepLimits;
  },
): StepOfParts {
  const open = new Map<number, { seconds: string[]; leads: Set<string> }>();
  let after = lead;
  let events = 0;
  let asked = 0;
  let done = 0;
  for (const document of documents) {
    const { partition } = readSecondKey(document._id);
    const before = marks.get(partition) ?? 0;
    const places = placesOfType(document, typeKey).filter(({ offset }) => offset < before);
    const part = open.get(partition) ?? { seconds: [], leads: new Set<string>() };
    if (places.length > 0) open.set(partition, part);
    const leads = leadsAt(places).filter(
      (id) => (after === null || id > after) && !part.leads.has(id) && !isAskedFor(id),
    );
    const room = limits.leads - asked;
    const taken = leads.slice(0, room);
    for (const id of taken) part.leads.add(id);
    asked += taken.length;
    if (taken.length < leads.length) {
      after = taken.at(-1) ?? after;
      break;
    }
    after = null;
    done += 1;
    if (places.length > 0) part.seconds.push(hexOf(document._id));
    events += places.length;
    if (events >= limits.events) break;
  }
  const parts = [...open]
    .filter(([, part]) => part.seconds.length > 0 || part.leads.size > 0)
    .map(([partition, part]) => ({ partition, seconds: part.seconds, leads: [...part.leads] }));
  return { parts, events, documents: done, lead: after };
}

/** In the order of their ids, so that a lead that is deleted meanwhile moves none of the others. */
function leadsAt(places: readonly RemovedPlace[]): string[] {
  return [...new Set(places.map(({ leadBytes }) => uuidIn(leadBytes)))].sort();
}

function uuidIn(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
