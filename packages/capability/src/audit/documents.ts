// What the audit trail stores: a document for each entry, and one for each thing as its events have left it.
import type { AuditedService, JsonValue, routeDeclarations } from '@lead-scoring/contracts';
import {
  containsText,
  defineCollection,
  equals,
  packJson,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type Filter,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { KnownSubject } from './entry-model.js';

type AuditEntry = routeDeclarations.AuditEntry;

/** The version of each service that first stored an audit trail. */
export const auditTrailSince: Readonly<Record<AuditedService, number>> = {
  gateway: 2,
  ingest: 7,
  notification: 6,
  scoring: 16,
  share: 5,
};

export interface AuditEntryDocument {
  /** The entry's id. */
  _id: string;
  partition: number;
  /** The organizational unit, or the organisation. */
  scope: Binary;
  at: Date;
  kind: string;
  /** The id of the actor; empty: none. */
  actor: string;
  /** The name and the id of the thing and the ids of what it names, which a search is in. */
  text: string;
  /** Of an entry of the organisation: the units that it concerns; null: all. */
  ous: string[] | null;
  entry: string;
}

export const auditEntries = defineCollection<AuditEntryDocument>({
  name: 'audit_entries',
  indexes: [
    { key: { scope: 1, at: -1, _id: -1 } },
    { key: { scope: 1, kind: 1, at: -1, _id: -1 } },
    { key: { scope: 1, actor: 1, at: -1, _id: -1 } },
  ],
});

export interface AuditSubjectDocument extends GuardedDocument {
  /** The scope and the id of the thing. */
  _id: Binary;
  kind: KnownSubject['kind'];
  state: string;
}

export const auditSubjects = defineCollection<AuditSubjectDocument>({ name: 'audit_subjects', indexes: [] });

export const auditTrailCollections = [auditEntries, auditSubjects];

export function toEntryDocument(
  entry: AuditEntry,
  { scope, partition, ous }: { scope: string; partition: number; ous: string[] | null },
): AuditEntryDocument {
  return {
    _id: entry.id,
    partition,
    scope: uuidToBinary(scope),
    at: new Date(entry.at),
    kind: entry.kind,
    actor: entry.actor?.id ?? '',
    text: searchedText(entry),
    ous,
    entry: packJson(entry as unknown as JsonValue),
  };
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Ids in the states of an entry that a search finds. */
const maximumSearchedIds = 50;

/** What a search is in: so the links and merges of a lead are found by the id of the lead. */
function searchedText({ subject, before, after }: AuditEntry): string {
  const named = new Set(JSON.stringify([before, after]).match(uuid));
  return [subject.name ?? '', subject.id, ...[...named].slice(0, maximumSearchedIds)].join('\n');
}

export interface AuditQuery {
  readonly service: AuditedService;
  /** The id of the organizational unit, or of the organisation. */
  readonly scope: string;
  /** Of entries of the organisation: the units of the caller, who sees what concerns no others; null: all. */
  readonly within?: readonly string[] | null;
}

/** A read model of which it may be known which version of the service has folded it. */
export interface AuditReadModel extends Pick<ReadModel, 'collection'> {
  readonly editions?: { version(): number };
}

/** The trail is being filled by a new version of the service: what it has so far is not all. The caller is asked to try again. */
export class AuditTrailNotFilled extends Error {
  override readonly name = 'AuditTrailNotFilled';
  readonly retriable = true;
}

/**
 * The newest entries of a scope that the filters leave.
 * @throws AuditTrailNotFilled while the live read models are of a version of the service from before it had a trail
 */
export async function readAuditEntries(
  readModel: AuditReadModel,
  { service, scope, within = null }: AuditQuery,
  { from, to, kind, q, actors, before, limit }: routeDeclarations.ChangesAsked,
): Promise<AuditEntry[]> {
  if (readModel.editions && readModel.editions.version() < auditTrailSince[service])
    throw new AuditTrailNotFilled(`the audit trail of ${service} is being filled`);
  const filters: Filter<AuditEntryDocument>[] = [{ scope: equals(uuidToBinary(scope)) }];
  if (from !== undefined) filters.push({ at: { $gte: new Date(from) } });
  if (to !== undefined) filters.push({ at: { $lt: new Date(to) } });
  if (kind !== undefined) filters.push({ kind: equals(kind) });
  if (actors !== undefined) filters.push({ actor: { $in: actors } });
  if (q !== undefined) filters.push({ text: containsText(q) });
  if (within !== null)
    filters.push({ ous: { $ne: null } }, { ous: { $not: { $elemMatch: { $nin: [...within] } } } });
  if (before !== undefined) {
    const at = new Date(before.at);
    filters.push({ at: { $lte: at } }, { $or: [{ at: { $lt: at } }, { _id: { $lt: before.id } }] });
  }
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(auditEntries)
      .find({ $and: filters })
      .sort({ at: -1, _id: -1 })
      .limit(limit)
      .toArray(),
  );
  return found.map(({ entry }) => unpackJson(entry) as unknown as AuditEntry);
}

export function toKnown({ kind, state }: AuditSubjectDocument): KnownSubject {
  return { kind, state: unpackJson(state) as KnownSubject['state'] };
}
