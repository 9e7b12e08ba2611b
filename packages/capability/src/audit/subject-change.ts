// Reads an audited event: the things that it changes, and the state of each of them after the event. Pure.
import type {
  AuditedService,
  AuditedType,
  ChangeAction,
  DeclaredOn,
  JsonObject,
  JsonValue,
  PayloadOf,
  RecordDeclaration,
} from '@lead-scoring/contracts';

/** What an event says of one thing. */
export interface SubjectChange {
  /** Unique among the things of a service and its scope, whatever their kind. */
  readonly id: string;
  /** The action, where it differs from the action of the event's type. */
  readonly action?: ChangeAction;
  /**
   * The thing before the event, where the event itself says it. Then nothing is kept of the thing: each of its events says all.
   * Absent: the thing as its earlier events have left it; null where there are none.
   */
  readonly before?: JsonObject | null;
  /** Fields that the entry shows after the change, whether they have changed or not. */
  readonly shows?: readonly string[];
  /** What the thing is before its first event; absent: it is not there. */
  readonly initially?: JsonObject;
  /** The thing after the event; null: it is gone. undefined: this event changes nothing that is audited. */
  after(before: JsonObject | null): JsonObject | null | undefined;
}

/** What the payload of an event says. */
export type Reading<Payload> = (payload: Payload) => readonly SubjectChange[];

/** A reading for every audited type of event of a service: one that is left out does not compile. */
export type Readings<Service extends AuditedService> = {
  readonly [Type in AuditedType<Service>]: Reading<
    PayloadOf<Extract<DeclaredOn<`${Service}.events`>, RecordDeclaration<Type>>>
  >;
};

/** Fields of payloads that say where and when an event was, and not what the changed thing is. */
const besides = new Set(['ou_id', 'organisation_id', 'at', 'actor', 'version', 'created_by']);

/** The fields of a payload that make the thing what it is. */
export function contentOf(payload: object, without: readonly string[] = []): JsonObject {
  return Object.fromEntries(
    Object.entries(payload as Record<string, JsonValue | undefined>).filter(
      (field): field is [string, JsonValue] =>
        field[1] !== undefined && !besides.has(field[0]) && !without.includes(field[0]),
    ),
  );
}

type IdField<Payload> = keyof Payload & string;

const idIn = (payload: object, field: string): string => String((payload as Record<string, unknown>)[field]);

/** The event says all of a thing. @param content absent: the fields of the event */
export function whole<Payload extends object>(
  idField: IdField<Payload>,
  content: (payload: Payload, before: JsonObject | null) => JsonObject = (payload) =>
    contentOf(payload, [idField]),
): Reading<Payload> {
  return (payload) => [{ id: idIn(payload, idField), after: (before) => content(payload, before) }];
}

/** The event says some fields of a thing; the others stay. */
export function partial<Payload extends object>(
  idField: IdField<Payload>,
  fields: (payload: Payload, before: JsonObject | null) => JsonObject,
): Reading<Payload> {
  return whole(idField, (payload, before) => ({ ...before, ...fields(payload, before) }));
}

/** A thing is gone after the event. */
export function gone<Payload extends object>(idField: IdField<Payload>): Reading<Payload> {
  return (payload) => [{ id: idIn(payload, idField), after: () => null }];
}

/** The event is about the one thing of its kind that a unit always has. @param initially what it is before it is first set */
export function setting(id: string, initially: JsonObject): Reading<object> {
  return (payload) => [{ id, initially, after: () => contentOf(payload) }];
}
