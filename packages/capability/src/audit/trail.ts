// The audit trail of a service: a projection of those of its own events that change a setting or a right, or that end what people have.
// The contracts say which these are; a rebuild makes the trail from the beginning of the log.
import { createHash } from 'node:crypto';
import { auditedRecords, type AuditedService } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import { Binary, insertMissing, keyOf, offsetToNumber, packJson } from '@lead-scoring/read-model';
import {
  auditEntries,
  auditSubjects,
  auditTrailCollections,
  toEntryDocument,
  toKnown,
  type AuditEntryDocument,
  type AuditSubjectDocument,
} from './documents.js';
import { auditedChange, type AuditedChange } from './audited-change.js';
import { foldSubject, unitsOf, type KnownSubject } from './entry-model.js';
import type { SubjectChange } from './subject-change.js';
import type { Capability, OpenCapability, PartitionScope } from '../capability.js';
import { FoldedDocuments } from '../folded-documents.js';

/** Things that a partition keeps in memory. */
const cachedSubjects = 1_000;

/**
 * Declares the audit trail of a service. Its type names no event: whoever writes an event has to be in the service's list as well, and
 * the compiler would otherwise be content with the trail alone.
 */
export function auditTrail(
  service: AuditedService,
): Capability<never, never> & { readonly kind: 'projection' } {
  const events = Object.fromEntries(auditedRecords(service).map((record) => [record.type, record]));
  return {
    name: 'audit-trail',
    kind: 'projection',
    commands: {},
    reads: {},
    events,
    collections: auditTrailCollections,
    open: (scope) => openTrail(service, scope),
  };
}

/** A thing in an event, with where it is. */
interface PlacedSubject {
  readonly id: Binary;
  readonly key: string;
  readonly scope: string;
  readonly change: AuditedChange;
  readonly subject: SubjectChange;
  readonly index: number;
  readonly offset: number;
}

function placedSubjects(service: AuditedService, record: FoldedRecord): PlacedSubject[] {
  const change = auditedChange(service, record);
  if (!change) return [];
  const scope = change.organisationId ?? change.ouId;
  if (scope === null) throw new Error(`a ${record.type} is of no unit and no organisation`);
  const offset = offsetToNumber(record.offset);
  return change.subjects.map((subject, index) => {
    const id = subjectId(scope, subject.id);
    return { id, key: keyOf(id), scope, change, subject, index, offset };
  });
}

/** Ids of things are of any form and length. */
function subjectId(scope: string, id: string): Binary {
  return new Binary(createHash('sha256').update(`${scope} ${id}`).digest().subarray(0, 16), 0);
}

function openTrail(service: AuditedService, { readModel, partition }: PartitionScope): OpenCapability {
  const entries = readModel.collection(auditEntries);
  let ids: ReadonlyMap<string, Binary> = new Map();
  const subjects = new FoldedDocuments<AuditSubjectDocument>(readModel, {
    collection: auditSubjects,
    idOf: (key) => ids.get(key) as Binary,
    cachedDocuments: cachedSubjects,
  });
  return {
    fold: async (records) => {
      const placed = records.flatMap((record) => placedSubjects(service, record));
      if (placed.length === 0) return;
      ids = new Map(placed.map(({ key, id }) => [key, id]));
      const stored = await subjects.load(ids.keys());
      const { documents, changed } = foldPlaced(service, partition, placed, stored);
      // The entries first: after a crash between the two, the things are as they were before, and the same entries come of it.
      await insertMissing(entries, documents);
      await subjects.fold(
        changed.map((document) => ({
          key: keyOf(document._id),
          offset: document.offset,
          after: () => document,
        })),
      );
    },
    forget: () => {
      subjects.forget();
    },
  };
}

/** The entries of a batch, and the last state of each thing in it. An event that a thing has in it already has its entry. */
function foldPlaced(
  service: AuditedService,
  partition: number,
  placed: readonly PlacedSubject[],
  stored: ReadonlyMap<string, AuditSubjectDocument | null>,
): { documents: AuditEntryDocument[]; changed: AuditSubjectDocument[] } {
  const documents: AuditEntryDocument[] = [];
  const changed = new Map<string, AuditSubjectDocument>();
  const now = new Map<string, KnownSubject>();
  for (const { id, key, scope, change, subject, index, offset } of placed) {
    const document = stored.get(key);
    if (document && document.offset >= offset) continue;
    const known = now.get(key) ?? (document ? toKnown(document) : null);
    const folded = foldSubject(change, subject, known, { service, partition, offset, index });
    if (folded.entry) {
      const states = [known?.state ?? null, folded.known?.state ?? null];
      const ous = change.organisationId === null ? null : unitsOf(folded.entry, states);
      documents.push(toEntryDocument(folded.entry, { scope, partition, ous }));
    }
    if (!folded.known) continue;
    now.set(key, folded.known);
    const { kind, state } = folded.known;
    changed.set(key, { _id: id, kind, state: packJson(state), partition, offset });
  }
  return { documents, changed: [...changed.values()] };
}
