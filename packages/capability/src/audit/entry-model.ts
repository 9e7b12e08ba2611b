// The entries of the audit trail that an event makes, and what is remembered of each thing for the "before" of its next entry. Pure.
import {
  shownActor,
  type AuditedService,
  type ChangeKind,
  type JsonObject,
  type JsonValue,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import type { AuditedChange } from './audited-change.js';
import type { SubjectChange } from './subject-change.js';

type AuditEntry = routeDeclarations.AuditEntry;

/** A thing as its events have left it. */
export interface KnownSubject {
  readonly kind: ChangeKind;
  /** null: it is gone. */
  readonly state: JsonObject | null;
}

/** Where an event is on the log. */
export interface EntryPlace {
  readonly service: AuditedService;
  readonly partition: number;
  readonly offset: number;
  /** Index of the thing among the things of the event. */
  readonly index: number;
}

/** The same at each fold of the log, and in the order of the log within a partition. */
export function entryIdOf({ service, partition, offset, index }: EntryPlace): string {
  const digits = (value: number, length: number) => value.toString(16).padStart(length, '0');
  return `${service}-${digits(partition, 4)}-${digits(offset, 14)}-${digits(index, 4)}`;
}

export interface SubjectFold {
  /** null: the event makes no entry. */
  readonly entry: AuditEntry | null;
  /** What is to be remembered; null: nothing, because each event of the thing says all. */
  readonly known: KnownSubject | null;
}

/** @param known the thing as its earlier events have left it; null: there were none */
export function foldSubject(
  change: AuditedChange,
  subject: SubjectChange,
  known: KnownSubject | null,
  place: EntryPlace,
): SubjectFold {
  const saysAll = subject.before !== undefined;
  const before = saysAll
    ? (subject.before ?? null)
    : (known?.state ?? (known ? null : (subject.initially ?? null)));
  const after = subject.after(before);
  if (after === undefined) return { entry: null, known: null };
  const kind = known?.kind ?? change.kind;
  const action = subject.action ?? change.action;
  return {
    known: saysAll ? null : { kind, state: after },
    entry: action && {
      id: entryIdOf(place),
      at: change.at,
      service: place.service,
      ou_id: change.ouId,
      kind,
      action,
      subject: { id: subject.id, name: nameOf(after) ?? nameOf(before) },
      actor: shownActor(change.actor ?? undefined) ?? null,
      address: change.actor?.address ?? null,
      ...differing(before, after, subject.shows),
    },
  };
}

/** What a person would call the thing. */
function nameOf(state: JsonObject | null): string | null {
  for (const field of ['name', 'label', 'event_type', 'field', 'email']) {
    const value = state?.[field];
    if (typeof value === 'string' && value !== '') return value.slice(0, 300);
  }
  return null;
}

/**
 * For a thing that exists before and after the event, the fields that differ; otherwise all of its fields.
 * @param shows fields that are in `after` in any case
 */
function differing(
  before: JsonObject | null,
  after: JsonObject | null,
  shows: readonly string[] = [],
): { before: JsonObject | null; after: JsonObject | null } {
  if (before === null || after === null) return { before, after };
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !isSame(before[field], after[field]),
  );
  const part = (state: JsonObject, of: readonly string[]) =>
    Object.fromEntries(of.flatMap((field) => (field in state ? [[field, state[field] ?? null]] : [])));
  return { before: part(before, fields), after: part(after, [...new Set([...shows, ...fields])]) };
}

function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The units that an entry of the organisation concerns; null: all of them. */
export function unitsOf(
  { kind, subject }: AuditEntry,
  states: readonly (JsonObject | null)[],
): string[] | null {
  if (kind === 'org_unit') return [subject.id];
  const lists = states.filter((state) => state !== null).map(({ ou_ids }) => ou_ids);
  if (lists.length === 0 || !lists.every(Array.isArray)) return null;
  return [...new Set((lists as JsonValue[][]).flat().map(String))];
}
